# SPDX-License-Identifier: GPL-2.0-or-later
"""calls: processes that continue or are killed; list, get and reset work on running processes."""
import os
import pathlib
import signal
import subprocess
import time

from calls_program import (Counted, build, calls_of, got, leftovers, listed, place, processes,
                           refused)
from harness import ASSAY, main, test

DAEMON = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }

#ifdef QUIET
__attribute__((no_instrument_function))
#endif
/* As daemon(3): the parent ends at once, and the child goes on. */
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR), raw = argc > 2 && !strcmp(argv[2], "raw");
	char byte;

	if (raw ? syscall(SYS_fork) : fork())
		_exit(0);
	close(0);
	close(1);
	close(2);
	if (read(fd, &byte, 1) == 1)
		leaf();
	return 0;
}
"""


@test
def children_that_run_on_and_counted_nothing_are_named(t):
    program = build(t, "background", DAEMON)
    quiet = build(t, "quiet", DAEMON, ("-finstrument-functions", "-DQUIET"))
    counting = build(t)
    os.mkfifo(t.path("fifo"))
    hold = os.open(t.path("fifo"), os.O_RDWR)
    try:
        for how, command in (("fork", (program, t.path("fifo"))),
                             ("raw", (program, t.path("fifo"), "raw")),
                             ("exec", ("sh", "-c", f"'{quiet}' '{t.path('fifo')}'; '{counting}' 3"))):
            result = t.assay("calls", "-o", t.path("c.calls"), "--", *command, env=place(t))
            t.has(result.err, "1 child is still running and had called no counted function: ")
            t.has(result.err, "quiet (process " if how == "exec" else "background (process ")
            t.has(" ".join(result.out.split()), "had called no counted function: 1;")
            found = processes(t, t.path("c.calls"))
            t.equal([p["uncounted_children"] for p in found if "uncounted" in p["flags"]], [1],
                    f"children in the file, {how}")
            child = int(result.err.split("(process ")[1].split(")")[0])
            os.write(hold, b"x")
            t.until(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the child ends")
            if how == "raw":  # no fork handler ran, so the child's calls go to its parent's table
                continue
            process, = got(t, child)
            t.equal(calls_of(process)["leaf"], 1, "what it counted later")
    finally:
        os.write(hold, b"x")
        os.close(hold)


@test
def children_that_count_or_cannot_count_are_not_named_so(t):
    program = build(t)
    result = t.assay("calls", "-o", t.path("c.calls"), "--", "sh", "-c",
                     f"sleep 30 <&- >&- 2>&- & echo $!; exec '{program}' 3", env=place(t))
    os.kill(int(result.out.split()[0]), signal.SIGKILL)
    t.true("runs on" not in result.err, result.err)
    process, = processes(t, t.path("c.calls"))
    t.equal(process["uncounted_children"], 0, "children")


@test
def a_killed_assay_leaves_the_tables_to_get(t):
    program = build(t)
    process = t.start(ASSAY, "calls", "--", program, 3, "forever", stdout=subprocess.PIPE,
                      env={**os.environ, **place(t)})
    t.equal(process.stdout.readline(), b"ready\n")
    process.kill()
    t.wait(process)
    running, = listed(t)["processes"]
    t.equal(calls_of(got(t)[0])["leaf"], 6)
    os.kill(running["pid"], signal.SIGKILL)
    t.until(lambda: not listed(t)["processes"], "it is listed no more")
    t.equal(calls_of(got(t)[0])["leaf"], 6)
    t.assay("calls", "reset", env=place(t))
    t.assay("calls", "list", env=place(t))
    t.equal(leftovers(t), [], "what is left after reset")


# list, get, reset

@test
def list_names_running_processes(t):
    program = build(t)
    t.has(t.assay("calls", "list", env=place(t)).err, "no process of yours counts calls")
    t.equal(listed(t), {"processes": [], "ended": 0})
    begun = time.time()
    one, two = Counted(t, program, 2), Counted(t, program, 5)
    found = {p["pid"]: p for p in listed(t)["processes"]}
    t.equal(set(found), {one.pid, two.pid})
    for counted, n in ((one, 2), (two, 5)):
        entry = found[counted.pid]
        t.equal(entry["name"], "program")
        t.has(entry["command"], f"program {n} obey")
        # main, rounds, obey; branch once, leaf twice a round
        t.equal(entry["calls"], 3 + 3 * n, "calls so far")
        t.true(entry["table_bytes"] >= 4096, f"table: {entry}")
        t.between(entry["start_ns"] / 1e9, begun, time.time(), f"since when: {entry}")
    text = t.assay("calls", "list", env=place(t)).out
    for words in (str(one.pid), str(two.pid), "program 5 obey"):
        t.has(text, words, "the list")
    t.equal([p["pid"] for p in listed(t, two.pid)["processes"]], [two.pid])
    one.end()
    after = listed(t)
    t.equal([p["pid"] for p in after["processes"]], [two.pid])
    t.equal(after["ended"], 1)
    t.has(t.assay("calls", "list", env=place(t)).err, "1 table of exited processes")


@test
def get_reads_running_and_exited_processes(t):
    program = build(t)
    t.has(refused(t, "get"), "'assay calls -- COMMAND' runs one")
    one, two = Counted(t, program, 2), Counted(t, program, 5)
    t.equal({p["pid"]: calls_of(p)["leaf"] for p in got(t)}, {one.pid: 4, two.pid: 10})
    one.rounds(100)
    t.equal([calls_of(p)["leaf"] for p in got(t, one.pid)], [204])
    two.end()
    t.equal({p["pid"]: ("running" in p["flags"], calls_of(p)["leaf"]) for p in got(t)},
            {one.pid: (True, 204), two.pid: (False, 10)})
    t.equal([calls_of(p)["leaf"] for p in got(t, two.pid)], [10])
    t.equal(t.assay("calls", "get", "-o", t.path("c.calls"), env=place(t)).out, "",
            "the report where a file is wanted")
    t.equal({p["pid"]: calls_of(p)["leaf"] for p in processes(t, t.path("c.calls"))},
            {one.pid: 204, two.pid: 10})
    t.has(t.assay("calls", "get", "-o", t.path("c.calls"), env=place(t)).err, "read it with",
          "the closing line")
    t.equal(t.assay("calls", "get", "-q", "-o", t.path("c.calls"), env=place(t)).err, "",
            "the closing line with -q")
    t.has(t.assay("calls", "get", one.pid, env=place(t)).out, "leaf", "the report")


@test
def reset_acts_on_all_and_on_blocked_ones(t):
    program = build(t)
    # Both block in read(2) until they receive a byte.
    one, two, ended = Counted(t, program, 20), Counted(t, program, 30), Counted(t, program, 1)
    ended.end()
    out = t.assay("calls", "reset", env=place(t)).out
    t.has(out, "2 processes start again at zero")
    for pid in (one.pid, two.pid):
        t.has(out, f"{pid} program", "what was reset")
    t.has(out, "1 table of an exited process is removed")
    t.has(out, f"{ended.pid} program")
    found = {p["pid"]: p for p in got(t)}
    t.equal(set(found), {one.pid, two.pid})
    for process in found.values():
        t.equal(calls_of(process), {}, "calls after the reset")
    one.rounds(6)
    found = {p["pid"]: calls_of(p) for p in got(t)}
    t.equal(found[one.pid], {"rounds": 1, "branch": 6, "leaf": 12})
    t.equal(found[two.pid], {})
    # Calls that began before the reset are not counted when they end.
    one.end()
    two.end()
    found = {p["pid"]: calls_of(p) for p in got(t)}
    t.equal(found, {one.pid: {"rounds": 1, "branch": 6, "leaf": 12}, two.pid: {}})


@test
def reset_of_one_leaves_the_other(t):
    program = build(t)
    one, two = Counted(t, program, 20), Counted(t, program, 30)
    t.has(t.assay("calls", "reset", two.pid, env=place(t)).out, f"1 process starts again at zero: {two.pid}")
    t.equal({p["pid"]: calls_of(p).get("leaf", 0) for p in got(t)}, {one.pid: 40, two.pid: 0})
    for n in (1, 2, 3):
        two.rounds(n)
        t.equal([calls_of(p)["leaf"] for p in got(t, two.pid)], [2 * n])
        t.assay("calls", "reset", "-q", two.pid, env=place(t))


@test
def a_command_under_way_is_listed_and_reset(t):
    program = build(t)
    process = t.start(ASSAY, "calls", "-q", "-o", t.path("c.calls"), "--", program, 50, "obey",
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                      env={**os.environ, **place(t)})
    t.equal(process.stdout.readline(), b"ready\n")
    entry, = listed(t)["processes"]
    t.equal(calls_of(got(t, entry["pid"])[0])["leaf"], 100)
    t.assay("calls", "reset", env=place(t))
    process.stdin.write(b"4\n")
    process.stdin.close()
    t.equal(t.wait(process), 0)
    process, = processes(t, t.path("c.calls"))
    t.equal(calls_of(process), {"rounds": 1, "branch": 4, "leaf": 8})
    t.true("reset" in process["flags"], f"flags: {process['flags']}")
    t.equal(leftovers(t), [])


main()
