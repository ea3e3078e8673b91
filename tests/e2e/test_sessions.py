# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions in the background: start, status, snapshot and stop, from several shells, and every
error that one of them can meet, with its message and its exit status. docs/SESSIONS.md lists these
cases in a table."""
import os
import re
import resource
import signal
import stat
import subprocess

from harness import ASSAY, main, run, test
from sessions import DATE, LOOP, is_gone, says, sessions


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
        t.until(lambda: s.json()["ticks"]["all"], "the first ticks are counted")
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
                (("--window", 5), 2, "--window for --store and --to"),
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


main()
