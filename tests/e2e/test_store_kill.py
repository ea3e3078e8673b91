# SPDX-License-Identifier: GPL-2.0-or-later
"""A store whose writer is killed at a random moment, or whose disk is full: the file is complete,
all windows that the writer reported as written are there, and only the current window is
missing. tests/workloads/store_writer.c writes windows with known sums."""
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import time

from harness import LONG, main, test

KILLS = 200 if LONG else 20
LIVES = 5  # of one file
BEGIN_NS = 1700000000 * 10**9
WINDOW_NS = 10 * 10**9
PROCESSES, SAMPLES = 20, 40  # of a window


def numbers(db):
    """The windows of the store, in the order in which they were written."""
    return [(start - BEGIN_NS) // WINDOW_NS
            for start, in db.execute("SELECT start_ns FROM windows ORDER BY id")]


def check_whole(t, path, lives):
    """Opens the store that a killed writer left; returns its number of windows."""
    db = sqlite3.connect(path)
    t.equal(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "integrity_check")
    there = numbers(db)
    t.equal(there, list(range(len(there))), "windows")
    # Each window is complete: rows of samples, processes, ledger.
    t.equal(db.execute("SELECT count(*) FROM (SELECT w.samples, sum(s.samples) AS rows FROM windows "
                       "w LEFT JOIN samples s ON s.window = w.id GROUP BY w.id) "
                       "WHERE samples IS NOT rows").fetchone()[0], 0, "windows of other sums")
    t.equal(db.execute("SELECT count(*) FROM windows w LEFT JOIN ledger l ON l.window = w.id "
                       "WHERE l.wall_ns IS NOT ?", (WINDOW_NS,)).fetchone()[0], 0,
            "windows without their ledger")
    t.equal(db.execute("SELECT count(*), max(instance) FROM processes WHERE name = 'cc0'")
            .fetchone(), (len(there), len(there) or None), "rows and numbers of cc0")
    t.equal(db.execute("SELECT count(*) FROM samples s LEFT JOIN processes p ON p.id = s.process "
                       "LEFT JOIN stacks k ON k.id = s.stack LEFT JOIN frames f ON f.id = k.frame "
                       "LEFT JOIN images i ON i.id = f.image WHERE i.path IS NULL OR p.name IS "
                       "NULL OR s.event IS NULL").fetchone()[0], 0, "samples that lead nowhere")
    t.between(db.execute("SELECT count(*) FROM sessions").fetchone()[0], 0, lives, "sessions")
    db.close()
    return len(there)


def live(t, path, first, seconds, least=0):
    """Starts a writer at window `first`, and kills it this time after it has written this number of
    windows. Returns the last number that it reported as written."""
    writer = t.start(t.workload("store_writer"), path, first, 0, PROCESSES, SAMPLES,
                     stdout=subprocess.PIPE)
    said = [writer.stdout.readline().decode().rstrip("\n") for _ in range(least)]
    time.sleep(seconds)
    t.equal(writer.poll(), None, "the writer's own end")
    writer.kill()
    said += writer.stdout.read().decode().splitlines()
    writer.wait()
    # A truncated line does not count.
    whole = [line for line in said if line.startswith("window ") and line[7:].isdigit()]
    return first + len(whole)


@test
def killed_at_any_moment_at_most_the_window_under_way_is_missing(t):
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print(f"# seed {seed}")
    windows = most = 0
    for number in range(KILLS):
        path = t.path(f"store{number // LIVES}.db")
        first = 0 if number % LIVES == 0 else windows
        # From before the file exists to after several checkpoints.
        said = live(t, path, first, chance.choice((0.02, 0.1, 0.4)) * chance.random(),
                    least=number == KILLS - 1 and not most)  # on any machine, however slow
        if not path.exists() or not path.stat().st_size:
            t.equal(said, 0, "windows in a store that is not there")
            windows = 0
            continue
        if not has_tables(path):
            t.equal(said, 0, "windows in a store without tables")
            windows = 0
            continue
        windows = check_whole(t, path, number % LIVES + 1)
        t.between(windows, said, said + 1, f"windows after {said} were said to be in (kill {number})")
        most = max(most, windows)
    t.true(most, "no window was ever written")


def has_tables(path):
    db = sqlite3.connect(path)
    count = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    db.close()
    return count > 0


@test
def the_next_session_reports_a_killed_one(t):
    path = t.path("store.db")
    windows = 0
    for _ in range(3):
        live(t, path, windows, 0.1, least=2)
        windows = check_whole(t, path, 3)
    t.true(windows > 2, "too few windows")
    done = t.run(t.workload("store_writer"), path, windows + 7, 1, 1, 1)
    t.has(done.out, f"window {windows + 7}")
    db = sqlite3.connect(path)
    t.equal([ended for ended, in db.execute("SELECT ended FROM sessions ORDER BY id")],
            ["killed"] * 3 + [None], "how they ended")
    t.equal(db.execute("SELECT (start_ns - ?) / ?, (end_ns - ?) / ?, why FROM gaps",
                       (BEGIN_NS, WINDOW_NS) * 2).fetchall(),
            [(windows, windows + 7, "the measurement was killed")], "gaps")
    db.close()


@test
def a_second_writer_is_refused_while_the_first_lives(t):
    path = t.path("store.db")
    writer = t.start(t.workload("store_writer"), path, 0, 0, 1, 1, stdout=subprocess.PIPE)
    writer.stdout.readline()
    second = t.run(t.workload("store_writer"), path, 0, 1, 1, 1, status=1)
    t.has(second.err, f"process {writer.pid} already writes the measurements of here")
    writer.kill()
    writer.wait()
    t.run(t.workload("store_writer"), path, 10**6, 1, 1, 1)


def windows_on_full_disk(t, writer, word, count):
    """Reads until this number of lines with the word have come; returns the number in the last one."""
    for line in writer.stdout:
        said, number = line.decode().split()
        count -= said == word
        if not count:
            return int(number)
    return t.fail(f"the writer ended: {writer.wait()}")


@test
def recording_continues_when_a_full_disk_has_space(t):
    if os.geteuid():
        t.skip("only root mounts a disk of its own")
    disk, copy = t.path("disk"), t.path("copy.db")
    disk.mkdir()
    writer = t.start("unshare", "-m", "sh", "-c",
                     'mount -t tmpfs -o size=3m,mode=700 none "$1" || exit 77; '
                     'head -c 1500000 /dev/zero > "$1/other"; exec "$2" "$1/store.db" 0 0 200 40',
                     "sh", disk, t.workload("store_writer"), stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE)
    first = writer.stdout.readline()
    if not first and writer.wait() == 77:
        t.skip("no mount namespaces here")
    full = windows_on_full_disk(t, writer, "full", 5)
    t.true(full > 5, "the disk was full too soon")
    inside = f"/proc/{writer.pid}/root{disk}"
    os.unlink(f"{inside}/other")
    again = windows_on_full_disk(t, writer, "window", 3)
    t.true(again > full, "windows came before there was room")
    os.kill(writer.pid, signal.SIGSTOP)
    t.until(lambda: ") T " in pathlib.Path(f"/proc/{writer.pid}/stat").read_text(), "it stands")
    for suffix in ("", "-wal"):
        shutil.copy(f"{inside}/store.db{suffix}", f"{copy}{suffix}")
    writer.kill()
    db = sqlite3.connect(copy)
    t.equal(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "integrity_check")
    there = numbers(db)
    t.true(set(range(again - 2, again + 1)) <= set(there), f"no window after {full}: {there[-5:]}")
    # All windows from before the disk was full, and none from that time.
    gone = sorted(set(range(again)) - set(there))
    t.equal(there, sorted(there), "order")
    t.true(len(gone) >= 5 and full in gone, f"missing are {gone}, not those up to {full}")
    t.equal(db.execute("SELECT count(DISTINCT instance) - count(*) FROM processes WHERE name = "
                       "'cc0'").fetchone()[0], 0, "numbers given twice")
    db.close()


main()
