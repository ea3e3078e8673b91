# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a recording: a command that bounds it, its duration, a full disk; and the state of the
command afterwards."""

import collections
import json
import os
import signal
import subprocess
import time

from harness import ASSAY, limit, main, run, test


def has_run(pid):
    """CPU time in hundredths of a second."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def pids_with_samples(report):
    return {row["pid"] for row in report["processes"] if row["user_samples"]}


def busy(t):
    """A process that uses CPU time until the test ends."""
    process = t.start(t.workload("short"), "30000000000")
    t.until(lambda: has_run(process.pid) > 0.02, "it runs")
    return process


@test
def a_command_bounds_the_recording_of_another_process(t):
    victim, out = busy(t), t.path("a.data")
    # The command uses CPU time until the sampled process has used some.
    script = (f"stat() {{ read -r line </proc/{victim.pid}/stat; set -- $line; ticks=$((${{14}} + ${{15}})); }}; "
              "stat; end=$((ticks + 30)); while [ $ticks -lt $end ]; do stat; done; exit 3")
    t.assay("record", "-q", "-o", out, "-p", victim.pid, "--", "sh", "-c", script, status=3)
    t.equal(pids_with_samples(t.report(out)), {victim.pid}, "processes with samples")
    t.has(t.assay("report", "--full", out).out, "Some processes, ", "heading")
    t.true(victim.poll() is None, "the process still runs")


@test
def a_command_bounds_the_recording_of_the_machine(t):
    victim, out = busy(t), t.path("a.data")
    t.assay("record", "-q", "-a", "-o", out, "--", "sleep", "0.3")
    t.true(victim.pid in pids_with_samples(t.report(out)), "another process has samples")
    t.assay("record", "-q", "-o", out, "--", "true")
    t.has(t.assay("report", "--full", out).out, "One command, ", "heading of a command's recording")


@test
def a_process_that_ends_first_leaves_the_command_alone(t):
    victim, out, done = busy(t), t.path("a.data"), t.path("done")
    recorder = t.start(ASSAY, "record", "-q", "-o", out, "-p", victim.pid, "--", "sh", "-c",
                       f"while [ ! -e {t.path('go')} ]; do sleep 0.05; done; echo done > {done}; exit 4")
    t.until(lambda: out.exists() and out.stat().st_size > 4096, "the recording begins")
    victim.kill()
    t.wait(victim)
    # The file is closed while the command still runs.
    t.until(lambda: t.assay("report", "--json", out, status=None).status == 0 and
            not t.report(out)["recordings"][0]["truncated"], "the recording is closed")
    t.true(recorder.poll() is None, "the recorder waits for the command")
    t.path("go").touch()
    t.equal(t.wait(recorder), 4, "status of the command")
    t.true(done.exists(), "the command came to its end")


@test
def a_duration_ends_the_recording_and_not_the_command(t):
    out, done = t.path("a.data"), t.path("done")
    result = t.assay("record", "-o", out, "--duration", "300ms", "--", "sh", "-c",
                     f"while [ ! -s {out} ]; do sleep 0.05; done; sleep 1; echo done > {done}; exit 5",
                     status=5)
    t.has(result.err, "assay: the command continues and is no longer sampled")
    t.true(done.exists(), "the command came to its end")
    t.true(t.report(out)["ledger"]["elapsed_ns"] >= 300000000, "the duration was recorded")


@test
def a_duration_ends_a_recording_of_the_machine(t):
    out = t.path("a.data")
    t.assay("record", "-q", "-o", out, "--duration", "0.2s")
    t.true(t.report(out)["ledger"]["elapsed_ns"] >= 200000000, "the duration was recorded")
    for wrong in ("10", "x", "-1s", "0s"):
        result = t.assay("record", "--duration", wrong, "--", "true", status=2)
        t.has(result.err, f"--duration needs a time, such as 10s or 5min, not '{wrong}'")


@test
def a_duration_ends_a_session_in_the_background(t):
    env, out = t.runtime(), t.path("a.data")
    result = t.assay("start", "--duration", "300ms", "-o", out, env=env)
    t.has(result.err, "at 997 Hz, for 300.00 ms into")
    t.until(lambda: [p.name for p in t.path("run/assay").glob("*")] == ["default.ended"],
            "the session ends by itself")
    result = t.assay("status", "--json", env=env, status=1)
    t.equal(json.loads(result.out)["sessions"][0]["end"], "duration", "why it ended")
    t.true(t.report(out)["ledger"]["elapsed_ns"] >= 300000000, "the duration was recorded")


@test
def a_signal_ends_the_command_too(t):
    out = t.path("a.data")
    recorder = t.start(ASSAY, "record", "-q", "-o", out, "--", "sleep", "100")
    t.until(lambda: out.exists() and out.stat().st_size > 4096, "the recording begins")
    recorder.send_signal(signal.SIGTERM)
    t.equal(t.wait(recorder, 60), 128 + signal.SIGTERM, "status of the command")


@test
def a_signal_at_any_moment_leaves_no_file_that_cannot_be_read(t):
    """At any moment from the program's start on: at most, an older recording is renamed, and a file
    with the requested name is a recording, with or without samples."""
    ended, old = collections.Counter(), t.path("a.data.old")
    for number in range(41):
        out = t.path("a.data")
        for path in (out, old):
            path.unlink(missing_ok=True)
        out.write_bytes(b"older")
        words = ("-a", "-g") if number % 2 else ("-a",)
        recorder = t.start(ASSAY, "record", *words, "-o", out, stderr=subprocess.PIPE)
        time.sleep(number * 0.005)
        recorder.send_signal(signal.SIGINT)
        said = recorder.communicate()[1].decode()
        t.true(recorder.returncode in (-signal.SIGINT, 0), f"{recorder.returncode}: {said}")
        left = {path.name for path in t.directory.glob("a.data*")}
        t.true(left <= {"a.data", "a.data.old"}, f"files that are left: {left}")
        t.equal((old if old.exists() else out).read_bytes(), b"older", "the older file")
        recorded = old.exists() and out.exists()
        if recorded:
            run(ASSAY, "report", out)
        t.true(recorded or recorder.returncode, "a recording that ended well is there")
        ended[("killed", "ended")[not recorder.returncode] +
              (", with a recording" if recorded else "")] += 1
    print(f"# {dict(ended)}", flush=True)


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        caught = next(line for line in f if line.startswith("SigCgt:")).split()[1]
    return int(caught, 16) >> (number - 1) & 1


@test
def a_signal_before_sampling_begins_is_explained(t):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        recorder = t.start(ASSAY, "record", "-a", "-g", "-q", "-o", t.path(f"{number}.data"),
                           stderr=subprocess.PIPE)
        begin = time.monotonic()
        while not catches(recorder.pid, number) and time.monotonic() - begin < limit(10):
            pass
        recorder.send_signal(number)
        said = recorder.communicate()[1].decode()
        # On a busy machine sampling may have begun by now.
        if recorder.returncode:
            t.equal(recorder.returncode, -number, "how it ended")
            t.equal(said, "assay: record: a signal came before sampling began: nothing was "
                          "recorded\n", "the message")


@test
def a_full_disk_ends_the_recording_and_not_the_command(t):
    t.need("unshare", "mount")
    disk = t.path("disk")
    disk.mkdir()
    if run("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", disk, status=None).status:
        t.skip("no file system may be mounted here")
    # The command waits until samples are in the file, which begins with the mappings of all
    # processes. Then it fills the disk, and waits for the recorder's message about that.
    script = t.write("full.sh", """
        mount -t tmpfs -o size=64m tmpfs "$1" && cd "$1" || exit 9
        job='size() { stat -c %s full.data; }; begin=$(size)
             while [ $(size) -lt $((begin + 65536)) ]; do sleep 0.05; done
             cat /dev/zero >other 2>/dev/null
             while ! grep -q "cannot write" "$0"; do sleep 0.05; done; echo job done; exit 6'
        $ASSAY record -a -F 5000 -o full.data -- sh -c "$job" "$2" 2>"$2"; echo "record $?"
        rm other; $ASSAY report --json full.data
        """)
    said = t.path("said")
    said.touch()
    result = run("unshare", "-m", "sh", script, disk, said, env={**os.environ, "ASSAY": os.path.abspath(ASSAY)})
    told, _, report = result.out.partition("record 1\n")
    t.equal(told, "job done\n", "the command came to its end, and the status is 1")
    t.has(said.read_text(), f"assay: record: cannot write to full.data: No space left on device "
                            "(what was written until now can be read)\n")
    t.has(said.read_text(), "assay: the command ended with exit status 6; the recording of it is "
                            "incomplete\n")
    t.true(t.json(report)["samples"] > 0, "the file can be read as far as it got")


@test
def a_limit_on_the_size_of_files_is_an_error(t):
    """A recording and a snapshot that would exceed ulimit -f, and a command that keeps the original
    limit."""
    env = {**t.runtime(), "ASSAY": os.path.abspath(ASSAY)}
    limit = "the file would be larger than the limit on the size of files allows (ulimit -f)"
    script = "ulimit -f 64; exec $ASSAY record -a -F 997 -o limited.data -- sleep 1"
    result = t.run("sh", "-c", script, env=env, cwd=t.directory, status=1)
    t.has(result.err, f"assay: record: cannot write to limited.data: {limit}")
    script = ("ulimit -f 64; $ASSAY start --ring=8M -a -o ring.data && sleep 1; "
              "$ASSAY snapshot -o snapshot.data; $ASSAY stop")
    result = t.run("sh", "-c", script, env=env, cwd=t.directory, status=1)
    t.equal(result.err.count(limit), 2, f"errors of snapshot and stop: {result.err}")
    script = ("ulimit -f 64; exec $ASSAY record -o small.data -- "
              "sh -c 'head -c 1000000 /dev/zero >large'")
    result = t.run("sh", "-c", script, env=env, cwd=t.directory, status=None)
    t.true(result.status == 128 + signal.SIGXFSZ, f"the command ends by the signal: {result}")


@test
def too_few_open_files_are_an_error(t):
    """With any limit, a recording is complete, or fails with a message that names the limit."""
    env = t.runtime()
    refused = 0
    for files in (8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48, 64):
        out = t.path(f"{files}.data")
        result = t.run("prlimit", f"--nofile={files}", ASSAY, "record", "-a", "-g", "-o", out, "--",
                       "true", status=None, env=env)
        if result.status:
            refused += 1
            t.has(result.err, "ulimit -n", f"error with {files} files")
            continue
        t.lacks(result.err, "kptr_restrict", f"warnings with {files} files")
        t.lacks(result.err, "deleted while recording", f"warnings with {files} files")
        t.lacks(result.err, "Too many open files", f"warnings with {files} files")
    t.between(refused, 1, 12, "limits that are too low")
    result = t.run("prlimit", "--nofile=16", ASSAY, "start", "--ring=8M", "-o", out, status=1,
                   env=env)
    t.has(result.err, "ulimit -n", "error of start")


@test
def a_command_continues_when_its_recorder_is_killed(t):
    for words in (("record", "-q"), ("calls",), ("tags", "-q")):
        name = words[0]
        begun, go, ended = t.path(f"{name}.begun"), t.path(f"{name}.go"), t.path(f"{name}.ended")
        os.mkfifo(go)
        recorder = t.start(ASSAY, *words, "-o", t.path(f"{name}.out"), "--", "sh", "-c",
                           f"echo >{begun}; read line <{go}; echo $line >{ended}")
        t.until(lambda path=begun: os.path.exists(path), f"{name}: the command runs")
        recorder.kill()
        recorder.wait()
        with open(go, "w", encoding="ascii") as f:
            f.write("whole\n")
        t.until(lambda path=ended: os.path.exists(path) and os.path.getsize(path),
                f"{name}: the command continues to its end")


@test
def a_killed_recording_has_all_up_to_the_last_flush(t):
    out = t.path("a.data")
    names = {f"child-{i}" for i in range(20)}
    run_all = " ".join(f"cp /bin/true {t.path(name)}; {t.path(name)};" for name in sorted(names))
    recorder = t.start(ASSAY, "record", "-q", "--flush", "10ms", "-o", out, "--", "sh", "-c",
                       f"{run_all} exec sleep 100")

    def found():
        done = t.assay("sql", "--format", "json", out, "SELECT DISTINCT name FROM processes", status=None)
        return {row["name"] for row in t.json(done.out)} & names if not done.status else set()

    t.until(lambda: found() == names, "the file has all processes")
    recorder.kill()
    recorder.wait()
    t.equal(found(), names, "processes in the file of the killed recorder")
    t.true(t.report(out)["recordings"][0]["truncated"], "the report says that it was killed")


@test
def flushes_are_counted(t):
    out = t.path("a.data")
    t.assay("record", "-q", "--flush", "10ms", "-o", out, "--", "sleep", "1")
    report = t.report(out)
    observer = report["observer"]
    t.equal(observer["flush_asked_ns"], 10000000, "the interval")
    t.between(observer["flushes"], 8, report["ledger"]["elapsed_ns"] / 10e6 + 2, "in a second")
    t.true(0 < observer["flush_cpu_ns"] <= observer["cpu_ns"], str(observer))
    t.has(t.assay("report", "--full", out).out, f"{observer['flushes']} flushes, one each 10.00 ms")
    t.assay("record", "-q", "-o", out, "--", "true")
    t.equal(t.report(out)["observer"]["flush_asked_ns"], 0, "not given")
    t.lacks(t.assay("report", "--full", out).out, "flush", "without the option")
    for text in ("9ms", "0.001s", "10", "x"):
        t.has(t.assay("record", "--flush", text, "-o", out, "--", "true", status=2).err,
              f"--flush needs a time of at least 10ms, not '{text}'")
    for words in (("--ring",), ("--store", t.path("a.db")), ("--to", "otlp+http://localhost:4318")):
        t.has(t.assay("start", *words, "--flush", "1s", status=2).err, "--flush is for a file")


@test
def each_event_of_a_tracepoint_is_a_sample(t):
    t.need("unshare", "mount")
    event = "sched:sched_process_exit"
    script = t.write("record.sh", """
        [ -e /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing || exit 9
        $ASSAY record -q -e "$1" -o "$2" -- sh -c 'for i in 1 2 3 4 5 6 7; do /bin/true; done' &&
        $ASSAY record -q -F 100 -e "$1" -o "$3" -- true
        """)
    each, rate = t.path("each.data"), t.path("rate.data")
    result = run("unshare", "-m", "sh", script, event, each, rate, status=None,
                 env={**os.environ, "ASSAY": os.path.abspath(ASSAY)})
    if result.status == 9 or "you may not" in result.err:
        t.skip(f"tracepoints cannot be opened here: {result.err.strip()}")
    t.equal(result.status, 0, f"status: {result}")
    t.equal(t.report(each)["samples"], 8, "one for each process that ended")
    t.equal(t.report(each)["event"]["frequency_hz"], 0, "no rate")
    t.equal(t.report(rate)["event"]["frequency_hz"], 100, "the rate asked for")


main()
