# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls into libraries are counted exactly, and counting does not change the results of a program.

The programs of tests/workloads/calls_libraries* count the library functions that they call, check
the results, and end with status 3 if one is wrong. A library may have several names for one
function, so names are compared by the address that the library gives them (nm).
"""

import functools
import re
import subprocess

from calls_truth import Truth, plain_name
from harness import main, test

PROGRAMS = ("calls_libraries", "calls_libraries_noplt", "calls_libraries_now")
CPP = ("calls_libraries_cpp", "calls_libraries_cpp_noplt")
# Functions that the workload's counting and macros of libc's headers call.
UNTOLD = {"strcmp", "__errno_location", "__sigsetjmp", "__pthread_register_cancel",
          "__pthread_unregister_cancel", "__pthread_unwind_next", "strstr"}


@functools.cache
def aliases(program):
    """Maps each name of a function to its first name, for all libraries of a program."""
    names = {}
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"=> (/\S+)", libraries):
        places = {}
        symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                                 text=True, check=True).stdout
        for line in symbols.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "TtWwi":
                places.setdefault(words[0], set()).add(words[2].split("@")[0])
        for alike in places.values():
            for name in alike:
                names.setdefault(name, min(alike))
    return names


def one_name(program, name):
    """A name in the form of aliases(), also for names from libc's debug symbols."""
    known = aliases(program)
    name = plain_name(name.split("@")[0])
    bare = name.removeprefix("__GI_").lstrip("_").removesuffix("_ifunc")
    for form in (name, name.removeprefix("__GI_"), bare, bare.removeprefix("libc_"),
                 bare.removeprefix("IO_"), "_" + bare, "__" + bare):
        if form in known:
            return known[form]
    return name


UNWINDING = {"_Unwind_Resume", "_dl_find_object", "pthread_once", "strlen"}


class Calls:
    """A process's calls of its own and of library functions, by name and by path."""

    def __init__(self, program, process):
        self.own, self.libraries, self.paths = {}, {}, {}
        self.lost = process["lost_events"]
        within = {tuple(row["path"]) for row in process["paths"] if row["library"]}
        # Calls within libraries are not counted. Calls of a function's landing pad after its
        # exit, and of an unwinder linked into the program, count as the program's.
        self.nested = [path for path in within
                       if path[:-1] in within and path[-1].split("@")[0] not in UNWINDING]
        for row in process["paths"]:
            names = [name for name in row["path"] if name != "(outside)"]
            # Calls outside of all functions of the program: those of the counting itself.
            if not names or not row["calls"] or row["library"] and len(names) == 1:
                continue
            names = [one_name(program, name) for name in names]
            where = self.libraries if row["library"] else self.own
            where[names[-1]] = where.get(names[-1], 0) + row["calls"]
            path = ";".join(names)
            self.paths[path] = self.paths.get(path, 0) + row["calls"]


def record(t, program, case, *words):
    truth, data = t.write("truth", ""), t.path("calls.data")
    t.assay("calls", "--libraries", "-q", "-o", data, "--", program, case, *words,
            env={"TRUTH": str(truth)})
    return Truth(truth), t.report(data)["processes"]


def differences(program, truth, processes, strict, flood=False):
    """The differences from the program's own counts. `strict`: no other function may be called. `flood`: on a
    busy machine signals come faster than their handlers end; the events of such handlers are lost, and counted."""
    wrong = []
    got = {}
    for process in processes:
        got[process["pid"]] = Calls(program, process)
        if "libraries" not in process["flags"]:
            wrong.append(f"process {process['pid']} did not count libraries")
    for pid, told in truth.calls.items():
        calls = got.get(pid)
        if not calls:
            wrong.append(f"process {pid} is missing")
            continue
        wrong += [f"{' > '.join(path[-2:])}: a library's call is counted" for path in calls.nested]
        told = {one_name(program, name): n for name, n in told.items()}
        known = {**calls.own, **calls.libraries}
        missing = [n - known.get(name, 0) for name, n in told.items()]
        if flood and min(missing) >= 0 and 0 < sum(missing) <= calls.lost:
            print(f"# {sum(missing)} calls were not counted, {calls.lost} events were reported as lost")
            continue
        for name, n in sorted(told.items()):
            if known.get(name, 0) != n:
                wrong.append(f"{name}: {known.get(name, 0)} calls, not {n}")
        untold = {one_name(program, name) for name in UNTOLD}
        for name, n in sorted(calls.libraries.items()) if strict else ():
            if name not in told and name not in untold:
                wrong.append(f"{name}: {n} calls, and the program counted none")
        for path, n in sorted(truth.paths[pid].items()):
            path = ";".join(one_name(program, name) for name in path.split(";"))
            if calls.paths.get(path, 0) != n:
                wrong.append(f"path {path}: {calls.paths.get(path, 0)} calls, not {n}")
    if not truth.calls:
        wrong.append("the program printed no counts")
    return wrong


def check(t, programs, case, *words, strict=True):
    wrong = []
    for name in programs:
        program = t.workload(name)
        truth, processes = record(t, program, case, *words)
        wrong += [f"{name} {case}: {text}" for text in
                  differences(program, truth, processes, strict, case == "signals")[:12]]
    t.true(not wrong, "\n".join(wrong))


def add(programs, case, title, *words, strict=True):
    def function(t):
        t.need("nm", "ldd")
        check(t, programs, case, *[t.workload(word) for word in words], strict=strict)
    function.__name__ = f"{case}_{title}".replace(" ", "_")
    test(function)


add(PROGRAMS, "known", "numbers of calls are counted by path")
add(PROGRAMS, "results", "of every class come back")
add(PROGRAMS, "nested", "libraries and callbacks a thousand deep")
add(PROGRAMS, "jump", "out of callbacks leaves nothing behind")
add(PROGRAMS, "threads", "come and go")
add(PROGRAMS, "cancel", "unwinds through libraries")
add(PROGRAMS, "quit", "by pthread_exit unwinds through libraries")
add(PROGRAMS, "fork", "in a callback returns twice")
add(PROGRAMS, "vfork", "shares the parent's memory")
add(PROGRAMS, "signals", "at any time on a stack of their own")
add(PROGRAMS, "contexts", "switch within callbacks")
add(PROGRAMS, "backtrace", "sees through to the program's begin")
add(PROGRAMS, "plugin", "is patched each time that it is loaded", "calls_libraries_plugin.so")
for _case, _title in (("outer", "exceptions leave a library"),
                      ("direct", "exceptions are caught by the caller itself"),
                      ("inner", "exceptions stay within a callback"),
                      ("levels", "exceptions pass three callbacks and destructors"),
                      ("thrown", "exceptions of the library's own"),
                      ("once", "exceptions out of call_once"),
                      ("threads", "exceptions in threads"),
                      ("streams", "manipulators are functions of libraries")):
    add(CPP, _case, _title, strict=False)


@test
def what_cannot_be_timed_is_counted_and_named(t):
    _, processes = record(t, t.workload("calls_libraries"), "jump")
    rows = [row for process in processes for row in process["paths"] if row["library"]]
    counted = {one_name(t.workload("calls_libraries"), row["path"][-1])
               for row in rows if row["counted"]}
    program = t.workload("calls_libraries")
    t.equal(counted, {one_name(program, "_setjmp"), one_name(program, "longjmp")},
            "functions that are counted alone")
    t.true(all(row["net_ns"] is None for row in rows if row["counted"]),
           "what is counted alone has no time")
    t.true(all(row["net_ns"] is not None for row in rows if not row["counted"]),
           "all other functions have a time")


@test
def waiting_in_a_library_is_waiting_and_no_work(t):
    _, processes = record(t, t.workload("calls_libraries"), "cancel")
    row = next(row for row in processes[0]["paths"] if "usleep" in row["path"][-1])
    if not processes[0]["waiting_separated"]:
        t.skip("perf_event is denied: waiting cannot be distinguished from work")
    t.true(row["blocked_ns"] > row["net_ns"], f"usleep is blocked longer than it works: {row}")


@test
def without_the_option_no_library_is_counted(t):
    data = t.path("calls.data")
    t.assay("calls", "-q", "-o", data, "--", t.workload("calls_libraries"), "known",
            env={"TRUTH": str(t.write("truth", ""))})
    process = t.report(data)["processes"][0]
    t.lacks(process["flags"], "libraries", "flags")
    t.true(not any(row["library"] for row in process["paths"]), "no path is in a library")


main()
