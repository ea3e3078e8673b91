# SPDX-License-Identifier: GPL-2.0-or-later
"""old_windows: stores whose windows are old enough to be merged, and their figures.

    stored(t, path, "web1", "web2")     a file with windows of 200 s
    light(t, path, "web1", "web2")      a file with windows of 10 s and few rows
    add_waits(path)                     rows of waits in each of its windows
    report(t, store, "web*")            sums by function, and the account
    waits(t, store, "web*")             waits by cause, and their account
    same(t, found, expected, what)
"""
import contextlib
import os
import re
import sqlite3
import tempfile

from harness import LONG
from stores import environment

BEGIN_NS = 1699948800 * 10**9   # the beginning of two hours
WINDOWS = 44 if LONG else 22   # two hours, or one
WINDOW_NS = 200 * 10**9


_directory = tempfile.TemporaryDirectory(prefix="assay-test-windows-")  # for all tests
_length_s = None


def recording(t):
    """A recording of the whole machine, made once. It is short, since a busy machine adds stacks of other programs
    to it: its own have little to do, and the priority for it (without root, that of others)."""
    global _length_s
    path = os.path.join(_directory.name, "a.data")
    if not os.path.exists(path):
        loop = t.workload("loop")
        found = t.assay("record", "-a", "-g", "-F", "499", "-o", path, "--", "nice", "-n", "-5", "sh", "-c",
                        f"for i in 1 2 3 4; do {loop} 20; {t.workload('faults')} {t.path('p')} 300 700; done;"
                        f" {loop} 100").err
        length, unit = re.search(r"([\d.]+) (ms|s|min) recorded", found).groups()
        _length_s = float(length) * {"ms": 0.001, "s": 1, "min": 60}[unit]
    return path


def stored(t, path, *hosts, windows=WINDOWS):
    """Windows of 200 s of several hosts, as many as these however long the recording took."""
    for host in hosts:
        data = recording(t)
        t.run(t.workload("store_recording"), data, path, f"{_length_s / windows:.6f}", host, env=environment(t))
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        first, last = db.execute("SELECT min(start_ns), max(end_ns) FROM window").fetchone()
        slower = windows * WINDOW_NS // (last - first)
        later = f"= {BEGIN_NS} + ({{0}} - {first}) * {slower}"
        for table, ends in (("window", "end_ns"), ("session", "end_ns")):
            db.execute(f"UPDATE {table} SET start_ns {later.format('start_ns')},"
                       f" {ends} {later.format(ends)}")
        for table in ("process", "thread"):
            db.execute(f"UPDATE {table} SET life_ns = CASE WHEN start_ns IS NULL THEN {BEGIN_NS} +"
                       f" (life_ns - {first}) * {slower} ELSE life_ns * {slower} END,"
                       f" start_ns {later.format('start_ns')}")
    return path


def light(t, path, *hosts, windows=40, rows=(20, 30)):
    """Windows of 10 s with few rows, of these hosts; two services of two versions each."""
    t.run(t.workload("store_writer"), path, 0, windows, 5, rows[0])
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE host SET name = ?", (hosts[0],))
    for host in hosts[1:]:
        t.run(t.workload("store_writer"), path, 0, windows, 3, rows[1])
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE host SET name = ? WHERE name = 'here'", (host,))
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        add_services(db)
    return path


def add_services(db):
    """Half of the paths of each host are those of another process."""
    first = db.execute("SELECT p.host, s.thread, p.id FROM (SELECT DISTINCT thread FROM sample) s JOIN thread t ON"
                       " t.id = s.thread JOIN process p ON p.id = t.process").fetchall()
    for host, thread, process in first:
        other = db.execute("SELECT t.id, p.id FROM thread t JOIN process p ON p.id = t.process WHERE p.host = ?"
                           " AND p.id NOT IN (?, 0) AND p.id > 0 ORDER BY t.id", (host, process)).fetchone()
        db.execute("UPDATE sample SET thread = ? WHERE thread = ? AND stack % 2", (other[0], thread))
        for n, changed in enumerate((process, other[1])):
            for column, text in (("cgroup", f"/system.slice/svc{n + 1}.service"),
                                 ("version", f"{(host + n) % 2 + 1}.0")):
                db.execute("INSERT OR IGNORE INTO name (text) VALUES (?)", (text,))
                db.execute(f"UPDATE process SET {column} = (SELECT id FROM name WHERE text = ?) WHERE id = ?",
                           (text, changed))


def add_waits(path):
    """Causes of waits with different texts, sums and histograms in each window."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        def text(name):
            db.execute("INSERT OR IGNORE INTO name (text) VALUES (?)", (name,))
            return db.execute("SELECT id FROM name WHERE text = ?", (name,)).fetchone()[0]

        def cause(*texts, named=0):
            ids = [text(name) if name else 0 for name in texts]
            db.execute("INSERT OR IGNORE INTO wait_cause (service, program, waiter, kind, name,"
                       " function, released_by, holder, evidence, device, named) VALUES"
                       " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ids + [named])
            return db.execute("SELECT max(id) FROM wait_cause").fetchone()[0]

        causes = [cause(f"svc{i % 2}.service", f"prog{i % 3}", "worker", kind, f"object{i}", "wait",
                        "owner in release", *held, named=1)
                  for i, (kind, held) in enumerate((
                      ("lock", ("owner", "unlock", "")), ("pipe", ("", "", "")),
                      ("file", ("", "", "vda1")), ("cpu", ("", "", "")), ("other", ("", "", ""))))]
        times = [cause(f"svc{i % 2}.service", f"prog{i}", *[""] * 8) for i in range(3)]
        for window, in db.execute("SELECT id FROM window").fetchall():
            for i, at in enumerate(causes):
                if (window + i) % 3:
                    n = window * 7 + i
                    db.execute("INSERT INTO wait VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                               (window, at, n % 50 + 2, n * 1000, n * 10, n * 3, n * 2, n, n, n,
                                n * 100, f"{200 + i}:{n % 50} {240 + n % 9}:2"))
            for i, at in enumerate(times):
                db.execute("INSERT INTO wait_time VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0)",
                           (window, at, window % 5, window * 10**6, window * 10, i, 5, i == 0))


def waits(t, store, host, *words):
    found = t.json(t.assay("waits", "--json", "--store", store, "--host", host, *words,
                           env=environment(t)).out)
    return {key: found[key] for key in ("causes", "ledger", "waits", "threads", "wakings")}


def report(t, store, host, *words):
    # All paths, also those of other programs that run beside the test.
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
