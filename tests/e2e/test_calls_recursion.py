# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of call paths are exact where compilers inline recursive functions into themselves.

Programs of recursive_programs.py, by GCC and Clang at -O0 to -O3, with another count of their
paths in the same run (shadow.c). That count uses only the order of the hooks' calls and the
functions that they name, not the stack pointer, return address and call site by which the
runtime tells frames apart; an exit that is not of the last open entry fails the test. Paths of
-O0 and of the other levels are equal, too: inlining changes no path.
"""

import collections
import os
import platform
import subprocess

from harness import BUILD, LONG, ROOT, Failure, Skip, main, run, test
from recursive_programs import TEXTBOOK, write_program

COMPILERS = {"gcc": [[]], "clang": [[], ["-finstrument-functions-after-inlining"]] if LONG else [[]]}
LEVELS = ("-O0", "-O1", "-O2", "-O3")
PROGRAMS = 100 if LONG else 2
JOBS = len(os.sched_getaffinity(0))
SHADOW = ROOT / "tests" / "workloads" / "calls" / "shadow.c"


def shadow_library(t):
    if platform.machine() != "x86_64":
        raise Skip("the shadow's hooks are of x86_64")
    library = t.path("shadow.so")
    t.run("gcc", "-O2", "-shared", "-fPIC", SHADOW, "-o", library)
    return library


def build_all(t, source, name):
    """Programs by compiler, its further options, and level."""
    programs, waiting = {}, []
    for compiler, variants in COMPILERS.items():
        t.need(compiler)
        for options in variants:
            for level in LEVELS:
                program = t.path(f"{name}-{compiler}{level}{len(options)}")
                hooks = options or ["-finstrument-functions"]
                programs[compiler, *options, level] = program
                waiting.append([compiler, level, "-w", "-fwrapv", *hooks, source, "-o", program, "-rdynamic"])
    running = []
    while waiting or running:
        while waiting and len(running) < JOBS:
            running.append(t.start(*waiting.pop(), stderr=subprocess.PIPE))
        done = running.pop(0)
        error = done.communicate(timeout=200)[1].decode(errors="replace")
        if done.returncode:
            raise Failure(f"{done.args}: {error[-2000:]}")
    return programs


def symbols_of(program):
    names = {}
    for line in run("nm", program).out.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwW":
            names.setdefault(int(words[0], 16), words[2])
    return names


def shadow_paths(path, program):
    """What shadow.c wrote: calls by path, and the count of exits that fitted no entry."""
    names, paths = symbols_of(program), collections.Counter()
    with open(path, encoding="ascii") as f:
        bad = int(f.readline().split()[1])
        for line in f:
            count, path = line.split()
            # A library is the runtime, which calls its hooks to measure them.
            if "-" not in path:
                paths[";".join(names[int(f, 16)] for f in path.split(";"))] += int(count)
    return paths, bad


def counted_paths(report):
    paths = collections.Counter()
    for process in report["processes"]:
        for path in process["paths"]:
            names = [name for name in path["path"] if name != "(outside)"]
            if names and path["calls"]:
                paths[";".join(names)] += path["calls"]
    return paths


def measure(t, library, program, name, *words):
    """A run under both counts: shadow's paths, the report's, and what is wrong with either."""
    shadow, data = t.path(f"{name}.shadow"), t.path(f"{name}.calls")
    t.assay("calls", "-q", "-o", data, "--", "sh", "-c",
            'SHADOW=$1 LD_PRELOAD="$2 $LD_PRELOAD"; export SHADOW LD_PRELOAD; shift 2; exec "$@"',
            "sh", shadow, library, program, *words)
    report = t.report(data, timeout=300)
    truth, bad = shadow_paths(shadow, program)
    wrong = [f"{bad} exits of functions that were not the last entered"] if bad else []
    for process in report["processes"]:
        wrong += [f"{key} is {process[key]}" for key in ("lost_events", "unmatched_exits",
                                                         "other_calls") if process[key]]
    return truth, counted_paths(report), wrong


def differences(truth, counted):
    wrong = [f"{path}: {counted[path]} calls, not {truth[path]}"
             for path in sorted(set(truth) | set(counted)) if truth[path] != counted[path]]
    return wrong[:5] + [f"{len(wrong)} of {len(truth)} paths"] if wrong else []


def check(t, library, seed, textbook):
    """One program in all its builds; how many calls and paths they had."""
    source = t.write(f"program{seed}.c", write_program(seed, textbook))
    found, plain, calls, paths = [], {}, 0, 0
    for build, program in build_all(t, source, f"program{seed}").items():
        truth, counted, wrong = measure(t, library, program, program.name)
        wrong += differences(truth, counted)
        if not sum(truth.values()):
            wrong.append("no calls")
        if "-finstrument-functions-after-inlining" not in build:
            wrong += [f"against -O0: {text}"
                      for text in differences(plain.setdefault(build[0], truth), truth)]
        found += [f"seed {seed}, {' '.join(build)}: {text}" for text in wrong]
        calls, paths = calls + sum(truth.values()), paths + len(truth)
        program.unlink()
    return found, calls, paths


@test
def paths_of_recursive_programs_equal_a_count_by_order_of_entries_and_exits(t):
    library, wrong, calls, paths = shadow_library(t), [], 0, 0
    for seed in range(PROGRAMS):
        # The short form has every textbook recursion once.
        textbook = 3 if LONG else sorted(TEXTBOOK)[seed::PROGRAMS]
        found, some_calls, some_paths = check(t, library, seed, textbook)
        wrong, calls, paths = wrong + found, calls + some_calls, paths + some_paths
    print(f"# {PROGRAMS} programs, {calls} calls in {paths} paths", flush=True)
    t.true(not wrong, "\n".join(wrong))


main()
