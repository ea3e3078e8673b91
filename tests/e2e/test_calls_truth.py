# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of calls are exact, for programs that count their own calls.

Each case of tests/workloads/calls runs under `assay calls`, built by GCC and, if installed, by
Clang, at -O0 and -O2; in the short form half of the builds of each case. The calls of every function in every process, and the paths that the program
knows, equal the program's own counts.
"""

import os

from calls_cases import CASES, define
from calls_truth import (Counted, Truth, compare, counted_of, first_differences, run_counted,
                         unsound)
from harness import BUILD, LONG, Failure, main, run, test

HERE = BUILD / "tests" / "workloads" / "calls"
ROUNDS = 5 if LONG else 1
VARIANTS = ("gcc-O0", "gcc-O2", "clang-O0", "clang-O2")


def variants(program, case):
    """The builds of a program that exist here; the first two must exist. The short form has one of
    each compiler, and as many cases with one pair of them as with the other."""
    found = [f"{program}-{variant}" for variant in VARIANTS
             if os.path.exists(HERE / f"{program}-{variant}")]
    if len(found) < 2:
        raise Failure(f"{HERE}/{program}-* are not built")
    return found if LONG else (found[::3], found[1:3])[sum(case.encode()) % 2]


def record(t, program, *words, status=0, env=None):
    """Runs a program under `assay calls`; returns the program's own counts, and assay's file."""
    data = t.path("calls.data")
    truth, result = run_counted(t, ["calls", "-q", "-o", data], [HERE / program, *words],
                                status=status, env=env)
    return truth, data, result


def check(t, case):
    """Runs all builds of a case."""
    wrong = []
    for build in variants(case.program, case.name) * ROUNDS:
        truth, data, _ = record(t, build, case.name, status=case.status)
        report = t.report(data)
        found = (unsound(report, case.strangers)
                 + compare(truth, counted_of(report), case.paths, case.strangers))
        wrong += first_differences(f"{build} {case.name}", found)
    t.true(not wrong, "\n".join(wrong))


for each in CASES:
    define(each, lambda t, case=each: check(t, case), test)


def plugin_case(case, title):
    def function(t):
        wrong = []
        for build in variants("plugins", case) * ROUNDS:
            variant = build.split("-", 1)[1]
            truth, data, result = record(t, build, case, HERE / f"plugin_a-{variant}.so",
                                         HERE / f"plugin_b-{variant}.so")
            if case == "exchanged":
                t.lacks(result.err, "same place 0", "the program's own word")
            report = t.report(data)
            found = unsound(report) + compare(truth, counted_of(report))
            wrong += first_differences(f"{build} {case}", found)
        t.true(not wrong, "\n".join(wrong))
    function.__name__ = f"plugins_{case}_{title}".replace(" ", "_")
    test(function)


plugin_case("again", "loaded 40 times")
plugin_case("exchanged", "another at the same place")
plugin_case("threads", "by four threads")
plugin_case("kept", "never unloaded")


def deep_case(case, depth):
    """Paths are as long as the recursion is deep, so only the number of calls is compared."""
    def function(t):
        for build in variants("plain", case):
            truth, data, _ = record(t, build, case)
            t.equal(truth.total(), depth + 2, "the program's own count")
            totals = Counted()
            for process in t.report("-f", "-n", "20", data)["processes"]:
                for row in process["functions"]:
                    totals.add([row["function"]], row["calls"])
            pid = next(iter(truth.calls))
            t.equal(dict(totals.calls), dict(truth.calls[pid]), f"{build} {case}: calls")
    function.__name__ = f"plain_{case}_{depth}_deep"
    test(function)


deep_case("deep", 10000)
deep_case("abyss", 100000)


@test
def plain_deep_calls_beyond_the_depth_are_counted_as_other(t):
    for build in variants("plain", "deep"):
        truth, data, _ = record(t, build, "deep", env={"ASSAY_CALLS_DEPTH": "100"})
        (pid, told), = truth.calls.items()
        counted = counted_of(t.report(data))[pid]
        t.equal(sum(counted.calls.values()), sum(told.values()), f"{build}: calls in all")
        t.equal(counted.calls["(other)"], sum(told.values()) - 100, f"{build}: too deep")


@test
def hostile_fsize_no_call_is_lost_where_the_table_cannot_grow(t):
    for build in variants("hostile", "fsize"):
        truth, data, _ = record(t, build, "fsize")
        (pid, told), = truth.calls.items()
        counted = counted_of(t.report(data))[pid]
        t.equal(sum(counted.calls.values()), sum(told.values()), f"{build}: calls in all")
        for name, calls in counted.calls.items():
            if name != "(other)":
                t.between(calls, 0, told[name], f"{build}: calls of {name}")


@test
def paths_by_their_end_are_all_that_end_so(t):
    counted = Counted()
    for path, calls in ((["main", "b", "a"], 2), (["main", "a"], 3), (["a"], 1), (["main", "ba"], 9)):
        counted.add(path, calls)
    found = {end: counted.of_path(end) for end in ("...;a", "...;b;a", "...;main;a", "...;main;b;a",
                                                   "...;x;a", "main;a")}
    t.equal(list(found.values()), [6, 2, 3, 2, 0, 3], f"calls, {found}")
    counted.add(["x", "a"], 4)
    t.equal([counted.of_path(end) for end in ("...;a", "...;x;a")], [10, 4], "calls with one more")


@test
def comparing_finds_one_call_too_few_and_one_too_many(t):
    """A check of the test itself: reports that differ from the truth by one call."""
    path = t.write("truth", "7 calls 3 main\n7 calls 2 void a::f(int)\n7 path 2 main;a::f\n")
    truth = Truth(path)

    def report(calls, outer="main"):
        return {"processes": [{"pid": 7, "paths": [
            {"path": ["main"], "calls": 3}, {"path": [outer, "a::f(int)"], "calls": calls}]}]}

    t.equal(compare(truth, counted_of(report(2))), [], "differences of what is equal")
    for wrong in (report(1), report(3), report(2, "other")):
        t.true(compare(truth, counted_of(wrong)), f"{wrong} was taken for equal")
    t.true(compare(truth, {}), "a process that is missing was not missed")
    t.equal(run("true").status, 0, "true's status")


main()
