# SPDX-License-Identifier: GPL-2.0-or-later
"""A tagged Linux kernel under the capture device: exact calls, the whole time, the code path of a
fork, and no effect on the guest's time. With ASSAY_LONG alone, because the kernel takes minutes to
build the first time (script/kernel). It is then kept."""

import pathlib
import re
import tempfile

import kernel_guest
from harness import ROOT, long_test, main, run, test
from kernel_guest import FORKS, TURNS

# Functions of a fork, in the order of their entries.
PATH = ["-> do_syscall_64", "-> kernel_clone", "-> copy_process", "-> dup_task_struct",
        "-> copy_creds", "-> sched_fork", "-> copy_thread", "-> alloc_pid", "<- copy_process",
        "-> wake_up_new_task", "<- kernel_clone", "<- do_syscall_64"]

state = {}


def recorded(t):
    """Boots once without the device and twice with it; the directory of the two traces."""
    kernel_guest.need(t)
    if not state:
        state["keep"] = tempfile.TemporaryDirectory(prefix="assay-kernel-")
        place = pathlib.Path(state["keep"].name)
        image = kernel_guest.kernel()
        files = kernel_guest.initrd(place, kernel_guest.workload(place))
        names = image / "kernel.names"
        state["alone"] = kernel_guest.boot(image, files)
        state["runs"] = [kernel_guest.boot(image, files, f"out={place / run},names={names}")
                         for run in ("first", "second")]
        state["place"] = place
    return state["place"]


@long_test
def the_kernel_boots_and_runs_the_workload(t):
    recorded(t)
    t.equal(re.findall(r"^(\w+) \d+ ns", state["alone"].stdout, re.M),
            ["fork", "pipe", "file", "tcp", "sleep"], "parts of the workload")


@long_test
def the_guest_has_the_same_times_with_and_without_the_device(t):
    recorded(t)
    for run in state["runs"]:
        t.equal(run.stdout, state["alone"].stdout, "what the guest prints")


@long_test
def a_second_run_gives_the_same_trace(t):
    place = recorded(t)
    first, second = ((place / run / "stream_0").read_bytes() for run in ("first", "second"))
    t.true(first == second, "the streams are different")


@long_test
def every_exit_has_its_entry(t):
    report = t.report(recorded(t) / "first")
    t.equal({key: report[key] for key in ("lost", "gaps", "unmatched_exits", "missing_exits",
                                          "guesses", "uncertain", "unknown_tags")},
            dict.fromkeys(("lost", "gaps", "unmatched_exits", "missing_exits", "guesses",
                           "uncertain", "unknown_tags"), 0), "irregular events")
    # Each process except the first begins in the function that switches processes.
    t.equal(report["inherited_exits"], report["processes"] - 1, "processes that began")
    # Each call has two events, an open call one. Each switch has an entry and an exit.
    calls = sum(row["calls"] for row in report["functions"])
    t.equal(report["tags"], 2 * (calls + report["switches"]) - report["open"], "events")


@long_test
def the_time_is_complete(t):
    report = t.report(recorded(t) / "first")
    t.equal(report["elapsed_ns"], report["run_ns"] + report["idle_ns"], "run and idle time")
    t.equal(report["run_ns"], report["outside_ns"] + sum(
        row["net_ns"] for row in report["functions"] if row["function"] != "(outside)"),
            "nets of all functions")
    t.true(report["idle_ns"] > 18000000, f"idle in a sleep of 20 ms: {report['idle_ns']} ns")


@long_test
def calls_are_those_of_the_workload(t):
    report = t.report(recorded(t) / "first")
    calls = {row["function"]: row["calls"] for row in report["functions"]}
    t.equal(calls["begin_new_exec"], FORKS + 1, "programs executed")  # and the first process
    t.equal(calls["pipe_write"], 2 * TURNS, "writes to pipes")
    t.equal(calls["tcp_sendmsg"], 2 * TURNS, "messages sent by TCP")
    t.equal(calls["__x64_sys_clone"], FORKS + 2, "forks")  # and those for pipes and sockets


@long_test
def a_fork_has_its_functions_in_order(t):
    place = recorded(t)
    text = t.assay("tags", "trace", place / "first", "--function", "kernel_clone", "--depth", "3").out
    lines = re.findall(r"(?:->|<-) \w+", text)
    wanted = PATH[1:-1]
    found = [line for line in lines if line in wanted]
    t.equal(found[-len(wanted):], wanted, "the last call of kernel_clone")


@test
def wrong_options_of_the_script_are_refused(t):
    script = ROOT / "script" / "kernel"
    for words, message in ((["--colour"], "--colour: unknown option"), (["--only"], "needs a value"),
                           (["--config", t.path("none")], "none cannot be read"),
                           (["--source", t.path("none")], "none cannot be read"),
                           (["--plugin", t.path("none")], "none cannot be read")):
        t.has(run(script, *words, status=1).err, message, str(words))
    t.has(run(script, "--help").out, "--only GLOBS")


main()
