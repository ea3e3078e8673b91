# SPDX-License-Identifier: GPL-2.0-or-later
"""`assay waits` reports causes, releasers, holders and times as programs log them.

The programs are in tests/workloads/waiting. Eight of them are compared here, all 25 with ASSAY_LONG.
"""
import os
import re

from harness import ASSAY, LONG, main, test, test_of_shares
from programs import comment
from waits_truth import (ORDINARY, REAL_TIME, Comparison, off_cpu_by_perf, program, record_all, recorded,
                         script_words)

SHORT = ["mutex", "condvar", "pipe", "epoll", "child", "sleep", "fsync", "sockets"]
PROGRAMS = SHORT + ["rwlock", "semaphore", "eventfd", "io_uring", "timerfd", "direct", "page_fault",
                    "cpu", "priority", "signals", "vfork", "requeue", "herd", "spurious"]
UNRAISED = ["cpu", "priority", "direct", "fsync", "page_fault"]  # of these the priority matters
SCRIPTS = ["lock.py", "channels.go", "Monitors.java"]  # runtimes wait at other places, too
_results = {}


def compared(t, name):
    """Records a program once for the tests of this file."""
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")
    if name not in _results:
        words = script_words(t, name) if name in SCRIPTS else [program(name)]
        words = [*(ORDINARY if name in SCRIPTS + UNRAISED else REAL_TIME), *words]
        _results[name] = Comparison(name, *recorded(t, words, name)[:2],
                                    exact=name not in SCRIPTS)
        for line in _results[name].lines if os.environ.get("TABLE") or LONG else ():
            comment(line)
    return _results[name]


def truth_test(name):
    """Declares the tests of one program: what is exact, and the shares of time."""

    def exact(t):
        wrong = compared(t, name).wrong
        t.true(not wrong, "\n".join(wrong))

    def shares(t):
        # A second run of the test records again.
        comparison = compared(t, name)
        if comparison.unequal:
            del _results[name]
        t.true(not comparison.unequal, "\n".join(comparison.unequal))

    title = re.sub(r"\W", "_", name)
    exact.__name__ = f"counts_and_holders_of_{title}_are_those_of_its_log"
    shares.__name__ = f"causes_and_releasers_of_{title}_have_the_times_of_its_log"
    test(exact)
    test_of_shares(shares)


@test
def times_off_the_cpu_are_those_of_perf(t):
    """perf reads the switch records of the same file."""
    t.need("perf")
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")
    _, got, data = recorded(t, [*REAL_TIME, program("mutex")], "mutex")
    threads = off_cpu_by_perf(t, data)
    names = dict((int(tid), name) for name, tid in re.findall(
        r"^\s*(worker-\d)\s+(\d+)\s*$", t.run("perf", "script", "-F", "comm,tid", "-i", data).out, re.M))
    t.equal(sorted(names.values()), [f"worker-{i}" for i in range(4)], "threads in the file")
    for tid, name in names.items():
        # The start of a thread has no switch out.
        causes = [c for c in got["causes"] if c["waiter"] == name
                  and c["name"] != "start of the thread"]
        count = sum(c["count"] for c in causes)
        ns = sum(c["blocked_ns"] + c["runnable_ns"] for c in causes)
        t.equal(count, threads[tid].count, f"number of waits of {name}")
        t.equal(ns, threads[tid].ns, f"ns that {name} waited")


@test
def holders_of_kernel_locks_are_known_with_and_without_names(t):
    """A thread that got a lock without a wait has no record: without names of the kernel's functions
    it is no holder."""
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")
    if t.run("unshare", "-m", "true", status=None).status:
        t.skip("mount namespaces are not allowed")
    data = t.path("kernel_lock.data")
    none = ("unshare", "-m", "sh", "-c", 'mount --bind /dev/null /proc/kallsyms && exec "$@"', "sh")
    done, dropped = record_all(t, [program("kernel_lock")], data)
    if done.status == 77:
        t.skip("the kernel has no userfaultfd")
    t.equal((done.status, dropped), (0, False), f"the recording: {done}")
    for lock in ("kernel rwsem", "kernel mutex"):
        for options, of_second, of_third in (
                ((), ("first", "unlock"), ("second", "unlock")),
                (none, (None, None), ("second", "contention"))):
            causes = [c for c in t.json(t.run(*options, ASSAY, "waits", "--json", data,
                                              env={"XDG_CACHE_HOME": t.path("cache")}).out)["causes"]
                      if c["kind"] == "lock" and c["name"].startswith(lock)]
            found = {c["waiter"]: (c["holder"], c["evidence"], c["released_by"], c["count"]) for c in causes}
            t.equal(found, {"second": (*of_second, "first in work", 4),
                            "third": (*of_third, "second in work", 4)}, f"{lock} {len(options)}")


for one in PROGRAMS + SCRIPTS if LONG else SHORT:
    truth_test(one)

main()
