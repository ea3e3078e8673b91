# SPDX-License-Identifier: GPL-2.0-or-later
"""tags: the shares of functions that are about as short as a trigger. The cost of a trigger is measured
before the program runs: on a busy machine it may be another one then."""
from harness import main, test_of_shares
from tags_program import SHORT, build, place


@test_of_shares
def shares_of_short_functions_are_within_their_bounds(t):
    data = t.path("short.tags")
    t.assay("tags", "-q", "-o", data, "--", build(t, "short", SHORT, extra=["-O2"]), env=place(t))
    report = t.report(data)
    rows = {row["function"]: row for row in report["functions"]}
    t.true(0 < report["trigger_least_ns"] < report["trigger_most_ns"], "the cost of a trigger")
    t.true(sum(row["work"] for row in rows.values()) <= 1 + 1e-6, "shares of functions")
    for name, steps in {"leaf": 160, "middle": 7, "other": 20}.items():
        row, true = rows[name], steps / 187
        # The cost of a trigger may be another one than it was when it was measured: the host decides,
        # which also takes its time to provide the pages of the events. And calls take time, too.
        t.between(true, row["work_low"] - 0.2, row["work_high"] + 0.2, f"{name}: the share of its work")
        t.true(row["work_low"] <= row["work"] <= row["work_high"], f"{name}: the estimate")


main()
