# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions in the background: start, status, snapshot and stop, from several shells, and every
error that one of them can meet, with its message and its exit status. docs/SESSIONS.md lists these
cases in a table."""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile

from harness import ASSAY, main, run, test
from time_limit import limit

OTHER_USER = 65534
LOOP = ("sh", "-c", "while :; do :; done")


class Sessions:
    """The sessions of a user in a directory of the test; their processes end with the test."""

    def __init__(self, t):
        self.t = t
        self.env = {**t.runtime(), "TZ": "UTC"}
        self.runtime = t.path("run")
        self.place = self.runtime / "assay"

    def __call__(self, *words, status=0, cwd=None, **options):
        return run(ASSAY, *words, status=status, cwd=cwd or self.t.directory, env=self.env, **options)

    def json(self, *words, name="default", status=0):
        sessions = self.t.json(self("status", "--json", "--name", name, *words, status=status).out)
        return sessions["sessions"][0] if sessions["sessions"] else None

    def pid(self, name="default"):
        found = re.search(r"^pid (\d+)$", (self.place / f"{name}.lock").read_text(), re.M)
        return int(found[1]) if found else 0

    def end(self, number, name="default"):
        """Sends the session's process a signal, and waits until it has exited."""
        pid = self.pid(name)
        os.kill(pid, number)
        self.t.until(lambda: is_gone(pid), f"process {pid} is gone")
        return pid

    def left(self):
        return sorted(p.name for p in self.place.iterdir()) if self.place.exists() else []

    def clean(self):
        for lock in self.place.glob("*.lock"):
            pid = self.pid(lock.name[:-5])
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it has exited
                if pid and "assay" in pathlib.Path(f"/proc/{pid}/comm").read_text():
                    os.kill(pid, signal.SIGKILL)


def is_gone(pid):
    try:
        return " Z " in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the process exited between open and read
        return True


@contextlib.contextmanager
def sessions(t):
    s = Sessions(t)
    try:
        yield s
    finally:
        s.clean()


DATE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


def says(t, result, pattern, what):
    """Standard error is this line only; leading blanks are part of it."""
    if not re.fullmatch(pattern + "\n", result.err):
        t.fail(f"{what} should be {pattern!r}: {result}")


@test
def a_session_is_started_in_one_shell_and_stopped_in_another(t):
    with sessions(t) as s:
        here, there = t.path("here"), t.path("there")
        here.mkdir()
        there.mkdir()
        started = s("start", cwd=here)
        data = here / "perf.data"
        says(t, started, rf"assay: sampling the whole machine at 997 Hz into {data}, as process "
                         r"\d+; 'assay stop' ends it", "start")
        t.equal(started.out, "", "standard output of start")
        t.equal(os.getpgid(s.pid()), s.pid(), "the process group of the session")
        t.equal(os.readlink(f"/proc/{s.pid()}/cwd"), "/", "its directory")
        t.equal({os.readlink(f"/proc/{s.pid()}/fd/{n}") for n in range(3)},
                {"/dev/null", f"{s.place}/default.log"}, "its standard streams")
        for path in (s.place, *s.place.iterdir()):
            t.equal(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, f"others' rights to {path}")
        run(t.workload("loop"), "200")
        running = s.json()
        t.equal((running["state"], running["output"]), ("running", str(data)), "status")
        t.equal(s("status", cwd=there).err, "", "standard error of status")
        stopped = s("stop", "--json", cwd=there)
        t.equal(stopped.err, "", "standard error of stop")
        account = t.json(stopped.out)
        t.equal((account["state"], account["end"]), ("ended", "stopped"), "the end")
        t.equal(s.left(), [], "what is left in the place")
        # The session's account equals the account in the report; the file is complete.
        report = t.report(data)
        ticks, told = account["ticks"], report["ledger"]["ticks"]
        t.equal(ticks["all"], sum(ticks[k] for k in ("user", "system", "idle", "unobserved")),
                "all ticks")
        t.equal(account["samples"], sum(e["samples"] for e in report["events"]), "samples")
        # Sampling begins and ends within a tick, so the first and the last tick of a CPU may
        # differ.
        cpus = max(2, len(account["cpus"]))
        t.near(ticks["user"], told["user"], 2 * cpus, "ticks in user mode")
        t.near(ticks["system"], told["kernel"] + told["irq"], 2 * cpus, "ticks in the kernel")
        t.near(ticks["all"], told["due"], 4 * cpus, "ticks that were due")
        t.true(ticks["all"] >= running["ticks"]["all"] > 0, "ticks grow")
        t.between(running["read_gap_max_ns"], 1, running["elapsed_ns"], "the longest gap")
        t.true(account["read_gap_max_ns"] >= running["read_gap_max_ns"], "it does not shrink")
        t.equal(account["elapsed_ns"], report["ledger"]["elapsed_ns"], "elapsed")
        t.equal(account["own_cpu_ns"], report["observer"]["cpu_ns"], "own CPU time")
        t.equal([c["used_max_bytes"] for c in account["cpus"]],
                [b["used_max"] for b in report["recordings"][0]["buffers"]], "buffers at most")
        t.equal(account["dropped_records"], report["recordings"][0]["lost_records"], "dropped")


@test
def stop_prints_the_account_where_it_was_typed(t):
    with sessions(t) as s:
        s("start", "-F", 500, "-o", "x.data")
        out = s("stop").out
        t.has(out, "Session default: stopped\n")
        t.has(out, "\nsampled     the whole machine at 500 Hz\n")
        for pattern in (rf"elapsed     {DATE} to {DATE}, [\d.]+ m?s",
                        r"ticks       [\d,]+: [\d,]+ user, [\d,]+ system, [\d,]+ idle, [\d,]+ unobserved",
                        r"samples     [\d,]+",
                        r"dropped     0 records",
                        rf"written     [\d.]+ [KM]B in {t.path('x.data')}"):
            t.true(re.search(f"^{pattern}$", out, re.M), f"{pattern!r} is not in {out}")
        for pattern in (r"buffers     at most [\d.]+ ([KM]B|bytes) of .* used \(.* %, CPU \d+\)",
                        r"cost        [\d.]+ [mu]?s of CPU time by the session itself \("):
            t.true(re.search(f"^{pattern}", out, re.M), f"{pattern!r} is not in {out}")
        t.true(out.endswith(f"\nRead it with 'assay report {t.path('x.data')}'.\n"), out)


@test
def what_was_never_started_is_not_stopped(t):
    with sessions(t) as s:
        for command in ("stop", "snapshot"):
            says(t, s(command, status=1), f"assay: {command}: no session 'default' is running; "
                 "'assay start' starts one", command)
        says(t, s("status", status=1), "assay: status: no session is running; 'assay start' starts "
             "one", "status")
        t.equal(t.json(s("status", "--json", status=1).out)["sessions"], [], "status --json")
        s("start", "--name", "day")
        says(t, s("stop", status=1), "assay: stop: no session 'default' is running; there is 'day': "
             "choose with --name", "stop beside another one")
        s("stop", "--name", "day")


@test
def sessions_of_different_names_run_at_the_same_time(t):
    with sessions(t) as s:
        s("start", "-o", "a.data")
        again = s("start", "-o", "b.data", status=1)
        says(t, again, rf"assay: start: a session 'default' is running since {DATE}, as process "
             rf"{s.pid()}, into {t.path('a.data')}; end it with 'assay stop', or choose another "
             "name with --name", "the second start")
        t.true(not t.path("b.data").exists(), "the second one touches no file")
        s("start", "--name", "b-2", "-o", "b.data")
        all_of_them = t.json(s("status", "--json").out)["sessions"]
        t.equal([x["name"] for x in all_of_them], ["b-2", "default"], "names")
        t.equal([x["output"] for x in all_of_them], [str(t.path("b.data")), str(t.path("a.data"))],
                "files")
        says(t, s("start", "--name", "b-2", status=1), rf"assay: start: a session 'b-2' is running "
             rf".*; end it with 'assay stop --name b-2', or .*", "the second start of a name")
        same = s("start", "--name", "c", "-o", "a.data", status=1)
        says(t, same, f"assay: start: the session 'default' writes {t.path('a.data')}; name another file "
             "with -o", "a second one into the same file")
        own = s("snapshot", "-o", "a.data", status=1)
        says(t, own, f"assay: snapshot: {t.path('a.data')} is what the session itself writes; name "
             "another", "a snapshot over the recording")
        s("stop", "--name", "b-2")
        t.equal(s.json()["state"], "running", "the other one")
        s("stop")
        for data in ("a.data", "b.data"):
            t.report(t.path(data))


@test
def only_one_of_several_concurrent_starts_succeeds_and_stop_frees_the_name(t):
    with sessions(t) as s:
        env = {**os.environ, **s.env}
        for _ in range(3):
            crowd = [t.start(ASSAY, "start", "-o", f"{n}.data", env=env, cwd=t.directory,
                             stderr=subprocess.PIPE) for n in range(6)]
            said = [(p.communicate()[1].decode(), p.returncode) for p in crowd]
            t.equal(sorted(status for _, status in said), [0] + 5 * [1], f"exit statuses of {said}")
            for text, status in said:
                t.true(re.match("assay: sampling " if not status else
                                "assay: start: a session 'default' is ", text), text)
            pair = [t.start(ASSAY, "stop", env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    for _ in range(2)]
            outs = [(*(x.decode() for x in p.communicate()), p.returncode) for p in pair]
            t.true(0 in [status for *_, status in outs], outs)
            for out, err, status in outs:
                t.has(out or err, "no session 'default' is running" if status
                      else "Session default: stopped\n")
            t.equal(s.left(), [], "what is left in the place")
        for _ in range(5):
            s("start")
            s("stop")


@test
def a_failed_start_prints_the_reason_and_leaves_no_files(t):
    with sessions(t) as s:
        t.write("file", "")
        for words, status, text in (
                (("ls",), 2, "'ls': start takes no COMMAND"),
                (("-F", "x"), 2, "-F needs a number of samples per second or max"),
                (("-F", 9, "-c", 9), 2, "-F and -c exclude each other"),
                (("--memory", -1), 2, "--memory must be above 0 and at most "),
                (("--memory", 0), 2, "--memory must be above 0 and at most "),
                (("--memory", "1e300"), 2, "(half of this machine's memory)"),
                (("--budget", 0), 2, "--budget must be a share"),
                (("--budget", -1), 2, "--budget must be a share"),
                (("--ring", "64M"), 2, "'64M': the size is written --ring=64M"),
                (("--ring", "--snapshots", 0), 2, "--snapshots must be from 1 to"),
                (("--name", "../x"), 2, "'../x' is not a valid session name"),
                (("--name", ".x"), 2, "is not a valid session name"),
                (("--name", "a" * 65), 2, "is not a valid session name"),
                (("--ring=5x",), 2, "--ring needs a size or a time"),
                (("--when", "moon>1"), 2, "--when: 'moon>1'"),
                (("--window", 5), 2, "--window, --keep and --keep-size are for --store only"),
                (("--store", "x.db", "-o", "x"), 2, "--store names the file"),
                (("--store", "x.db", "--ring"), 2, "exclude each other"),
                (("--store", "x.db", "--keep", "long"), 2, "--keep needs a time"),
                (("-p", 1 << 30), 1, "there is no process 1073741824"),
                (("-o", t.path("no/such")), 1, "/no/such cannot be written: "),
                (("-o", t.directory), 1, "is a directory"),
                (("-e", "nonsense"), 1, "event 'nonsense' is unknown")):
            result = s("start", *words, status=status)
            t.true(result.err.startswith("assay: start: ") and result.err.count("\n") == 1, result)
            t.has(result.err, text, f"the error of {words}")
            t.equal(s.left(), [], f"what start {words} leaves")
        t.equal(sorted(os.listdir(t.directory)), ["file", "run"], "files")


@test
def a_session_that_was_killed_is_found_by_the_next_command(t):
    with sessions(t) as s:
        def killed(command, status):
            s("start")
            pid = s.end(signal.SIGKILL)
            t.equal(s.left(), ["default.lock", "default.log", "default.sock"], "what it leaves")
            result = s(command, status=status)
            first, _, rest = result.err.partition("\n")
            t.true(re.fullmatch(
                rf"assay: the session 'default' \(process {pid}, since {DATE}\) was killed; "
                rf"the recording up to its last flush is in {t.path('perf.data')}: "
                rf"'assay report {t.path('perf.data')}'", first), f"{command}: {result}")
            return rest

        for command in ("stop", "status", "snapshot"):
            t.equal(killed(command, 1), "", f"what else {command} says")
            t.equal(s.left(), [], f"what {command} leaves of it")
            t.true(t.report(t.path("perf.data"))["recordings"], "it is readable")
        rest = killed("start", 0)
        t.true(rest.startswith(f"assay: the earlier recording is in {t.path('perf.data')}.old now\n"
                               "assay: sampling the whole machine "), rest)
        t.report(t.path("perf.data.old"))
        s("stop")
        s("start", "--ring")
        s.end(signal.SIGKILL)
        t.has(s("stop", status=1).err, " was killed; the records in memory are lost, snapshots are "
              "where they were written\n")
        t.has(s("stop", status=1).err, "no session 'default' is running", "stop once more")


@test
def what_a_session_writes_is_not_moved_under_its_feet(t):
    with sessions(t) as s:
        data = t.path("perf.data")
        there = t.path("there")
        there.symlink_to(t.directory)
        elsewhere = t.path("elsewhere")
        elsewhere.mkdir(mode=0o700)

        def refused(words, text, status=1, **options):
            before = data.stat().st_ino
            result = s(*words, status=status, **options)
            says(t, result, rf"assay: {words[0]}: {text}", words)
            t.equal(data.stat().st_ino, before, f"the file after {words}")
            t.true(not t.path("perf.data.old").exists(), f"{words} moved it")

        s("start", "--name", "day")
        pid = s.pid("day")
        named = (rf"the session 'day' \(process {pid}, since {DATE}\) writes {data}; name another "
                 r"file with -o, or end it with 'assay stop --name day'")
        refused(("record", "--", "true"), named)
        refused(("record", "-a", "--", "true"), named, cwd=there)
        refused(("start",), rf"the session 'day' writes {data}; name another file with -o", cwd=there)
        refused(("snapshot", "--name", "day", "-o", there / "perf.data"),
                rf"{there}/perf.data is what the session itself writes; name another")
        # A user who cannot see the session gets an error that the file is being written.
        for words in (("record", "--", "true"), ("start",)):
            result = run(ASSAY, *words, cwd=t.directory, status=1,
                         env={**s.env, "XDG_RUNTIME_DIR": str(elsewhere)})
            t.has(result.err, f"perf.data is being written by process {pid}: name another file, or "
                              "end that one first\n")
        t.true(not t.path("perf.data.old").exists(), "it was moved")
        t.report(data)
        # After its process is killed, the file is an ordinary file.
        s.end(signal.SIGKILL, "day")
        result = s("record", "--", "true")
        t.has(result.err, f"flush is in {data}: 'assay report {data}'\n"
                          "assay: that recording becomes perf.data.old\n")
        t.equal(s.left(), [], "what is left of it")
        t.report(t.path("perf.data.old"))
        s("record", "-q", "--", "true")  # replaces a file that no session writes


@test
def an_incomplete_snapshot_never_has_the_final_name(t):
    with sessions(t) as s:
        s("start", "--ring")
        pid = s.pid()
        t.until(lambda: s.json()["bytes"] > 200_000, "there is something to write")
        t.write("snap", "older")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
        t.has(s("snapshot", "-o", "snap", status=1).err, "ulimit -f", "the error")
        t.equal(t.path("snap").read_text(), "older", "what was there before")
        t.equal(sorted(p.name for p in t.directory.glob("snap*")), ["snap"], "files")
        # The files of a session that is killed while it writes a snapshot.
        os.kill(pid, signal.SIGKILL)
        t.until(lambda: is_gone(pid), "its process is gone")
        t.write("run/assay/default.part", str(t.path("snap")))
        t.write(f"snap.{pid}.part", "half")
        err = s("status", status=1).err
        t.has(err, f"the unfinished snapshot {t.path('snap')} was deleted", "the message")
        t.equal(t.path("snap").read_text(), "older", "what was there before")
        t.equal(sorted(p.name for p in t.directory.glob("snap*")), ["snap"], "files")
        t.equal(s.left(), [], "what is left of it")


@test
def buffered_records_are_kept_if_the_file_cannot_be_written(t):
    with sessions(t) as s:
        data = t.path("perf.data")

        def stopped_over(what):
            t.until(lambda: s.json()["samples"] > 0, "samples")
            result = s("stop", status=1)
            elsewhere = re.search(r"the records in memory were written to (\S+)\n", result.err)
            t.true(elsewhere and elsewhere[1].startswith(f"{data}-"), f"over {what}: {result}")
            t.has(result.out, "\nwritten     nothing\n", f"over {what}")
            t.true(t.report(elsewhere[1])["samples"] > 0, "samples")

        s("start", "--ring")
        os.mkfifo(data)
        stopped_over("a FIFO")
        t.true(stat.S_ISFIFO(data.stat().st_mode), "the FIFO is there still")
        data.unlink()
        # Another process records into perf.data.
        s("start", "--ring")
        recorder = t.start(ASSAY, "record", "-q", "--", *LOOP, cwd=t.directory, env=s.env)
        t.until(data.exists, "the file is being written")
        before = data.stat().st_ino
        stopped_over("a recording under way")
        t.equal((data.stat().st_ino, t.path("perf.data.old").exists()), (before, False), "that one")
        # A signal before sampling begins would end the recorder without samples.
        t.until(lambda: data.stat().st_size > 16384, "it has samples")
        os.kill(recorder.pid, signal.SIGINT)
        recorder.wait()
        t.true(t.report(data)["samples"] > 0, "samples of that one")


@test
def a_signal_ends_it_as_stop_does(t):
    with sessions(t) as s:
        for number in (signal.SIGTERM, signal.SIGINT):
            s("start")
            s.end(number)
            t.equal(s.left(), ["default.ended"], "what it leaves")
            result = s("stop")
            t.has(result.out, "Session default: ended by a signal\n")
            t.report(t.path("perf.data"))
            t.has(s("stop", status=1).err, "no session 'default' is running", "told once")
        s("start")
        s.end(signal.SIGTERM)
        result = s("start")
        t.true(re.match(rf"assay: the session 'default' \(process \d+, since {DATE}\) had ended by a "
                        rf"signal; what it recorded is in {t.path('perf.data')}: 'assay report "
                        rf"{t.path('perf.data')}'\nassay: the earlier recording is in ", result.err),
               str(result))
        s("stop")


@test
def a_session_ends_with_the_processes_that_it_samples(t):
    with sessions(t) as s:
        loop = t.start(*LOOP)
        pid = s("start", "-p", loop.pid) and s.pid()
        t.until(lambda: s.json()["samples"] > 20, "samples of the process")
        os.killpg(loop.pid, signal.SIGKILL)
        loop.wait()
        t.until(lambda: s.left() == ["default.ended"], "the session has ended")
        t.until(lambda: is_gone(pid), "its process is gone too")
        account = s.json(status=1)
        t.equal((account["end"], account["error"]), ("processes gone", None), "why")
        t.equal(account["sampled"], f"process {loop.pid} at 997 Hz", "what it sampled")
        report = t.report(t.path("perf.data"))
        told = report["ledger"]["ticks"]
        t.equal(account["ticks"], {"all": told["all"], "user": told["user"], "idle": None,
                                   "system": told["kernel"] + told["irq"], "unobserved": None},
                "ticks")
        t.true(loop.pid in {p["pid"] for p in report["processes"]}, "the process is in it")


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
            head -c 3800000 /dev/zero > other
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
                         "a gap there; the last because the disk was full", account["notes"][-1])
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
        sockets = lambda: pathlib.Path("/proc/net/unix").read_text().count(f"/{name}.sock\n")
        quiet = sockets()
        env = {**os.environ, **s.env}
        asked = {"status": "", "snapshot": "; the snapshot is asked for, and comes when it goes on",
                 "stop": "; the end is asked for, and comes when it goes on"}
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
                rf"-CONT {pid}' has it go on, 'kill -KILL {pid}' ends it, and what was written until "
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
def a_store_in_use_is_not_moved_and_its_log_is_not_used_for_another(t):
    with sessions(t) as s:
        db, data = t.path("a.db"), t.path("a.data")
        t.assay("record", "-q", "-o", data, "--", "true")
        export = ("export", "--to", "sqlite", "-o", db, data)
        s("start", "--store", db, "--window", 1)
        says(t, s(*export, status=1), f"assay: export: {db} is being written by another process: "
             "name another file, or end that one first", "export over a store that grows")
        t.until(lambda: s.json()["bytes"] and windows(db) > 1, "there are windows")
        before = windows(db)
        # Data in the log that its writer had not copied into the database is moved with the
        # database.
        s.end(signal.SIGKILL)
        t.true(t.path("a.db-wal").stat().st_size > 0, "it died with a log")
        s(*export)
        with contextlib.closing(sqlite3.connect(db)) as new:
            t.equal(new.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "the new file")
            t.true(new.execute("SELECT count(*) FROM samples").fetchone()[0] >= 0, "its table")
        t.true(windows(t.path("a.db.old")) >= before, "windows of the store that became .old")


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


def speak(path, bytes):
    """A client without assay."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(str(path))  # waits while the queue is full
    peer.settimeout(limit(20))
    if bytes:
        peer.sendall(bytes)
    return peer


def hear(peer):
    text = b""
    try:
        while piece := peer.recv(65536):
            text += piece
    except ConnectionResetError:
        pass
    return text.decode()


@test
def silent_and_invalid_clients_delay_no_other(t):
    with sessions(t) as s:
        s("start")
        where = s.place / "default.sock"
        silent = [speak(where, b"assay-session 1\nver" if n % 2 else b"") for n in range(60)]
        before = s.json()
        t.equal(before["state"], "running", "status among silent clients")
        for sent, reply in ((b"assay-session 1\nverb dance\nend\n", "that cannot be a verb"),
                            (b"assay-session 7\nend\n", "it speaks version 7"),
                            (b"GET / HTTP/1.1\n\nend\n", "no message of an assay session"),
                            (b"assay-session 1\nverb snapshot\noutput a\nend\n", "is not absolute"),
                            (b"x" * 20000, "longer than 16384 bytes")):
            t.has(hear(speak(where, sent)), reply, f"the answer to {sent[:40]}")
        hasty = speak(where, b"assay-session 1\nverb status\nend\n")
        hasty.close()
        t.until(lambda: s.json()["samples"] > before["samples"], "sampling goes on")
        s("stop")
        for peer in silent:
            peer.close()


@test
def a_client_that_stops_and_exits_leaves_the_account_for_the_next(t):
    with sessions(t) as s:
        s("start")
        speak(s.place / "default.sock", b"assay-session 1\nverb stop\nend\n").close()
        t.until(lambda: s.left() == ["default.ended"], "the session has ended")
        result = s("stop")
        t.has(result.out, "Session default: stopped\n")


@test
def another_user_is_not_heard(t):
    if os.getuid():
        t.skip("it takes root to be another user")
    with sessions(t) as s:
        s("start")
        where = s.place / "default.sock"
        # The permissions allow everything; the session still checks the user.
        for path in (t.directory, s.runtime, s.place):
            path.chmod(0o755)
        where.chmod(0o777)
        script = ("import socket,sys\np=socket.socket(socket.AF_UNIX)\np.connect(sys.argv[1])\n"
                  "try:\n p.sendall(b'assay-session 1\\nverb stop\\nend\\n')\n print(p.recv(99))\n"
                  "except OSError: print(b'')\n")
        t.equal(run("python3", "-c", script, where, user=OTHER_USER, cwd="/").out, "b''\n",
                "what another user hears")
        says(t, s("status", status=1), rf"assay: status: {s.place} is open to others \(mode 755\); "
             "chmod 700 it", "a place that is open")
        s.place.chmod(0o700)
        t.equal(s.json()["state"], "running", "it was not stopped")
        s("stop")


@test
def a_place_that_is_not_ours_is_not_used(t):
    with sessions(t) as s:
        elsewhere = t.path("elsewhere")
        elsewhere.mkdir()
        s.place.symlink_to(elsewhere)
        t.has(s("start", status=1).err, f"assay: start: {s.place} is not a directory, or is a link")
        s.place.unlink()
        s.runtime.chmod(0o777)
        t.has(s("start", status=1).err, "assay: start: other users may write to the directory "
              f"{s.runtime} (mode 0777), and could put files there; set XDG_RUNTIME_DIR to a "
              "directory of yours")
        s.env["XDG_RUNTIME_DIR"] = "run"
        t.has(s("start", status=1).err, "$XDG_RUNTIME_DIR, 'run', is not an absolute path; set it to")
        s.env["XDG_RUNTIME_DIR"] = str(t.path("missing"))
        t.has(s("stop", status=1).err, "missing: No such file or directory; set it to a directory of "
              "yours")
        t.equal(os.listdir(elsewhere), [], "what was written behind the link")
        if os.getuid():
            return
        # The environment as su leaves it: root's XDG_RUNTIME_DIR for another user.
        s.env["XDG_RUNTIME_DIR"] = str(s.runtime)
        s.runtime.chmod(0o700)
        t.directory.chmod(0o755)
        program = t.path("assay")
        program.write_bytes(pathlib.Path(ASSAY).read_bytes())
        program.chmod(0o755)
        result = run(program, "start", user=OTHER_USER, cwd="/tmp", status=1, env=s.env)
        t.has(result.err, f"{s.place}: Permission denied; set XDG_RUNTIME_DIR to a directory of yours")


@test
def a_user_without_a_runtime_directory_gets_the_variable_to_set(t):
    if os.getuid() or os.path.exists(f"/run/user/{OTHER_USER}"):
        t.skip("it takes root to be a user who has none")
    program = t.path("assay")
    t.directory.chmod(0o755)
    program.write_bytes(pathlib.Path(ASSAY).read_bytes())
    program.chmod(0o755)
    for command in ("start", "stop"):
        result = run(program, command, user=OTHER_USER, cwd="/tmp", status=1,
                     env={"XDG_RUNTIME_DIR": ""})
        says(t, result, f"assay: {command}: /run/user/{OTHER_USER}: No such file or directory; set "
             r"XDG_RUNTIME_DIR to a directory of yours \(mode 700\), where sessions are found",
             command)


@test
def what_a_user_may_not_sample_is_said_at_the_start(t):
    paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    if os.getuid() or paranoid < 2:
        t.skip("it takes root to be a user, and a kernel that keeps things from one")
    with sessions(t) as s:
        program = t.path("assay")
        program.write_bytes(pathlib.Path(ASSAY).read_bytes())
        program.chmod(0o755)
        for path in (t.directory, s.runtime):
            os.chown(path, OTHER_USER, OTHER_USER)
        result = run(program, "start", "-o", t.path("x.data"), user=OTHER_USER, cwd="/", env=s.env)
        first, *rest = result.err.splitlines()
        t.true(first.startswith("assay: sampling "), result)
        t.true(any(line.startswith("assay: You may not sample the kernel: ") for line in rest), result)
        t.equal(t.path("x.data").stat().st_uid, OTHER_USER, "whose file it is")
        account = t.json(run(program, "stop", "--json", user=OTHER_USER, cwd="/", env=s.env).out)
        t.equal(["assay: " + note for note in account["notes"]], rest, "the account's notes")
        if any("You may not sample the whole machine: " in line for line in rest):
            t.has(first, "sampling your own processes at 997 Hz into", "what is sampled")
            t.equal(account["sampled"], "your own processes at 997 Hz", "sampled")


@test
def root_without_a_runtime_directory_has_one_in_run(t):
    t.need("unshare", "mount")
    if os.getuid() or run("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/run",
                          status=None).status:
        t.skip("it takes root to have a /run of one's own")
    theirs = t.path("theirs")
    theirs.mkdir(mode=0o700)
    os.chown(theirs, OTHER_USER, OTHER_USER)
    t.directory.chmod(0o755)
    script = ("mount -t tmpfs tmpfs /run && $ASSAY start -o /run/x.data && "
              "test -S /run/assay/default.sock && $ASSAY stop")
    for runtime in ("", theirs):  # as su leaves it
        result = run("unshare", "-m", "sh", "-c", script,
                     env={"XDG_RUNTIME_DIR": str(runtime), "ASSAY": ASSAY})
        t.has(result.out, "Read it with 'assay report /run/x.data'.\n")
    t.equal(os.listdir(theirs), [], "what root leaves with another user")


@test
def many_removed_snapshots_have_one_note(t):
    with sessions(t) as s:
        says(t, s("start", "--ring=1000000G", status=2), r"assay: start: --ring=1000000G: this "
             r"machine has \d+ MB of memory", "a ring that no machine holds")
        s("start", "--ring", "-o", "a.data", "--snapshots", 1)
        made = [re.search(r"Snapshot in (\S+);", s("snapshot").out)[1] for _ in range(4)]
        left = [str(p) for p in t.directory.glob("a.data-*")]
        t.equal(len(left), 1, f"snapshots that are left of {made}")
        t.equal([n for n in t.json(s("stop", "--json").out)["notes"] if "deleted" in n],
                [f"3 snapshots were deleted, the last was {made[2]}: the newest 1 are kept "
                 "(--snapshots)"], "notes")


@test
def a_rule_writes_a_snapshot_of_the_flight_recorder(t):
    with sessions(t) as s:
        s("start", "--ring", "--when", "process=loop", "--snapshots", 1)
        run(t.workload("loop"), "1")
        account = t.until(lambda: (a := s.json())["snapshots"] and a, "a snapshot")
        t.equal([note for note in account["notes"] if "snapshot" in note],
                [f"process=loop held: snapshot {account['snapshot']}"], "notes")
        t.true(t.report(account["snapshot"])["samples"] > 0, "samples of before")
        s("stop")


def holders(path, word=b""):
    """The number of processes that have the file open and whose command line contains `word`."""
    found = set()
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            line = link.parent.parent / "cmdline"
            if os.readlink(link) == str(path) and word in line.read_bytes():
                found.add(link.parts[2])
    return len(found)


@test
def files_are_released_when_asked(t):
    """A session holds a program of a mounted file system open until it is asked to close it."""
    t.need("mount", "umount")
    env, place = t.runtime(), t.path("mounted")
    place.mkdir()
    if os.geteuid() or run("mount", "-t", "tmpfs", "tmpfs", place, status=None).status:
        t.skip("nothing can be mounted here")
    try:
        shutil.copy(t.workload("short"), place)
        t.assay("start", "--ring=8M", "-a", "-o", t.path("a.data"), env=env)
        run(place / "short", "200000")
        t.until(lambda: holders(place / "short") > 0, "the file is held open")
        t.true(run("umount", place, status=None).status != 0, "nothing can be unmounted")
        t.assay("status", "--release-files", env=env)
        # Another recorder of the machine may hold the file for a moment, too.
        t.until(lambda: run("umount", place, status=None).status == 0, "the place is unmounted")
    finally:
        run("umount", "-l", place, status=None)
    t.assay("stop", env=env)
    warnings = t.report(t.path("a.data"))["warnings"]
    t.true(any("closed on request (status --release-files)" in w for w in warnings), warnings)


MAPS_A_DUMP = """
import mmap, os, sys
with open(f"{sys.argv[1]}/jit-{os.getpid()}.dump", "w+b") as dump:
    dump.write(bytes(4096))
    dump.flush()
    code = mmap.mmap(dump.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
    print(dump.name, flush=True)
    sys.stdin.read()
"""


@test
def jitdumps_are_released_when_asked(t):
    """A session holds a jitdump of a mounted file system open until it is asked to close it."""
    t.need("mount", "umount")
    env, place = t.runtime(), t.path("mounted")
    place.mkdir()
    if os.geteuid() or run("mount", "-t", "tmpfs", "tmpfs", place, status=None).status:
        t.skip("nothing can be mounted here")
    try:
        t.assay("start", "--ring=8M", "-a", "-o", t.path("a.data"), env=env)
        writer = t.start(sys.executable, "-c", MAPS_A_DUMP, place, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
        path = writer.stdout.readline().decode().strip()
        session = os.fsencode(t.path("a.data"))
        t.until(lambda: holders(path, session), "the session holds the dump open")
        writer.stdin.close()
        t.wait(writer)
        t.true(holders(path, session), "the session does not hold the dump any more")
        t.assay("status", "--release-files", env=env)
        t.until(lambda: not holders(path, session), "the session closes the dump")
    finally:
        run("umount", "-l", place, status=None)
    t.assay("stop", env=env)


main()
