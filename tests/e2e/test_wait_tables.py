# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits and their wakers in SQL, from recordings of assay and of perf; report --latency."""
import json

from harness import ASSAY, main, test

# The child sleeps, then answers a byte of its parent, 40 times.
PROGRAM = """
import os, time
r, w = os.pipe()
r2, w2 = os.pipe()
if os.fork() == 0:
    for i in range(40):
        os.read(r, 1)
        time.sleep(0.003)
        os.write(w2, b"x")
    os._exit(0)
for i in range(40):
    os.write(w, b"x")
    os.read(r2, 1)
os.wait()
"""


def with_tracefs(t, *words):
    t.need("unshare")
    return t.run("unshare", "-m", "sh", "-c",
                 'mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing; exec "$@"',
                 "sh", *words)


def rows(t, data, query):
    return json.loads(t.assay("sql", "--format", "json", data, query).out)


def check_ledger(t, data):
    """The waits of each process are its blocked and runnable time, to the ns."""
    t.equal(rows(t, data, """WITH w AS (SELECT t.process AS p, sum(blocked_ns + runnable_ns) AS ns
                             FROM waits JOIN threads t ON t.id = waits.thread WHERE NOT since_start GROUP BY 1)
                             SELECT p.name, p.blocked_ns + p.runnable_ns AS ledger, w.ns
                             FROM processes p LEFT JOIN w ON w.p = p.id
                             WHERE coalesce(w.ns, 0) <> coalesce(p.blocked_ns + p.runnable_ns, 0)"""),
            [], "processes whose waits differ from the ledger")
    # Their sum hides an exchange of the two.
    for column in ("oncpu_ns", "runnable_ns", "blocked_ns"):
        t.equal(rows(t, data, f"""SELECT v.name FROM by_process v JOIN processes p ON p.id = v.id
                                  WHERE v.{column} IS NOT p.{column}"""), [], f"{column} of by_process")
    for column in ("waits", "blocked_ns", "runnable_ns"):
        woken, wakings = rows(t, data, f"""SELECT sum({column}) AS ns FROM waits
                                           WHERE woken IN ('thread', 'interrupt', 'softirq')
                                           UNION ALL SELECT sum({column}) FROM wakings""")
        t.equal(woken, wakings, f"{column} of waits with a waker")
        t.true(woken["ns"] > 0, column)
    counts = rows(t, data, """SELECT (SELECT count(*) FROM waits) AS waits,
                              (SELECT sum(waits) FROM waits WHERE woken IN ('thread', 'interrupt', 'softirq')) AS woken,
                              (SELECT sum(waits) FROM wakings) AS wakings,
                              (SELECT sum(waits) FROM waits WHERE woken = 'thread') AS by_thread,
                              (SELECT sum(waits) FROM wait_graph) AS graph""")[0]
    t.equal(counts["woken"], counts["wakings"], "waits with a waker")
    t.equal(counts["by_thread"], counts["graph"], "waits that threads ended")
    t.true(counts["by_thread"] > 0, "no waker")


def check_program(t, data, program):
    """The parent waits for the child: the child wakes it, and no other thread."""
    got = rows(t, data, f"""SELECT w.waker IS NOT NULL AND k.process <> t.process AS other,
                            k.name, sum(w.waits) AS waits, sum(w.blocked_ns) AS ns
                            FROM waits w JOIN threads t ON t.id = w.thread JOIN processes p ON p.id = t.process
                            JOIN threads k ON k.id = w.waker
                            JOIN processes q ON q.id = p.parent
                            WHERE q.name = '{program}' AND p.name = '{program}' AND w.woken = 'thread'
                            GROUP BY 1, 2""")
    t.true(sum(row["waits"] for row in got) > 0, f"the child was never woken: {got}")


@test
def waits_of_a_recording_are_those_of_the_ledger(t):
    data = t.path("w.data")
    with_tracefs(t, ASSAY, "record", "-a", "-g", "-e", "cpu-clock", "-e", "sched:sched_switch", "-e",
                 "sched:sched_waking", "-e", "sched:sched_wakeup_new", "-o", data, "--", "/usr/bin/python3", "-c", PROGRAM)
    check_ledger(t, data)
    check_program(t, data, "python3")
    runnable = rows(t, data, """SELECT (SELECT sum(runnable_ns) FROM waits WHERE stack IS NOT NULL) AS waits,
                                (SELECT sum(runnable_ns) FROM samples
                                 WHERE event = 'sched:sched_switch' AND samples > 0) AS samples""")[0]
    # Waits that lost records may hide have no wake-up; the columns of samples do not know of losses.
    if not rows(t, data, "SELECT 1 FROM waits WHERE woken = 'lost'"):
        t.equal(runnable["waits"], runnable["samples"], "exact runnable time in both tables")


@test
def waits_of_a_recording_of_perf(t):
    data = t.path("perf.data")
    t.need("perf")
    with_tracefs(t, "perf", "record", "-q", "-B", "-a", "-g", "-e", "sched:sched_switch", "-e", "sched:sched_waking",
                 "-o", data, "--", "/usr/bin/python3", "-c", PROGRAM)
    check_ledger(t, data)
    t.has(t.assay("report", "--latency", data, status=2).err, "--latency needs samples of a clock", "the refusal")


@test
def latency_divides_by_the_threads_that_run(t):
    data = t.path("l.data")
    t.run(ASSAY, "record", "-o", data, "--", "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
    clock = json.loads(t.assay("report", "--json", data).out)
    latency = json.loads(t.assay("report", "--json", "--latency", data).out)
    t.equal(latency["event"]["name"], "latency", "event")
    # One process with one thread: nothing to divide.
    t.equal(latency["event"]["samples"], clock["event"]["samples"], "samples")
    t.equal(latency["event"]["weight"], clock["event"]["weight"], "weight")
    t.equal(latency["ledger"], clock["ledger"], "the account")
    t.has(t.assay("report", "--latency=machine", data, status=2).err, "needs a recording of the whole machine", "machine")
    t.has(t.assay("report", "--latency", "--event", "cpu-clock", data, status=2).err, "without --event", "both")
    t.has(t.assay("report", "--latency=cpu", data, status=2).err, "machine", "choices")


main()
