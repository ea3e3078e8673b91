# SPDX-License-Identifier: GPL-2.0-or-later
"""Call paths where perf_event is not permitted, as in containers: calls are counted, waiting is not
separated, and the report says so."""

import os

from harness import BUILD, main, run, test, test_of_shares


def program(name):
    path = str(BUILD / "tests" / "workloads" / "calls" / f"{name}-gcc-O2")
    return path if os.path.exists(path) else path.replace("gcc", "clang")


TIMES = program("times")
THREAD = program("thread")
LIBRARY = BUILD / "runtime" / "libassay-calls.so"


def said(t, result):
    """The program's own clocks."""
    return t.json(next(line for line in result.out.splitlines() if line.startswith("{")))


@test_of_shares
def waiting_is_not_separated_and_the_report_says_so(t):
    data = t.path("denied.calls")
    result = t.assay("calls", "-o", data, "--", t.workload("noperf"), TIMES, "sleepy")
    t.has(result.out, "waiting not separated")
    report = t.report(data)
    process, = report["processes"]
    t.equal(process["waiting_separated"], False, "waiting_separated")
    row, = [path for path in process["paths"] if path["path"][-1] == "sleepy"]
    t.equal(row["calls"], 1, "calls of sleepy")
    # It slept 900 ms and worked 100 ms: all of this is net time, and the waiting time is unknown.
    t.between(row["total_ns"], 0.98e9, 1.02 * said(t, result)["wall_ns"],
              "total of sleepy, its sleep included")
    t.equal(row["blocked_ns"], None, "blocked is not known")
    t.equal(row["preempted_ns"], None, "preempted is not known")


@test_of_shares
def where_it_is_allowed_it_is_separated(t):
    """A check of the test itself: the same without the filter."""
    data = t.path("allowed.calls")
    result = t.assay("calls", "-o", data, "--", TIMES, "sleepy")
    t.lacks(result.out, "waiting not separated")
    row, = [path for path in t.report(data)["processes"][0]["paths"]
            if path["path"][-1] == "sleepy"]
    t.between(row["blocked_ns"], 0.88e9, 1.02 * said(t, result)["wall_ns"] - 0.1e9,
              "blocked in sleepy")


def counted(*words, **options):
    """The calls that the program itself counts, without its process id."""
    lines = run(*words, **options).err.splitlines()
    return sorted(line.split(" ", 1)[1] for line in lines)


@test
def a_program_without_a_table_runs_as_it_is(t):
    """No space for a file, or a directory that cannot be created: no thread has a table."""
    alone = counted(THREAD, "crowd")
    t.true(len(alone) > 3, f"the program counts its calls: {alone}")
    tables = t.path("tables")
    tables.mkdir(mode=0o700)
    env = {"LD_PRELOAD": str(LIBRARY), "ASSAY_CALLS_DIR": str(tables)}
    t.equal(counted("sh", "-c", 'ulimit -f 0; exec "$@"', "sh", THREAD, "crowd", env=env), alone,
            "calls without room for a file")
    env["ASSAY_CALLS_DIR"] = str(t.write("file", "") / "none")
    t.equal(counted(THREAD, "crowd", env=env), alone, "calls without a directory")


main()
