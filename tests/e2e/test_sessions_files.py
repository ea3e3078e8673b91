# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions in the background: full disks, deleted and moved files, stores and snapshots. docs/SESSIONS.md
lists these cases in a table."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

from harness import ASSAY, main, run, test
from sessions import says, sessions


def place_of_a_disk(t):
    """A mount point for a small file system."""
    t.need("unshare", "mount")
    disk = t.path("disk")
    disk.mkdir()
    if run("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", disk, status=None).status:
        t.skip("no file system may be mounted here")
    return disk


@test
def a_full_disk_ends_a_session_and_the_written_part_is_kept(t):
    disk = place_of_a_disk(t)
    with sessions(t) as s:
        script = t.write("full.sh", """
            mount -t tmpfs -o size=4m tmpfs "$1" && cd "$1" || exit 9
            $ASSAY start -F 10000 -o full.data || exit 8
            head -c 3000000 /dev/zero > other  # what runs on the machine takes a part of the rest
            while $ASSAY status >/dev/null; do sleep 0.1; done  # the last one reports the end
            echo told
            $ASSAY start -F 10000 -o more.data; echo "start $?"
            $ASSAY stop; echo "stop $?"
            rm other; $ASSAY start -F 10000 -o more.data || exit 7
            head -c 4000000 /dev/zero > other 2>/dev/null
            while [ ! -e "$XDG_RUNTIME_DIR/assay/default.ended" ]; do sleep 0.1; done
            $ASSAY stop; echo "stop $?"
            rm other more.data; $ASSAY report --json full.data > "$2" || exit 6
            $ASSAY start --ring --name ring || exit 5
            echo older > snap; head -c 4000000 /dev/zero > other 2>/dev/null
            $ASSAY snapshot --name ring -o snap; echo "snapshot $?" $(ls) $(cat snap)
            rm other full.data; $ASSAY stop --name ring >/dev/null; echo "stop $?"
            """)
        result = run("unshare", "-m", "sh", script, disk, t.path("report"),
                     env={**s.env, "ASSAY": ASSAY})
        full = f"cannot write to {disk}/full.data: No space left on device"
        more = f"cannot write to {disk}/more.data: No space left on device"
        t.has(result.out, "told\nstart 1\nstop 1\n", "exit statuses")
        # No part of the snapshot remains, and the earlier file is unchanged.
        t.true(result.out.endswith("stop 1\nsnapshot 1 full.data other snap older\nstop 0\n"), result)
        t.has(result.err, f"assay: snapshot: cannot write to {disk}/snap: No space left on device\n")
        t.has(result.err, "assay: start: ")
        t.has(result.err, "assay: stop: no session 'default' is running", "after the message")
        t.has(result.out, "Session default: ended by an error\n")
        t.has(result.err, f"assay: stop: the session 'default' ended by an error: {more}")
        t.has(re.sub(r"\n +", " ", result.out), f"error       {more}")
        t.lacks(result.err, full, "the message of status again")
        t.true(t.json(t.path("report").read_text())["samples"] > 0, "samples until then")


@test
def windows_lost_to_a_full_disk_are_reported_and_counted(t):
    disk = place_of_a_disk(t)
    with sessions(t) as s:
        script = t.write("full.sh", """
            mount -t tmpfs -o size=4m,mode=700 tmpfs "$1" && cd "$1" || exit 9
            $ASSAY start --store ./full.db --window 1 || exit 8
            head -c 4000000 /dev/zero > other 2>/dev/null
            until $ASSAY status | grep -q "^note  *[1-9].* not in"; do sleep 0.1; done
            rm other; $ASSAY stop --json || exit 7
            $ASSAY sql full.db "select total(samples) from samples" --format csv || exit 6
            """)
        result = run("unshare", "-m", "sh", script, disk, env={**s.env, "ASSAY": ASSAY})
        told, stored = result.out.rstrip().rsplit("\n", 2)[0::2]
        account = t.json(told)
        lost = re.search(r"(\d+) windows? with (\d+) samples (is|are) not in the store, which has "
                         "a gap there; the last because the disk was full", " ".join(account["notes"]))
        t.true(lost and int(lost[2]) > 0, account["notes"])
        t.equal(float(stored) + int(lost[2]), account["samples"], "stored and lost samples")


@test
def a_file_that_was_deleted_is_not_reported_as_written(t):
    gone = "was moved, deleted or replaced"
    with sessions(t) as s:
        data = t.path("a.data")
        s("start", "-o", "a.data")
        t.lacks(" ".join(s.json()["notes"]), gone, "notes")
        data.unlink()
        t.has(s.json()["notes"][-1], f"{data} {gone}", "what status notes")
        s("snapshot", "-o", "b.data")
        ended = s("stop", status=1)
        t.has(ended.err, f"assay: stop: the session 'default' ended by an error: {data} {gone}")
        t.has(ended.out, f"written     0 bytes in {data}\n")
        t.lacks(ended.out, "Read it with")
        t.true(t.report(t.path("b.data"))["samples"] > 0, "samples of the snapshot")
        # A session whose store was replaced ends at the next window.
        s("start", "--store", "./a.db", "--window", 1)
        t.path("a.db").rename(t.path("other.db"))
        t.path("a.db").touch()
        t.until(lambda: s.left() == ["default.ended"], "the session has ended")
        t.has(s.json(status=1)["error"], f"{t.path('a.db')} {gone}", "the error")


@test
def a_recording_that_was_deleted_is_not_reported_as_written(t):
    data, other = t.path("a.data"), t.path("b.data")
    for what in (f"rm {data}", f"mv {data} {other}; echo other > {data}"):
        result = t.assay("record", "-o", data, "--", "sh", "-c", what, status=1)
        t.equal(result.err, f"assay: record: {data} was moved, deleted or replaced while it was "
                            "written: the recording is no longer at that path\n", what)
    t.report(other)  # the renamed file is complete


@test
def a_session_that_does_not_answer_is_reported_with_the_way_out(t):
    with sessions(t) as s:
        name = f"stopped-{os.getpid()}"
        s("start", "-o", "a.data", "--name", name)
        pid = s.pid(name)
        os.kill(pid, signal.SIGSTOP)
        sockets = lambda: pathlib.Path("/proc/net/unix").read_text(errors="replace").count(f"/{name}.sock\n")
        quiet = sockets()
        env = {**os.environ, **s.env}
        asked = {"status": "", "snapshot": "; the snapshot was requested, and follows when the session continues",
                 "stop": "; the end was requested, and follows when the session continues"}
        # The commands run at the same time, since each waits for some seconds.
        waiting = {}
        for n, words in enumerate((("status", "--json"), ("snapshot", "-o", "b.data"), ("stop",))):
            waiting[words[0]] = t.start(ASSAY, *words, "--name", name, env=env, cwd=t.directory,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            t.until(lambda: sockets() > quiet + n, f"{words} has connected")
        for command, comes in asked.items():
            out, err = waiting[command].communicate()
            t.equal(waiting[command].returncode, 1, f"exit status of {command}")
            t.true(re.fullmatch(
                rf"assay: {command}: the session '{name}' \(process {pid}\) does not answer, for "
                rf"\d+ s: it was stopped by a signal \(state T in /proc/{pid}/stat\){comes}; 'kill "
                rf"-CONT {pid}' continues it, 'kill -KILL {pid}' ends it, and what was written until "
                r"then is kept\n", err.decode()), f"{command} says {err.decode()}")
            if command == "status":
                t.equal(t.json(out.decode())["sessions"], [], "status --json")
        # The session executes the pending stop, and the next status command gets its final account.
        os.kill(pid, signal.SIGCONT)
        t.until(lambda: s.left() == [f"{name}.ended"], "it has ended")
        t.equal(s.json(name=name, status=1)["end"], "stopped", "the end")
        for data in ("a.data", "b.data"):
            t.report(t.path(data))


def windows(db):
    """The tables of a copy of the store, since a reader would create files beside it."""
    with tempfile.TemporaryDirectory() as directory:
        for end in ("", "-wal"):
            if os.path.exists(f"{db}{end}"):
                shutil.copy(f"{db}{end}", f"{directory}/copy.db{end}")
        with contextlib.closing(sqlite3.connect(f"{directory}/copy.db")) as copy:
            return copy.execute("SELECT count(*) FROM window").fetchone()[0]


@test
def a_store_is_not_moved(t):
    with sessions(t) as s:
        db, data = t.path("a.db"), t.path("a.data")
        t.assay("record", "-q", "-o", data, "--", "true")
        export = ("export", "--to", "sqlite", "-o", db, data)
        s("start", "--store", db, "--window", 1)
        says(t, s(*export, status=1), f"assay: export: {db} is being written by another process: "
             "name another file, or end that one first", "export over a store that grows")
        t.until(lambda: s.json()["bytes"] and windows(db) > 1, "there are windows")
        before = windows(db)
        s.end(signal.SIGKILL)
        t.has(s(*export, status=1).err, "a.db is a store, and is not replaced", "after its writer died")
        t.true(windows(db) >= before, "windows of the store")


@test
def the_log_of_a_database_is_not_used_for_another(t):
    db, data = t.path("a.db"), t.path("a.data")
    t.assay("record", "-q", "-o", data, "--", "true")
    # Its writer dies before it has copied the log into the database.
    t.run(sys.executable, "-c", "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
          "db.execute('PRAGMA journal_mode = WAL'); db.execute('CREATE TABLE t AS SELECT 7 AS a'); db.commit(); os._exit(0)", db)
    t.true(t.path("a.db-wal").stat().st_size > 0, "it died with a log")
    t.assay("export", "--to", "sqlite", "-o", db, data)
    with contextlib.closing(sqlite3.connect(db)) as new:
        t.equal(new.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "the new file")
        t.true(new.execute("SELECT count(*) FROM samples").fetchone()[0] >= 0, "its table")
    with contextlib.closing(sqlite3.connect(t.path("a.db.old"))) as old:
        t.equal(old.execute("SELECT a FROM t").fetchall(), [(7,)], "the database that became .old")


@test
def records_that_a_flight_recorder_cannot_write_are_not_counted_as_written(t):
    with sessions(t) as s:
        t.path("there").mkdir()
        s("start", "--ring", "-o", "there/a.data")
        t.path("there").rmdir()
        ended = s("stop", status=1)
        t.has(ended.err, "the records in memory are lost")
        t.has(ended.out, "\nwritten     nothing\n")


@test
def in_the_foreground_nothing_is_said_and_sigterm_ends_it(t):
    with sessions(t) as s:
        env = {**os.environ, **s.env}
        for how in ("signal", "stop"):
            with open(t.path("said"), "wb") as said:
                process = t.start(ASSAY, "start", "--foreground", "-o", t.path("x.data"), stdout=said,
                                  stderr=said, env=env, cwd=t.directory)
            t.until(lambda: s("status", status=None).status == 0, "it runs")
            t.equal(s.pid(), process.pid, "its process")
            if how == "signal":
                process.send_signal(signal.SIGTERM)
            else:
                s("stop")
            t.equal(t.wait(process), 0, "exit status")
            t.equal(t.path("said").read_text(), "", "what it said")
            t.equal(s.left(), [], "what is left in the place")
            t.report(t.path("x.data"))
        result = s("start", "--foreground", "-e", "nonsense", status=1)
        t.has(result.err, "assay: start: event 'nonsense' is unknown")


@test
def a_snapshot_is_a_recording_and_the_session_continues(t):
    with sessions(t) as s:
        for kind in ((), ("--ring=8M",)):
            s("start", *kind)
            result = s("snapshot", "-o", "one.data")
            t.equal(result.out, f"Snapshot in {t.path('one.data')}; read it with 'assay report "
                                f"{t.path('one.data')}'.\n", "standard output of snapshot")
            first = t.report(t.path("one.data"))["ledger"]["elapsed_ns"]
            t.equal(s("snapshot", "-o", t.path("one.data")).err, "", "the second one")
            t.true(t.path("one.data.old").exists(), "the older one is kept")
            t.true(t.report(t.path("one.data"))["ledger"]["elapsed_ns"] > first, "time went on")
            s("snapshot")
            os.kill(s.pid(), signal.SIGUSR2)
            named = lambda: [p for p in os.listdir(t.directory)
                             if re.fullmatch(r"perf\.data-\d{8}T\d{6}(-2)?", p)]
            t.until(lambda: len(named()) == 2, "snapshots with names of their own")
            account = t.until(lambda: (a := s.json())["snapshots"] == 4 and a, "all are counted")
            t.has(" ".join(account["notes"]), "a signal came: snapshot ", "notes")
            bad = s("snapshot", "-o", t.path("no/such"), status=1)
            t.true(bad.err.startswith("assay: snapshot: "), bad)
            t.equal(s.json()["state"], "running", "it goes on")
            s("stop")
            t.true(t.report(t.path("perf.data"))["ledger"]["closed"], "the recording at the end")
            for name in named():
                t.report(t.path(name))
                t.path(name).unlink()


@test
def a_store_is_written_until_it_is_stopped(t):
    with sessions(t) as s:
        data = t.path("day.db")
        started = s("start", "--store", data, "--window", 1)
        t.has(started.err, f"sampling the whole machine at 97 Hz into the store {data}, as process ")
        run(t.workload("loop"), "200")
        account = t.json(s("stop", "--json").out)
        t.equal(account["kind"], "store", "kind")
        t.equal(account["bytes"], os.stat(data).st_size, "bytes written are the file's")
        report = t.report("--store", data)
        t.equal(sum(e["samples"] for e in report["events"]), account["samples"], "samples")
        steal = s("sql", "--format", "csv", data, "SELECT min(has_steal) FROM ledger").out
        t.equal(steal.split(), ["min(has_steal)", "1"], "every window knows what was stolen")
        s("start", "--store", data)
        s.end(signal.SIGKILL)
        t.has(s("stop", status=1).err, f"the recording up to its last window is in {data}: "
              f"'assay report --store {data}'")
        t.report("--store", data)


main()
