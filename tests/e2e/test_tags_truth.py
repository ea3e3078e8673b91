# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of event tags are exact, to the last call: programs that count themselves.

The programs of tests/workloads/calls are built with the plugin's triggers and run under
`assay tags`. Entries and paths in the trace, read word by word (tags_truth.py) and by `assay
report`, equal each process's own counts. The same programs compiled with
-finstrument-functions give the same counts with `assay calls`.

A trace of tags does not contain these, so they are left out here:
  raw, of processes         a child made by the system call itself shares its parent's
                            thread-local memory, and its ring
  cleared, of hostile       and user, nofile: children that can have no file of their own
  paths, of jump and of     exits that never occur: a function that is entered next appears inside
  coroutine                 one that was left by a jump (no stack pointer is recorded)
  paths, of forks' children begin inside the functions that their parents had entered
"""

import atexit
import os
import signal
from dataclasses import replace

from calls_cases import CASES, Case, define
from calls_truth import ADDED, compare, counted_of, first_differences, run_counted
from harness import ASSAY, BUILD, LONG, Test, main, test
from tags_truth import RESERVED, VOID, Tagged, Trace, packets, plain_name

CALLS = BUILD / "tests" / "workloads" / "calls"
LEVELS = ("-O0", "-O2")
ROUNDS = 5 if LONG else 1

# For all tests of this file: (name, level) -> program. Programs are built when they are first
# needed, in a directory of the first test.
_built = {}


class Place:
    """The directory of programs that several tests use."""

    def __init__(self):
        self.t = Test()
        atexit.register(self.t.end)
        self.build = Tagged(self.t)

    def program(self, name, level, *more):
        key = (name, level, *more)
        if key not in _built:
            # Both levels are built at the same time, for machines with two CPUs.
            started = [(lv, self.build.start(name, lv, *more)) for lv in LEVELS]
            for lv, one in started:
                _built[(name, lv, *more)] = self.build.finish(one)
        return _built[key]


_place = []


def place():
    if not _place:
        _place.append(Place())
    return _place[0]


def tagged(name, level, *more):
    return place().program(name, level, *more)


def names():
    return place().build.names


def record(t, *words, status=0, options=(), env=None):
    """Runs a program under `assay tags`; returns the program's own counts, and the trace's
    directory."""
    data = t.path("tags")
    truth, _ = run_counted(t, ["tags", "-q", *options, "-o", data], words, status=status, env=env)
    return truth, data


def without_paths_of(truth, pids):
    for pid in pids:
        truth.paths.pop(pid, None)
    return truth


def reported(t, truth, data):
    """Differences between the program's own counts and `assay report` of all processes."""
    report, wrong = t.report(data), []
    want, slack, got = {}, {}, {}
    for into, counts in ((want, truth.calls), (slack, truth.slack)):
        for told in counts.values():
            for name, count in told.items():
                into[name] = into.get(name, 0) + count
    for row in report["functions"]:
        name = plain_name(row["function"])
        got[name] = got.get(name, 0) + row["calls"]
    for name in sorted(set(want) | {n for n, calls in got.items() if calls}):
        if not ADDED.match(name) and \
                not want.get(name, 0) <= got.get(name, 0) <= want.get(name, 0) + slack.get(name, 0):
            wrong.append(f"report: {name}: {got.get(name)} calls, not {want.get(name)}")
    wrong += [f"report: {report[key]} {key}" for key in ("lost", "unknown_tags", "backwards")
              if report[key]]
    return wrong


def check(t, case, levels):
    """Runs all builds of a case."""
    wrong = []
    for level in levels * ROUNDS:
        program = tagged(case.program, level)
        truth, data = record(t, program, case.name, status=case.status)
        trace = Trace(data, names(), case.paths)
        found = trace.unsound() + compare(without_paths_of(truth, trace.forked), trace.processes,
                                          case.paths, case.strangers) + reported(t, truth, data)
        wrong += first_differences(f"{case.program}{level} {case.name}", found)
    t.true(not wrong, "\n".join(wrong))


MORE = (Case("plain", "abyss", "100000 deep"), Case("hostile", "fsize", "files that may not grow"))
# Cases whose calls a trace does not contain (see above), and some that add nothing to others.
LEFT_OUT = ("processes raw", "coroutine hundred", "coroutine nested", "coroutine threads",
            "coroutine local", "hostile user", "hostile nofile", "hostile cleared")
# Cases of which a trace does not have the paths (see above), or only with much memory.
NO_PATHS = ("plain abyss", "wide levels", "signals ticks", "signals altstack", "signals nested",
            "signals forking", "signals going_on", "processes busy")
NO_PATHS_OF = ("jump", "coroutine")
# Many million events: only with --long.
HEAVY = ("thread crowd", "exceptions threads", "jump ticks", "signals altstack", "signals nested",
         "processes busy")

for each in CASES + MORE:
    if each.key in LEFT_OUT or (each.key in HEAVY and not LONG):
        continue
    if each.key in NO_PATHS or each.program in NO_PATHS_OF:
        each = replace(each, paths=False)
    some = LEVELS if LONG else (LEVELS[sum(each.key.encode()) % 2],)
    define(each, lambda t, case=each, levels=some: check(t, case, levels), test)


def plugin_case(case, title):
    def function(t):
        wrong = []
        for level in LEVELS:
            shared = [tagged("plugin", level, "-shared", "-fPIC", "-fvisibility=hidden",
                             f"-DPLUGIN=plugin_{which}") for which in "ab"]
            truth, data = record(t, tagged("plugins", level), case, *shared)
            trace = Trace(data, names())
            found = trace.unsound() + compare(truth, trace.processes) + reported(t, truth, data)
            wrong += first_differences(f"plugins{level} {case}", found)
        t.true(not wrong, "\n".join(wrong))
    function.__name__ = f"plugins_{case}_{title}".replace(" ", "_")
    test(function)


plugin_case("again", "loaded 40 times")
plugin_case("exchanged", "another at the same place")
plugin_case("threads", "by four threads")
plugin_case("kept", "never unloaded")


@test
def calls_are_those_of_assay_calls_with_paths(t):
    """The same sources with -finstrument-functions: two independent ways of counting."""
    for name, case in (("plain", "tree"), ("plain", "inlining"), ("wide", "callers"),
                       ("exceptions", "destructors"), ("exceptions", "construction")):
        for level in LEVELS:
            data = t.path("calls.data")
            t.assay("calls", "-q", "-o", data, "--", CALLS / f"{name}-gcc{level}", case,
                    env={"TRUTH": str(t.write("ignored", ""))})
            (by_calls,) = counted_of(t.report(data)).values()
            _, tags = record(t, tagged(name, level), case)
            (by_tags,) = Trace(tags, names()).processes.values()
            # -finstrument-functions has no frames for a recursion that is inlined into itself.
            for what in ("calls", "paths") if case != "inlining" else ("calls",):
                want = {k: v for k, v in getattr(by_calls, what).items() if not made_up(k)}
                got = {k: v for k, v in getattr(by_tags, what).items() if not made_up(k)}
                differ = [f"{k}: {got.get(k)} by tags, {want.get(k)} by calls"
                          for k in sorted(set(want) | set(got)) if want.get(k) != got.get(k)]
                t.true(not differ, f"{name}{level} {case}: {what}:\n" + "\n".join(differ[:10]))


def made_up(path):
    """Only one of the two instruments functions that compilers add."""
    return any(ADDED.match(name) for name in path.split(";"))


@test
def folded_paths_are_those_of_the_words(t):
    for name, case in (("plain", "mutual"), ("exceptions", "levels"), ("thread", "family")):
        program = tagged(name, "-O2")
        _, data = record(t, program, case)
        paths = set()
        for line in t.assay("tags", "trace", "--to", "folded", data).out.splitlines():
            words = line.rsplit(" ", 1)[0].split(";")
            paths.add(";".join(plain_name(word) for word in words[1:]))
        want = set()
        for counted in Trace(data, names()).processes.values():
            want |= set(counted.paths)
        t.true(paths - {""} <= want, f"{name}: paths that were not: {sorted(paths - want)[:5]}")
        # A path with a time of 0 has no line; most paths have at least one tick.
        t.true(len(paths) >= len(want) / 2, f"{name}: {len(paths)} paths of {len(want)}")


@test
def readers_of_ctf_see_each_event(t):
    """The program gets signals at 10 kHz: babeltrace2 rejects times that decrease."""
    t.need("babeltrace2")
    for name, case in (("signals", "sync"), ("thread", "crowd"), ("processes", "tree")):
        _, data = record(t, tagged(name, "-O2"), case)
        trace = Trace(data, names())
        counts = {}
        for line in t.run("babeltrace2", "--no-delta", "--clock-cycles", data).out.splitlines():
            event = line.split(": {")[0].rsplit("] ", 1)[1].split(" ", 1)[-1]
            counts[event] = counts.get(event, 0) + 1
        own = sum(n for event, n in counts.items() if event.startswith(("assay_", "sched_")))
        t.equal(sum(counts.values()) - own, trace.events, f"{name}: events of babeltrace2's")


@test
def full_memory_ends_the_recording_and_counts_what_did_not_fit(t):
    for level in LEVELS:
        truth, data = record(t, tagged("wide", level), "paths", options=("--mode", "stop", "--memory", "1"))
        trace = Trace(data, names(), paths=False)
        made = 2 * truth.total()
        t.true(trace.discarded > 0, f"{level}: nothing was discarded: {trace.events} of {made} are there")
        t.equal(trace.events + trace.discarded, made, f"{level}: events there and events discarded")
        t.equal(t.report(data)["lost"], trace.discarded, f"{level}: lost, in the report")


@test
def what_comes_faster_than_it_is_drained_is_counted(t):
    """Four packets of memory: each event is in the trace, or counted as discarded."""
    for level in LEVELS:
        for name, case in (("wide", "paths"), ("thread", "family")):
            truth, data = record(t, tagged(name, level), case, env={"ASSAY_TAGS_MEM": "64k"})
            trace = Trace(data, names(), paths=False)
            made = 2 * truth.total()
            t.equal(trace.wrong, [], f"{name}{level}: what is wrong")
            t.equal(trace.events + trace.discarded, made, f"{name}{level}: events there and discarded")
            t.equal(t.report(data)["lost"], trace.discarded, f"{name}{level}: lost, in the report")


@test
def the_flight_recorder_keeps_the_latest_in_order(t):
    whole = record(t, tagged("wide", "-O2"), "paths")[1]
    everything = [w & 0xFFFFFF for w in words_of(whole)]
    _, data = record(t, tagged("wide", "-O2"), "paths", options=("--mode", "wrap", "--memory", "1"))
    latest = [w & 0xFFFFFF for w in words_of(data)]
    t.between(len(latest), 1000, len(everything) - 1000, "events of the flight recorder's")
    t.equal(latest, everything[-len(latest):], "the latest events")
    t.equal(Trace(data, names(), paths=False).unsound(lost=True), [], "what is wrong")


def words_of(data):
    """The events of a trace of one thread."""
    (stream,) = data.glob("stream_*")
    return [word for packet in packets(stream) for word in packet.words if word & 0xFFFFFF < RESERVED]


@test
def all_that_was_done_before_a_kill_is_there(t):
    """The program is killed during calls: only the last call can be missing."""
    program, data, ready = tagged("kill", "-O2"), t.path("tags"), t.path("ready")
    process = t.start(ASSAY, "tags", "-q", "-o", data, "--", program, ready)
    pid = t.until(lambda: ready.exists() and ready.read_text().strip(), "the program is at work")
    os.kill(int(pid), signal.SIGKILL)
    t.equal(t.wait(process), 128 + signal.SIGKILL, "status")
    (counted,) = Trace(data, names()).processes.values()
    told = int.from_bytes(t.path("ready.count").read_bytes()[:8], "little")
    t.true(told > 1000, f"{told} calls were made")
    t.between(counted.calls["leaf"], told, told + 1, "calls of leaf")
    t.equal(counted.calls["main"], 1, "calls of main")


@test
def forks_within_a_trigger_leave_no_event_in_the_wrong_place(t):
    """Forks after each of the instructions: events that the child writes belong to it, or are
    discarded."""
    program, data = tagged("forked", "-O2"), t.path("tags")
    result = t.assay("tags", "-q", "-o", data, "--", program)
    children = int(result.out)
    t.true(children > 60, f"{children} forks")
    t.true("not written" not in result.err, result.err)
    trace = Trace(data, names(), paths=False)
    t.equal(trace.unsound(), [], "what is wrong")
    parent = max(trace.processes, key=lambda pid: trace.processes[pid].calls["target"])
    t.equal(trace.processes[parent].calls["target"], 160, "calls in the parent")
    t.equal(trace.processes[parent].calls["after"], 0, "calls of the children, in the parent")
    wrong = [f"{pid}: {dict(counted.calls)}" for pid, counted in trace.processes.items()
             if pid != parent and (counted.calls["after"], counted.calls["main"]) != (1, 0)]
    t.equal(wrong, [], "children that are not as they should be")
    t.equal(len(trace.processes) - 1, children, "children")


@test
def forks_within_a_trigger_that_has_no_room_end_no_child(t):
    for mode in ("stop", "wrap", "stream"):
        result = t.assay("tags", "-q", "--mode", mode, "-o", t.path("tags"), "--",
                         tagged("forked", "-O2"), "9000", env={"ASSAY_TAGS_MEM": "64k"})
        t.true(int(result.out) > 60, f"{mode}: {result.out} forks")
        trace = Trace(t.path("tags"), names(), paths=False)
        t.equal(trace.wrong, [], f"{mode}: what is wrong")
        t.true(trace.discarded or mode != "stop", f"{mode}: nothing was discarded")


@test
def a_missing_tag_is_found(t):
    """A check of the test itself: a trace in which one word is made invalid."""
    program = tagged("plain", "-O2")
    truth, data = record(t, program, "plain")
    t.equal(compare(truth, Trace(data, names()).processes), [], "differences of what is equal")
    stream = data / "stream_0"
    content = bytearray(stream.read_bytes())
    tags = {tag for tag, name in Trace(data, names()).names.items() if name == "d"}
    for at in range(128, len(content), 8):
        if int.from_bytes(content[at:at + 3], "little") in tags:
            content[at:at + 3] = VOID.to_bytes(3, "little")
            break
    stream.write_bytes(content)
    t.true(compare(truth, Trace(data, names()).processes), "one event is gone, and nothing differs")
    t.true(reported(t, truth, data), "one event is gone, and the report does not differ")


main()
