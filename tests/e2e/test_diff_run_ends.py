# SPDX-License-Identifier: GPL-2.0-or-later
"""assay diff --run and record --repeat that end early: signals, failures, killed recorders."""
import contextlib
import os
import signal
import subprocess
import time

from harness import *


class Series:
    """assay diff --run, or record --repeat, whose commands write one line to `log` each."""

    def __init__(self, t, *words):
        self.t, self.log = t, t.path("log")
        os.makedirs(t.path("tmp"), exist_ok=True)
        self.child = subprocess.Popen(
            [ASSAY, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=dict(os.environ, TMPDIR=t.path("tmp"), LC_ALL="C.UTF-8"))

    def wait_for_lines(self, lines):
        """Waits until the commands have written so many lines."""
        end = time.monotonic() + 100
        while self.child.poll() is None and time.monotonic() < end:
            if os.path.exists(self.log) and len(self.lines()) >= lines:
                return
            time.sleep(0.02)
        self.t.fail(f"{self.lines()} of {lines} lines: {self.child.communicate()}")

    def lines(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read().split("\n")[:-1]

    def end(self, status=0):
        out, err = self.child.communicate(timeout=120)
        self.t.equal(self.child.returncode, status, f"exit status: {out}{err}")
        self.t.equal(os.listdir(self.t.path("tmp")), [], "temporary recordings that are left")
        return out, err

    def recorder(self):
        """The process of the present run."""
        with open(f"/proc/{self.child.pid}/task/{self.child.pid}/children", encoding="ascii") as f:
            for pid in f.read().split():
                with open(f"/proc/{pid}/comm", encoding="utf-8") as name:
                    if name.read() != "assay-foreign\n":  # the reader of files
                        return int(pid)
        raise ProcessLookupError


def series(t, *words, last="sleep 0.05"):
    """500 runs; each writes a or b to the log as its last act."""
    log = t.path("log")
    return Series(t, "diff", "--run", "500", "--warm-up", "0", *words,
                  f"{last}; echo a >> {log}", f"{last}; echo b >> {log}")


def processes_of(command):
    """Running processes with this command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line.strip() == command:
            found.append(name)
    return found


@test
def an_interrupt_compares_the_complete_pairs(t):
    s = series(t, "--json")
    s.wait_for_lines(5)
    os.killpg(s.child.pid, signal.SIGINT)
    out, err = s.end()
    got = t.json(out)
    pairs = len(got["before"])
    t.equal(len(got["after"]), pairs, "runs of B")
    t.true(pairs >= 2, f"{pairs} pairs")
    t.equal(got["ended"],
            f"the series was interrupted: {pairs} of 500 runs of each command are compared",
            "JSON")
    t.has(err, f"interrupted: {pairs} of 500 runs", "the message")


@test
def an_interrupt_during_prepare_keeps_the_complete_pairs(t):
    log = t.path("log")
    s = Series(t, "diff", "--run", "500", "--warm-up", "0", "--prepare",
               f"echo p >> {log}; if [ $(wc -l < {log}) -gt 4 ]; then sleep 100; fi", "true", "true")
    s.wait_for_lines(5)
    os.killpg(s.child.pid, signal.SIGINT)
    out, _ = s.end()
    t.has(out, "The series was interrupted: 2 of 500 runs", "the report")


@test
def an_interrupt_before_the_first_pair(t):
    log = t.path("log")
    s = Series(t, "diff", "--run", "5", f"echo >> {log}; sleep 100", "true")
    s.wait_for_lines(1)
    os.killpg(s.child.pid, signal.SIGINT)
    t.has(s.end(130)[1], "interrupted before each command had run once", "the message")


@test
def signals_reach_the_running_command(t):
    """Of assay alone, as kill sends them: warm-up runs and recorded runs end."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        for warm_up in ("0", "1"):
            log = t.path(f"log{number}{warm_up}")
            mark = f"exec sleep 10{number.value}{warm_up}.{os.getpid()}"
            s = Series(t, "diff", "--run", "5", "--warm-up", warm_up, f"echo >> {log}; {mark}",
                       "true")
            s.log = log
            s.wait_for_lines(1)
            os.kill(s.child.pid, number)
            s.end(130)
            t.equal(processes_of(mark[5:]), [], "commands that are left")


@test
def a_command_that_fails_later_ends_the_series(t):
    log = t.path("log")
    fails = f"echo >> {log}; test $(wc -l < {log}) -lt 4"
    os.makedirs(t.path("tmp"))
    got = t.assay("diff", "--run", "9", "--warm-up", "1", "true", fails, status=125,
                  env={"TMPDIR": t.path("tmp")})
    t.has(got.err, "command B failed with exit status 1 in run 3 of B", "the message")
    t.has(got.out, "Command B failed with exit status 1 in run 3 of B: 2 of 9 runs", "the report")
    os.remove(log)
    report = t.json(t.assay("diff", "--json", "--run", "4", "--warm-up", "0", "--ignore-failure",
                            "true", f"{fails} || kill -SEGV $$").out)
    t.equal([run["exit_status"] for run in report["before"]], [0] * 4, "A")
    t.equal([run["exit_status"] for run in report["after"]], [0, 0, 0, 139], "B")
    os.remove(log)
    t.has(" ".join(t.assay("diff", "--run", "4", "--warm-up", "0", "--ignore-failure", "true",
                           fails).out.split()),
          "The command failed: run 4 of B (exit status 1).", "the note")


@test
def a_killed_recorder_ends_the_series(t):
    s = series(t)
    s.wait_for_lines(5)
    while s.child.poll() is None:
        with contextlib.suppress(IndexError, ProcessLookupError, FileNotFoundError):
            os.kill(s.recorder(), signal.SIGKILL)  # not between two runs
        time.sleep(0.02)
    out, err = s.end(125)
    t.has(err, "the recorder was killed by signal 9 (Killed) in run ", "the message")
    t.has(out, "The recorder was killed by signal 9", "the report")


@test
def a_recording_that_is_cut_short_is_named(t):
    whole, cut = t.path("whole.data"), t.path("cut.data")
    t.assay("record", "-o", whole, "--", "true")
    child = t.start(ASSAY, "record", "-o", cut, "--", "sleep", "0.5")
    while not os.path.exists(cut) or os.path.getsize(cut) < 200:
        time.sleep(0.02)
    child.kill()
    child.wait()
    report = t.json(t.assay("diff", "--json", "--work", "run", whole, cut).out)
    t.equal([report[side][0]["cut_short"] for side in ("before", "after")], [False, True], "JSON")
    text = " ".join(t.assay("diff", "--work", "run", whole, cut).out.split())
    t.has(text, "the recording is incomplete: run 1 of B.", "the note")


@test
def repeat_waits_for_the_command(t):
    log, out = t.path("log"), t.path("r.data")
    got = t.assay("record", "--repeat", "2", "--duration", "50ms", "-o", out, "--", "sh", "-c",
                  f"echo begin >> {log}; sleep 0.3; echo end >> {log}")
    with open(log, encoding="utf-8") as f:
        t.equal(f.read().split(), ["begin", "end"] * 2, "runs one after the other")
    t.equal(got.err.count("waiting for its exit"), 1, "the message")
    t.has(got.err, "2 runs were recorded", "the closing line")
    got = t.assay("record", "--repeat", "2", "-o", out, "--", "sh", "-c", "exit 7", status=7)
    t.has(got.err, "run 1: the command ended with exit status 7", "a failure")


main()
