# SPDX-License-Identifier: GPL-2.0-or-later
"""`assay start --store` is killed at random moments, again and again, with the same two files; one
file is so small that the oldest windows are deleted all the time. After each kill the database is
complete, no earlier row is lost, the account of each window closes, and the next session continues
the file. A kill happens while the session starts, at the end of a window (when it is written and
old windows are merged or deleted), or at any other time."""
import collections
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import time

import stores
from harness import ASSAY, LONG, main, run, test
from stores import number, rows

KILLS = 200 if LONG else 6
WINDOW_NS = 10**9
# A window counts as missing if it is later than this: the machine may be busy.
LATE_NS = 10 * WINDOW_NS


def clock_ahead():
    """The wall clock minus the monotonic clock: it changes when the wall clock is adjusted or set."""
    readings = []
    for _ in range(5):
        before = time.monotonic_ns()
        now = time.time_ns()
        after = time.monotonic_ns()
        readings.append((after - before, now - (before + after) // 2))
    return min(readings)[1]


def last_window(path):
    """Id and end of the newest window, or (0, 0)."""
    try:
        with stores.reading(path) as db:
            return rows(db, "SELECT id, end_ns FROM windows ORDER BY id DESC LIMIT 1")[0]
    except (sqlite3.Error, IndexError):
        return 0, 0


class Killed:
    """A store, and the number of kills of its writer."""

    def __init__(self, t, name, *words):
        self.t, self.path, self.words = t, t.path(f"{name}.db"), words
        self.env = {**os.environ, **t.runtime(f"run-{name}"), "TZ": "UTC"}
        self.sessions = 0
        self.given = {}  # (name, instance) -> id of its row, for all rows seen so far

    def live(self, chance, sure):
        """Kills a session; returns the newest window before the kill, and its time. `sure`: waits
        until the session has written a window."""
        where = "any" if sure else chance.choice(("start", "edge", "edge", "any"))
        process = self.t.start(ASSAY, "start", "--foreground", "--store", self.path, "--window", 1,
                               "-F", 199, *self.words, env=self.env, stderr=subprocess.PIPE)
        if sure:
            self.t.until(lambda: last_window(self.path)[0], "a window", timeout=60)
        if where == "start":
            time.sleep(chance.random() ** 2 * 0.3)
        else:
            time.sleep(0.3 + 2 * chance.random())
            if where == "edge":
                time.sleep(1 - time.time() % 1 + chance.random() * 0.06)
        before = last_window(self.path)
        wall = time.time_ns()
        self.t.equal(process.poll(), None, f"its own end: {process.poll() and process.stderr.read()}")
        process.send_signal(signal.SIGKILL)
        said = process.stderr.read().decode()
        process.wait()
        self.t.equal(said.replace("assay: ", "", 1).count("assay: start:"), 0, said)
        return where, before, wall

    def check(self, before, wall, set_by):
        """Checks the file after a kill. Returns the ns that are missing at its end, and whether
        they follow a window of the session."""
        t = self.t
        if not self.path.exists() or not self.path.stat().st_size:
            t.equal(before, (0, 0), "windows of a store that is not there")
            return 0, False
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            t.equal(rows(db, "PRAGMA integrity_check"), [("ok",)], "integrity_check")
            # The first session of a file creates its tables and begins in two transactions. The row
            # of a session is deleted with its last window.
            newest = number(db, "SELECT coalesce(max(id), 0) FROM sessions")
            t.between(newest, self.sessions, self.sessions + 1, "number of the last session")
            fresh, self.sessions = newest > self.sessions, newest
            self.check_ends(db)
            self.check_holes(db, set_by)
            self.check_sums(db)
            self.check_instances(db)
            last = rows(db, "SELECT id, end_ns, session FROM windows ORDER BY id DESC LIMIT 1")
            if before[0]:
                t.true(last and last[0][0] >= before[0], f"window {before} was there, now {last}")
            begun = number(db, "SELECT max(start_ns) FROM sessions") if fresh else wall
            behind = bool(last) and last[0][2] == newest and fresh
            end = last[0][1] if behind else begun
        self.check_report(bool(last))
        return max(0, wall - end), behind

    def check_ends(self, db):
        """The next session marked each earlier one as killed, and the time until then is a gap."""
        sessions = rows(db, "SELECT id, start_ns, end_ns, ended FROM sessions ORDER BY id")
        self.t.equal([ended for *_, ended in sessions[:-1]], ["killed"] * (len(sessions) - 1),
                     "how they ended")
        for (_, _, end, _), (_, start, _, _) in zip(sessions, sessions[1:]):
            # Adjacent gaps count as one. If the clock was set back within a gap, the first window
            # after it shows that.
            self.t.true(start <= end or number(
                db, "SELECT count(*) FROM gaps WHERE start_ns <= ? AND end_ns >= ? AND "
                "why = 'the measurement was killed'", end, start), f"no gap from {end} to {start}")

    def check_holes(self, db, set_by):
        ends = {}
        for session, start, end in rows(db, "SELECT session, start_ns, end_ns FROM windows "
                                        "ORDER BY session, start_ns"):
            self.t.true(end > start, "a window without a length")
            hole = start - ends.setdefault(session, start)
            if hole and not number(db, "SELECT count(*) FROM gaps WHERE start_ns < ? AND end_ns > ?",
                                   start, ends[session]):
                self.t.near(hole, 0, set_by, f"the hole before {start} in session {session}")
            ends[session] = end

    def check_sums(self, db):
        t = self.t
        t.equal(rows(db, "SELECT w.id, w.samples, sum(s.samples) FROM windows w LEFT JOIN samples s "
                     "ON s.window = w.id GROUP BY w.id HAVING w.samples IS NOT "
                     "coalesce(sum(s.samples), 0)"), [], "windows of other sums than their rows")
        t.equal(rows(db, "SELECT window, cpu FROM ledger WHERE wall_ns IS NOT "
                     "busy_ns + idle_ns + unknown_ns"), [], "time of a CPU that is none of three")
        t.equal(rows(db, "SELECT w.id FROM windows w LEFT JOIN ledger l ON l.window = w.id "
                     "GROUP BY w.id HAVING count(l.cpu) = 0"), [], "windows without a ledger")
        t.equal(number(db, "SELECT count(*) FROM samples s LEFT JOIN processes p ON p.id = s.process "
                       "LEFT JOIN stacks k ON k.id = s.stack LEFT JOIN frames f ON f.id = k.frame "
                       "WHERE s.stack <> 0 AND f.id IS NULL OR p.name IS NULL OR s.event IS NULL"), 0,
                "samples that lead nowhere")

    def check_instances(self, db):
        t = self.t
        t.equal(rows(db, "SELECT host, name, instance, count(*) FROM processes WHERE id > 0 "
                     "GROUP BY host, name, instance HAVING count(*) > 1"), [], "numbers given twice")
        for id, name, instance in rows(db, "SELECT id, name, instance FROM processes WHERE id > 0 "
                                       "AND name LIKE 'i-%'"):
            t.equal(self.given.setdefault((name, instance), id), id, f"who is {name}:{instance}")

    def check_report(self, windows):
        result = run(ASSAY, "report", "--json", "--store", self.path, env=self.env,
                     status=0 if windows else None)
        if windows:
            self.t.true(self.t.json(result.out)["recordings"], "the report has no recordings")
        else:
            self.t.true(result.status in (0, 1) and "Sanitizer" not in result.err, str(result))


def storm(t):
    """Processes that start and exit all the time."""
    made = t.path("links")
    made.mkdir()
    program = t.workload("instances")
    for number_ in range(10):
        os.symlink(program, made / f"i-{number_}")
    return t.start(program, "storm", 10**9, 200, 10, f"{made}/", stdout=subprocess.DEVNULL)


@test
def a_store_killed_at_any_moment_is_complete_and_continues(t):
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    storm(t)
    stores = Killed(t, "whole"), Killed(t, "small", "--keep-size", 1)
    counts, missing, ahead, set_by = collections.Counter(), [], clock_ahead(), 1_000_000
    for kill in range(KILLS):
        store = stores[kill % 2]
        where, before, wall = store.live(chance, kill >= KILLS - 2 and not store.sessions)
        # An adjustment of the machine's clock in the gap is not a missing part.
        set_by = max(set_by, 1_000_000 + 2 * abs(clock_ahead() - ahead))
        try:
            missing.append(store.check(before, wall, set_by))
        except Exception:
            print(f"# kill {kill} of seed {seed}, at: {where}")
            raise
        counts[where] += 1
    behind = [ns for ns, is_behind in missing if is_behind]
    first = [ns for ns, is_behind in missing if not is_behind]
    for what, list_ in (("behind the last window", behind), ("before the first one", first)):
        t.between(max(list_, default=0), 0, WINDOW_NS + LATE_NS, f"ns missing {what}")
    t.true(all(store.sessions for store in stores), "no session ever began")
    late = sum(ns > WINDOW_NS * 1.5 for ns in behind)
    print(f"# {KILLS} kills ({dict(counts)}), seed {seed}: {sum(s.sessions for s in stores)} sessions; "
          f"missing behind the last window {max(behind, default=0) / 1e9:.2f} s at most ({late} of "
          f"{len(behind)} more than 1.5), before the first {max(first, default=0) / 1e9:.2f} s")



main()
