# SPDX-License-Identifier: GPL-2.0-or-later
"""old_windows: stores whose windows are old enough to be merged, and their figures.

    stored(t, path, "web1", "web2")     a file with windows of 200 s, of more than two hours
    report(t, store, "web*")            sums by function, and the account
    same(t, found, expected, what)
"""
import contextlib
import os
import sqlite3

from stores import environment

SLOWER = 4000   # the time of the recording is stretched by this factor: 50 ms become 200 s
BEGIN_NS = 1699948800 * 10**9   # the beginning of two hours


def recording(t):
    path = t.path("a.data")
    if not os.path.exists(path):
        loop = t.workload("loop")
        t.assay("record", "-a", "-g", "-F", "499", "-o", path, "--", "sh", "-c",
                f"for i in 1 2 3 4; do {loop} 150; {t.workload('faults')} {t.path('p')}; done;"
                f" {loop} 1500")
    return path


def stored(t, path, *hosts):
    """Windows of 100 s of several hosts, of more than two hours."""
    for host in hosts:
        t.run(t.workload("store_recording"), recording(t), path, "0.05", host, env=environment(t))
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        first = db.execute("SELECT min(start_ns) FROM window").fetchone()[0]
        later = f"= {BEGIN_NS} + ({{0}} - {first}) * {SLOWER}"
        for table, ends in (("window", "end_ns"), ("session", "end_ns")):
            db.execute(f"UPDATE {table} SET start_ns {later.format('start_ns')},"
                       f" {ends} {later.format(ends)}")
        for table in ("process", "thread"):
            db.execute(f"UPDATE {table} SET life_ns = CASE WHEN start_ns IS NULL THEN {BEGIN_NS} +"
                       f" (life_ns - {first}) * {SLOWER} ELSE life_ns * {SLOWER} END,"
                       f" start_ns {later.format('start_ns')}")
    return path


def report(t, store, host, *words):
    found = t.json(t.assay("report", "--json", "--store", store, "--host", host, *words,
                           env=environment(t)).out)
    rows = {}
    for f in found["functions"]:
        key = (f["image"], f["function"], f["mode"])
        at = rows.setdefault(key, [0, 0, 0])
        for i, column in enumerate(("samples", "weight", "blocked_ns")):
            at[i] += f.get(column) or 0
    return {"functions": {k: v for k, v in rows.items() if any(v)},
            "ledger": {k: found["ledger"][k] for k in ("wall_ns", "elapsed_ns", "lost_ns", "unknown_ns")},
            "recordings": len(found["recordings"])}


def same(t, found, expected, what=""):
    """Fails with the differences alone. The time of idle samples is an estimate for each window."""
    for key in expected["functions"].keys() | found["functions"].keys():
        sums = [side["functions"].get(key, [0, 0, 0]) for side in (found, expected)]
        if key[2] == "idle":
            sums = [[side[0]] for side in sums]
        t.equal(*sums, f"{what} {key}")
    t.equal(found["ledger"], expected["ledger"], f"{what}: the account")
    t.equal(found["recordings"], expected["recordings"], what)
