# SPDX-License-Identifier: GPL-2.0-or-later
"""`assay top --waits` has the figures of its recording."""

import json

from harness import main, need_waits, test


@test
def waits_are_those_of_the_recording(t):
    need_waits(t)
    data = t.path("w.data")
    t.start(t.workload("waits"))
    shown = t.json(t.assay("top", "--once", "--waits", "-d", "0.7", "--json", "-o", data).out)
    report = t.json(t.assay("waits", "--all", "--json", data).out)
    for key in ("kind", "scope", "threads", "waits", "wakings", "ledger"):
        t.equal(shown[key], report[key], key)
    t.true(shown["wakings"] > 0, "wake-ups")
    cause = "kind", "name", "waiter", "function", "released_by", "holder", "evidence", "count", \
            "blocked_ns", "runnable_ns", "max_ns", "p50_ns"
    t.equal(*[sorted(json.dumps([row.get(key) for key in cause]) for row in found["causes"])
              for found in (shown, report)], "causes")
    text = t.assay("top", "--once", "--waits", "-d", "0.3", "--lines", "5").out
    for part in ("The whole machine", "Waits by cause", "released by"):
        t.has(text, part)


main()
