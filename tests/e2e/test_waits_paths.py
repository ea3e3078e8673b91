# SPDX-License-Identifier: GPL-2.0-or-later
"""`assay waits` reports the critical path that programs with a constructed schedule log.

The programs are tests/workloads/waiting/path_*.c. The time on CPU of each thread of the path is
exact, that of functions is sampled. The programs run with real-time priority: other programs do not
change their elapsed time. With ASSAY_LONG, one function of each program becomes really
faster, and the saved time is compared with the prediction.
"""
import collections
import json
import os

from harness import LONG, main, test_of_shares
from programs import comment
from waits_truth import REAL_TIME, program, recorded

FASTER = 30  # percent
POINTS = 0.03
HZ = 1500  # steps of 2 ms have some samples, which take little of the time
RUNS = 5

PATHS = {  # the function that becomes faster
    "fork_join": "slow_part", "lock_chain": "fill_lower", "request": "serve", "pipeline": "parse_item",
    "producer": "produce", "barrier": "straggle", "children": "child_part", "commit": "read_log",
    "timer": "on_tick", "contend": "long_work",
}
SHORT = ["fork_join", "lock_chain", "request"]


def steps_of(log):
    """(thread, kind, function) -> ns of the logged path: on CPU, or blocked. A step of files has its
    whole time: it consists of many short parts on the CPU and off it."""
    sums = collections.Counter()
    for step in log["path"]:
        cpu_ns = 0 if "file" in step["kind"] else step["cpu_ns"]
        if cpu_ns:
            sums[step["waiter"], "on_cpu", step["function"]] += cpu_ns
        if step["kind"] != "running":
            sums[step["waiter"], step["kind"], step["function"]] += step["ns"] - cpu_ns
    return sums


def got_of(document, thread, kind, function=None):
    return sum(row["ns"] for row in document["path"]
               if row["thread"] == thread and row["kind"] in kind.split("|")
               and function in (None, (row["function"] or "").split(".")[0]))


def got_of_thread(document, thread):
    return sum(row["ns"] for row in document["path"] if row["thread"] == thread)


def compare_path(t, name, log, document):
    wrong, threads = [], collections.Counter()
    whole = sum(row["ns"] for row in document["path"])
    steps = steps_of(log)
    for (thread, kind, function), ns in steps.items():
        if "file" in kind:
            got = got_of_thread(document, thread)
        else:
            got = got_of(document, thread, kind, function if kind == "on_cpu" else None)
        threads[thread] += ns if kind == "on_cpu" else 0
        comment("%-12s %-12s %-12s %-18s %9.1f %9.1f ms" % (name, thread, kind, function, ns / 1e6,
                                                            got / 1e6))
        if abs(got - ns) > POINTS * whole:
            wrong.append(f"{thread} {kind} {function}: {got / 1e6:.2f} ms, not {ns / 1e6:.2f} ms")
    for thread, ns in threads.items():
        # System calls between the logged functions take time, too, how much depends on the machine.
        got = got_of(document, thread, "on_cpu")
        if got < ns - POINTS * whole:
            wrong.append(f"{thread}: {got / 1e6:.2f} ms on CPU, not {ns / 1e6:.2f} ms")
    # Other threads are on the path at its begin and its end only, before and after the log.
    strangers = sum(row["ns"] for row in document["path"]
                    if row["thread"] not in threads and row["kind"] != "runnable")
    if strangers > POINTS * whole + max(0, whole - log["elapsed_ns"]):
        wrong.append(f"{strangers / 1e6:.2f} ms of threads that are not in the log")
    t.true(not wrong, "\n".join(wrong))


def times_of_run(t, name, *options):
    """ns that elapsed, and the part of it in which no file was waited for: the time of the disk is
    another one in each run."""
    log = t.path("run.json")
    t.run(*REAL_TIME, program(name), *options, cwd=t.directory, env={"TRUTH": str(log)})
    with open(log, encoding="utf-8") as f:
        log = json.load(f)
    return log["elapsed_ns"], log["elapsed_ns"] - sum(
        step["ns"] for step in log["path"] if "file" in step["kind"])


def compare_prediction(t, name, document):
    function = PATHS[name]
    runs = [(*times_of_run(t, f"path_{name}"),
             times_of_run(t, f"path_{name}", "--faster", function, FASTER)[1]) for _ in range(RUNS)]
    # Other programs can only make a run longer.
    elapsed, before, after = (min(run[i] for run in runs) for i in range(3))
    predicted = FASTER / 10 * sum(row["saves_ns"] or 0 for row in document["path"]
                                  if row["function"] == function) / elapsed
    measured = (before - after) / elapsed
    comment("%-12s %-18s %d %% faster: predicted %5.1f %%, measured %5.1f %%" % (
        name, function, FASTER, predicted * 100, measured * 100))
    t.near(measured, predicted, POINTS, f"share of time saved by a faster {function}()")


def path_test(name):
    def compare(t):
        if os.geteuid() != 0:
            t.skip("tracepoints of the scheduler need root")
        log, document, _ = recorded(t, [*REAL_TIME, program(f"path_{name}")], f"path_{name}",
                                    "-F", HZ)
        compare_path(t, name, log, document)
        if LONG:
            compare_prediction(t, name, document)

    compare.__name__ = f"the_path_of_{name}_is_the_logged_one"
    test_of_shares(compare)


for one in PATHS if LONG else SHORT:
    path_test(one)

main()
