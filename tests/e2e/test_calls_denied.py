# SPDX-License-Identifier: GPL-2.0-or-later
"""Call paths where perf_event is denied, as in containers: counted all the same,
waiting not separated, and said so."""

import os

from harness import BUILD, main, test_of_shares

TIMES = str(BUILD / "tests" / "workloads" / "calls" / "times-gcc-O2")
if not os.path.exists(TIMES):
    TIMES = TIMES.replace("gcc", "clang")


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
    # It slept 900 ms and worked 100: all of it stands as net, and waiting as unknown.
    t.between(row["total_ns"], 0.98e9, 1.02 * said(t, result)["wall_ns"],
              "total of sleepy, its sleep included")
    t.equal(row["blocked_ns"], None, "blocked is not known")
    t.equal(row["preempted_ns"], None, "preempted is not known")


@test_of_shares
def where_it_is_allowed_it_is_separated(t):
    """The test of the test: the same without the filter."""
    data = t.path("allowed.calls")
    result = t.assay("calls", "-o", data, "--", TIMES, "sleepy")
    t.lacks(result.out, "waiting not separated")
    row, = [path for path in t.report(data)["processes"][0]["paths"]
            if path["path"][-1] == "sleepy"]
    t.between(row["blocked_ns"], 0.88e9, 1.02 * said(t, result)["wall_ns"] - 0.1e9,
              "blocked in sleepy")


main()
