# SPDX-License-Identifier: GPL-2.0-or-later
"""A tagged Linux kernel under the capture device: exact calls, the whole time, the code path of a
fork, and no effect on the guest's time. With ASSAY_LONG alone, because the kernel takes minutes to
build the first time (script/kernel). It is then kept."""

import pathlib
import re
import shutil
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


USER = r"""
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

__attribute__((noinline)) void touch(int pages)
{
	char *p = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < pages; i++)
		*(volatile char *)(p + i * PAGE) = 1;
}

__attribute__((noinline)) void parent_work(void) { touch(5); }
__attribute__((noinline)) void child_work(void) { touch(9); }

/* Returns in both processes. */
__attribute__((noinline)) int forks(void)
{
	int pid = fork();

	if (pid) {
		parent_work();
		waitpid(pid, 0, 0);
	} else {
		child_work();
	}
	return pid;
}

int main(void)
{
	if (!forks())
		_exit(0);
	reboot(RB_AUTOBOOT);
}
"""


@long_test
def programs_with_tags_are_in_the_trace_of_the_kernel(t):
    kernel_guest.need(t)
    image, names = kernel_guest.kernel(), t.path("names")
    shutil.copy(image / "kernel.names", names)
    source = t.write("user.c", USER)
    files = kernel_guest.initrd(t.directory, source, *kernel_guest.tagged_program(names))
    alone = kernel_guest.boot(image, files)
    trace = t.path("trace")
    done = kernel_guest.boot(image, files, f"out={trace},names={names}")
    t.equal(done.stdout, alone.stdout, "what the guest prints")
    report = t.report(trace)
    calls = {row["function"]: row["calls"] for row in report["functions"]}
    t.equal({name: calls[name] for name in ("main", "forks", "touch", "parent_work", "child_work")},
            {"main": 1, "forks": 1, "touch": 2, "parent_work": 1, "child_work": 1}, "calls")
    t.equal((report["unmatched_exits"], report["guesses"], report["unknown_tags"]), (0, 0, 0),
            "exits without entry, guesses, unknown tags")
    # Each process but the first begins in the switch, and the child returns from forks().
    t.equal(report["inherited_exits"], report["processes"] - 1 + 1, "inherited exits")
    # The functions of the kernel are in those of the program that called them.
    for function, pages in (("parent_work", 5), ("child_work", 9)):
        text = t.assay("tags", "trace", trace, "--function", function).out
        t.equal(re.findall(r"-> (touch|ksys_mmap_pgoff|exc_page_fault)\b", text),
                ["touch", "ksys_mmap_pgoff", *["exc_page_fault"] * pages], function)
    # The two processes have numbers of their own; both have the name of the program.
    text = t.assay("tags", "trace", trace).out
    found = {function: set() for function in ("parent_work", "child_work")}
    process = "1"
    for line in text.splitlines():
        switched = re.search(r"switch in ---- process (\d+)", line)
        process = switched.group(1) if switched else process
        for function in found:
            if f"-> {function} " in line:
                found[function].add(process)
    t.equal([len(processes) for processes in found.values()], [1, 1], f"processes: {found}")
    t.true(found["parent_work"] != found["child_work"], f"one process: {found}")
    for function, (process,) in found.items():
        text = t.assay("tags", "trace", trace, "--process", process).out
        t.equal(re.findall(r"-> (parent_work|child_work)\b", text), [function], f"process {process}")
        t.has(text, "-> do_syscall_64")


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
