# SPDX-License-Identifier: GPL-2.0-or-later
"""lock: two Python threads wait for a lock that a third one owns for 10 ms.

It logs its waits as truth.h does.
"""
import ctypes
import json
import os
import resource
import threading
import time

ROUNDS = 60
PR_SET_NAME = 15
libc = ctypes.CDLL(None)
table = threading.Lock()
waits = []


def mark():
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return (time.clock_gettime_ns(time.CLOCK_MONOTONIC), time.thread_time_ns(),
            used.ru_nvcsw, used.ru_nivcsw)


def log(since, waiter, kind, by="", function=""):
    until = mark()
    time_ns, cpu_ns, blocks, preempted = (b - a for a, b in zip(since, until))
    if blocks:
        waits.append({"waiter": waiter, "kind": kind, "name": "", "by": by, "function": function,
                      "holder": "", "from_ns": since[0], "ns": time_ns, "cpu_ns": cpu_ns,
                      "blocks": blocks, "preempted": preempted})


def nap(waiter, seconds):
    since = mark()
    time.sleep(seconds)
    log(since, waiter, "sleep")


def worker():
    libc.prctl(PR_SET_NAME, b"worker", 0, 0, 0)
    for _ in range(ROUNDS):
        since = mark()
        table.acquire()
        log(since, "worker", "semaphore|lock", "owner")
        table.release()
        nap("worker", 0.005)


def owner():
    libc.prctl(PR_SET_NAME, b"owner", 0, 0, 0)
    for _ in range(ROUNDS):
        table.acquire()
        nap("owner", 0.01)
        table.release()
        nap("owner", 0.005)


begin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
libc.prctl(PR_SET_NAME, b"main", 0, 0, 0)
threads = [threading.Thread(target=owner), threading.Thread(target=worker)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with open(os.environ.get("TRUTH", "/dev/stdout"), "w", encoding="ascii") as f:
    json.dump({"program": "lock", "pid": os.getpid(), "path": [], "waits": waits,
               "elapsed_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC) - begin_ns}, f)
