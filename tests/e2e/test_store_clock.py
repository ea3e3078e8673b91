# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock of a machine with a store is set forward and back, and the machine is suspended: the
database stays complete, the time without measurement is reported, and no time is lost or counted
twice.

A library of this test changes the clocks of the session; the machine's clocks do not change.
"""
import contextlib
import os
import signal
import sqlite3
import subprocess
import time

import stores
from clock_shim import HOUR, SECOND, Clocks
from harness import ASSAY, LONG, main, run, test



class Machine:
    """A store's session with changed clocks."""

    def __init__(self, t):
        self.t, self.path, self.clocks = t, t.path("a.db"), Clocks(t)
        self.move = self.clocks.move
        self.env = {**t.runtime(), **self.clocks.env, "TZ": "UTC"}

    def start(self):
        return self.t.start(ASSAY, "start", "--foreground", "--store", self.path, "--window", 1,
                            "-F", 97, env={**os.environ, **self.env}, stderr=subprocess.PIPE)

    def rows(self, query):
        with stores.reading(self.path) as db:
            return stores.rows(db, query)

    def windows(self):
        try:
            return self.rows("SELECT start_ns, end_ns FROM windows ORDER BY id")
        except sqlite3.OperationalError:  # not there yet
            return []

    def wait_for(self, count, after=None):
        """Waits for this number of further windows, which begin at that moment at the earliest."""
        def there():
            return [w for w in self.windows()[before:] if after is None or w[0] >= after]
        before = len(self.windows())
        self.t.until(lambda: len(there()) >= count, f"{count} windows more", timeout=60)

    def gaps(self):
        return self.rows("SELECT why, start_ns, end_ns FROM gaps ORDER BY id")

    def check_whole(self):
        t = self.t
        t.equal(self.rows("PRAGMA integrity_check"), [("ok",)], "integrity_check")
        t.equal(self.rows("SELECT w.id FROM windows w LEFT JOIN samples s ON s.window = w.id GROUP "
                          "BY w.id HAVING w.samples IS NOT coalesce(sum(s.samples), 0)"), [],
                "windows of other sums than their rows")
        for start, end in self.windows():
            t.true(0 < end - start <= 1.5 * SECOND, f"a window from {start} to {end}")

    def stop(self, process):
        account = self.t.json(run(ASSAY, "stop", "--json", env=self.env).out)
        self.t.equal(self.t.wait(process), 0, "its exit status")
        return account


@test
def a_clock_that_is_set_and_a_machine_that_sleeps_leave_gaps_and_lose_nothing(t):
    t.need("gcc")
    m = Machine(t)
    process = m.start()
    m.wait_for(2)
    m.move(wall=HOUR)  # set forward
    m.wait_for(2, after=m.windows()[-1][1] + HOUR // 2)
    m.move(wall=2 * HOUR, boot=2 * HOUR)  # asleep
    m.wait_for(2, after=m.windows()[-1][1] + HOUR)
    latest = m.windows()[-1][1]
    m.move(wall=-HOUR)  # set back
    t.until(lambda: m.windows()[-1][0] < latest - HOUR // 2, "a window by the clock as it is now", 60)
    m.wait_for(1)
    account = m.stop(process)
    m.check_whole()
    gaps = m.gaps()
    t.equal([why for why, *_ in gaps], ["the clock was set forward", "suspended",
                                        "the clock was set back"], "gaps")
    for (why, start, end), length in zip(gaps, (HOUR, 2 * HOUR, HOUR)):
        # The interval between windows of both clocks is shorter by the time that was measured in
        # it.
        t.between(end - start, length - 60 * SECOND, length + SECOND // 2, why)
    # The windows follow each other without holes, except for the gaps.
    for (_, end), (start, _) in zip(m.windows(), m.windows()[1:]):
        hole = start - end
        t.true(abs(hole) < SECOND // 2 or hole < 0 or
               any(abs(end - a) < 30 * SECOND and abs(start - b) < 30 * SECOND for _, a, b in gaps),
               f"a hole of {hole} ns before {start}")
    # By the monotonic clock.
    t.near(sum(end - start for start, end in m.windows()), account["elapsed_ns"], SECOND // 2,
           "the time of all windows")
    t.equal(m.rows("SELECT sum(samples) FROM windows"), [(account["samples"],)], "samples")
    warnings = " ".join(t.report("--store", m.path)["warnings"])
    for why in ("the clock was set forward", "suspended"):
        t.has(warnings, why, "what the report tells")


@test
def a_clock_set_back_between_sessions_is_reported(t):
    t.need("gcc")
    m = Machine(t)
    process = m.start()
    m.wait_for(1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    first = m.windows()
    m.move(wall=-HOUR)
    process = m.start()
    m.wait_for(1)
    m.stop(process)
    m.check_whole()
    t.equal(m.windows()[:len(first)], first, "windows of before")
    t.equal([ended for ended, in m.rows("SELECT ended FROM sessions ORDER BY id")],
            ["killed", "stopped"], "how they ended")
    t.equal([why for why, *_ in m.gaps()], ["the clock was set back"], "gaps")
    _, start, end = m.gaps()[0]
    t.equal((start, end), (m.windows()[len(first)][0], first[-1][1]), "the stretch told twice")
    t.report("--store", m.path)


if LONG:
    @test
    def a_gap_that_cannot_be_written_yet_is_told_later(t):
        t.need("gcc")
        m = Machine(t)
        process = m.start()
        m.wait_for(1)
        with contextlib.closing(sqlite3.connect(m.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            m.move(wall=HOUR, boot=HOUR)
            # Two times for which the session waits for another writer: a window, and the gap after
            # it.
            time.sleep(14)
            other.execute("COMMIT")
        m.wait_for(2, after=m.windows()[-1][1] + HOUR // 2)
        m.stop(process)
        m.check_whole()
        gaps = {why: end - start for why, start, end in m.gaps()}
        t.equal(set(gaps), {"suspended", "another process was writing"}, "gaps")
        t.near(gaps["suspended"], HOUR, SECOND, "the time asleep")


@test
def in_a_time_namespace_ticks_are_due_by_the_kernels_clock(t):
    """Programs there see a clock that is hours ahead; the kernel gives samples the time of its own
    clock."""
    ahead = ["unshare", "--time", "--monotonic", 50000, "--boottime", 50000, "--fork"]
    t.need("unshare")
    if run(*ahead, "true", status=None).status:
        t.skip("no time namespace can be made here")
    data = t.path("a.data")
    run(*ahead, ASSAY, "record", "-a", "-F", 500, "-q", "-o", data, "--", t.workload("loop"), 1)
    report = t.report(data)
    ledger, cpus = report["ledger"], len(report["recordings"][0]["buffers"])
    # A tick of each CPU every 2 ms of the time; a wrong clock would double the number.
    t.near(ledger["ticks"]["due"], ledger["elapsed_ns"] * cpus / 2e6, 4 * cpus, "ticks that were due")


main()
