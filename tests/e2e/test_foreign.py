# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and files of an unprivileged user that do not answer (tests/workloads/hung.c): the
recorder continues, ends on request, and reports the reads without an answer."""

import os
import signal
import subprocess

import attacks
from attacks import HUNG, UNANSWERED
from harness import ASSAY, main, test

ASSAY = os.environ.get("ASSAY", "build/assay")


def record(t, pids, *options):
    """Records a user's processes and a loop until the file has samples of the loop."""
    loop = t.start(t.workload("loop"), "100000", stdout=subprocess.DEVNULL)
    recorder = t.start(ASSAY, "record", *options, "-q", "-o", t.path("data"), "-p",
                       ",".join([*pids, str(loop.pid)]))
    t.until(lambda: recorder.poll() is not None
            or t.path("data").exists() and t.path("data").stat().st_size > 60000,
            "a recording that grows")
    recorder.send_signal(signal.SIGINT)
    t.equal(t.wait(recorder), 0, "the recorder's status")


def record_beside(t, what, *options):
    """The report of a recording of a user's hung process and of a loop."""
    hung, pids = attacks.hung(t, what)
    try:
        record(t, pids, *options)
    finally:
        attacks.release(t, hung)
    return t.assay("report", "--full", t.path("data")).out, t.report(t.path("data"))


def reports_the_user(t, text, report):
    words = " ".join(text.split())
    t.true(UNANSWERED.search(words), f"the report has no sentence on user {HUNG}: {text}")
    t.true(UNANSWERED.search(str(report)), f"JSON has no sentence on user {HUNG}: {report}")
    observer = report["observer"]
    t.true(0 < observer["reads_unanswered"] <= 4, f"reads not answered: {observer}")
    t.true(f"{observer['reads_not_made']} more w" in words, f"reads not made: {observer}")
    processes = {p["name"]: p["user_samples"] for p in report["processes"]}
    t.true(processes.get("loop", 0) > 10, f"the loop has no samples: {processes}")


@test
def a_stack_on_a_hung_file_system_does_not_stop_the_recorder(t):
    reports_the_user(t, *record_beside(t, "stack-fuse", "-g", "-F", "997"))


@test
def a_stack_that_waits_for_userfaultfd_does_not_stop_the_recorder(t):
    reports_the_user(t, *record_beside(t, "stack-uffd", "-g", "-F", "997"))


@test
def a_program_on_a_hung_file_system_does_not_stop_the_recorder(t):
    reports_the_user(t, *record_beside(t, "program", "-F", "997"))


@test
def a_report_does_not_wait_for_a_program_on_a_hung_file_system(t):
    hung, pids = attacks.hung(t, "program")
    try:
        t.assay("record", "-q", "-o", t.path("data"), "-p", pids[-1], "--", "sleep", "0.3")
        with open(t.path("report"), "wb") as out:
            t.equal(t.wait(t.start(ASSAY, "report", "--json", t.path("data"), stdout=out), 2), 0,
                    "the report's status")
    finally:
        attacks.release(t, hung)
    t.has(t.path("report").read_text(), "/mounted-program/file: is in a file system that another "
                                        "user's program serves (FUSE), and is not read")


@test
def nor_where_stacks_are_walked_through_its_code(t):
    reports_the_user(t, *record_beside(t, "program", "-g", "-F", "997"))


@test
def a_jitdump_on_a_hung_file_system_does_not_stop_the_recorder(t):
    reports_the_user(t, *record_beside(t, "dump", "-F", "997"))


@test
def a_store_continues_while_a_program_is_on_a_hung_file_system(t):
    env = t.runtime()
    hung, pids = attacks.hung(t, "program")
    try:
        loop = t.start(t.workload("loop"), "100000", stdout=subprocess.DEVNULL)
        t.assay("start", "--store", t.path("machine.db"), "--window", "1", "-p",
                ",".join([*pids, str(loop.pid)]), env=env)
        t.until(lambda: t.json(t.assay("status", "--json", env=env).out)["sessions"][0]["elapsed_ns"]
                > 3e9,
                "a few windows")
        stopped = t.assay("stop", env=env)
    finally:
        attacks.release(t, hung)
    words = " ".join(stopped.out.split() + stopped.err.split())
    t.true(UNANSWERED.search(words), f"the session says nothing on user {HUNG}: {words}")
    functions = t.report("--store", t.path("machine.db"))["functions"]
    t.true("loop_body" in [f["function"] for f in functions], f"functions: {functions}")


def report_while_hung(t, what, *command):
    """The output of a command while the file system of a recorded file does not answer."""
    hung, pids = attacks.hung(t, what)
    try:
        record(t, pids, "-F", "997")
        with open(t.path("out"), "wb") as out:
            command = t.start(ASSAY, *command, t.path("data"), stdout=out, stderr=out)
        t.until(lambda: command.poll() is not None, "the end of the command")
    finally:
        attacks.release(t, hung)
    t.equal(t.wait(command), 0, "the status of the command")
    return t.path("out").read_text()


@test
def a_report_of_a_program_on_a_hung_file_system_ends(t):
    text = " ".join(report_while_hung(t, "program", "report", "--full").split())
    t.true("program serves (FUSE), and is not read" in text, f"the report does not name it: {text}")
    t.true("loop_body" in text, f"the loop has no names: {text}")


@test
def a_report_of_a_jitdump_on_a_hung_file_system_ends(t):
    text = report_while_hung(t, "dump", "report", "--full")
    t.true("loop_body" in text, f"the loop has no names: {text}")


@test
def a_report_enters_no_file_system_that_may_hang_later(t):
    t.need("gcc")
    mounted = t.path("mounted-later")
    t.write("spin.c", "int main(void) { for (volatile long i = 0; i < 300000000; i++); }")
    t.run("gcc", "-O1", "-g", "-gsplit-dwarf", f"-fdebug-prefix-map={t.directory}={mounted}", "-c",
          "spin.c", cwd=t.directory)
    t.run("gcc", "-o", "spin", "spin.o", cwd=t.directory)
    t.path("spin.dwo").unlink()
    t.assay("record", "-q", "-o", t.path("data"), "--", t.path("spin"))
    hung, _ = attacks.hung(t, "later")
    try:
        with open(t.path("out"), "wb") as out:
            command = t.start(ASSAY, "report", "-g", t.path("data"), stdout=out,
                              env={"XDG_CACHE_HOME": str(t.path("cache"))})
        t.until(lambda: command.poll() is not None, "the end of the report")
    finally:
        attacks.release(t, hung)
    t.equal(t.wait(command), 0, "the status of the report")
    t.has(t.path("out").read_text(), "main", "the report of a program with split debug information")


main()
