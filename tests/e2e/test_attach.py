# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of processes that run, and begin and end threads while the events are opened: the
account of time closes, and the time on a CPU is that of the kernel's counter. ASSAY_LONG=1 makes
200 recordings of each program."""

import subprocess
import time

from harness import LONG, main, test, test_of_shares

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
    # Each switch and each end of a thread takes some us between the counter and the record: more on
    # a virtual machine whose host runs other machines.
    t.near(ledger["switched_oncpu_ns"], ledger["counted_oncpu_ns"],
           0.02 * ledger["counted_oncpu_ns"] + 20000 * (ledger["switches"] + ledger["threads"]),
           f"on CPU by switch records: {ledger}")


@test_of_shares
def threads_that_begin_during_the_attach_are_counted_whole(t):
    for words in ((), ("-g",)):
        for ledger in ledgers(t, "threads", *words):
            closes(t, ledger)
            t.true(ledger["threads"] > 10, f"new threads are missing: {ledger}")


@test_of_shares
def an_exec_by_another_thread_ends_all_threads(t):
    for ledger in ledgers(t, "exec", "-g"):
        closes(t, ledger)


IDLE = """
import threading, time
for _ in range(4):
    threading.Thread(target=time.sleep, args=(60,)).start()
print(flush=True)
end = time.time() + float(__import__("sys").argv[1])
while time.time() < end:
    pass
time.sleep(60)
"""


@test
def threads_without_any_record_are_in_the_account(t):
    """Threads that wait all the time, alone and beside one that never waits."""
    for busy, words in ((0, ()), (30, ()), (30, ("-g",))):
        program = t.start("python3", "-c", IDLE, busy, stdout=subprocess.PIPE)
        program.stdout.readline()
        time.sleep(0.1)
        t.assay("record", "-q", *words, "-o", t.path("i.data"), "-p", program.pid, "--duration", "500ms")
        ledger = t.report(t.path("i.data"))["ledger"]
        t.equal(ledger["threads"], 5, "threads")
        t.near(ledger["thread_wall_ns"], 5 * ledger["elapsed_ns"], 1e6, "their time")
        t.near(ledger["blocked_ns"] + ledger["oncpu_ns"] + ledger["runnable_ns"], ledger["thread_wall_ns"],
               0.01 * ledger["thread_wall_ns"], f"blocked, on a CPU and runnable: {ledger}")
        t.true(ledger["blocked_ns"] >= 4 * ledger["elapsed_ns"] - 1e6, f"four threads wait: {ledger}")
        t.equal([r for r in ledger["remarks"] if "switch records" in r or "count" in r], [], "remarks")
        program.kill()


main()
