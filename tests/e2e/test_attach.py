# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of processes that run, and begin and end threads while the events are opened: the
account of time closes, and the time on a CPU is that of the kernel's counter. ASSAY_LONG=1 makes
200 recordings of each program."""

import time

from harness import LONG, main, test

ATTACHES = 200 if LONG else 8


def ledgers(t, mode, *words):
    """The accounts of recordings of the program, one after the other."""
    program = t.start(t.workload("attached"), mode)
    time.sleep(0.2)
    for _ in range(ATTACHES):
        t.assay("record", "-q", *words, "-o", t.path("a.data"), "-p", program.pid, "--duration",
                "300ms")
        yield t.report(t.path("a.data"))["ledger"]


def closes(t, ledger):
    """The residual is small; or its reason is not one of ticks, and the figures show it."""
    t.equal(ledger["oncpu_ns"], ledger["counted_oncpu_ns"], "on CPU, and the kernel's counter")
    t.equal(ledger["oncpu_ns"] + ledger["runnable_ns"] + ledger["blocked_ns"] +
            ledger["unknown_ns"] + ledger["residual_ns"], ledger["thread_wall_ns"],
            "all time of the threads")
    t.equal([r for r in ledger["remarks"] if "timer" in r], [], "remarks")
    t.near(ledger["residual_ns"], 0, 0.01 * ledger["thread_wall_ns"], f"the residual of {ledger}")
    # Each switch and each end of a thread takes some us between the counter and the record.
    t.near(ledger["switched_oncpu_ns"], ledger["counted_oncpu_ns"],
           0.02 * ledger["counted_oncpu_ns"] + 10000 * (ledger["switches"] + ledger["threads"]),
           f"on CPU by switch records: {ledger}")


@test
def threads_that_begin_during_the_attach_are_counted_whole(t):
    for words in ((), ("-g",)):
        for ledger in ledgers(t, "threads", *words):
            closes(t, ledger)
            t.true(ledger["threads"] > 10, f"new threads are missing: {ledger}")


@test
def an_exec_by_another_thread_ends_all_threads(t):
    for ledger in ledgers(t, "exec", "-g"):
        closes(t, ledger)


main()
