# SPDX-License-Identifier: GPL-2.0-or-later
"""record --waits: each switch of a thread has its sample, perf reads the file, descriptors have names,
and without rights or without tracefs the recording is still made."""
import json
import os
import re
from collections import Counter

from harness import ASSAY, main, test

PING_PONG = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
there, back = os.pipe(), os.pipe()
child = os.fork()
for _ in range(200):
    if child:
        os.write(there[1], b"x"); os.read(back[0], 1)
    else:
        os.read(there[0], 1); os.write(back[1], b"x")
"""

KNOWN = """
import encodings.idna, os, select, socket, threading, time, unicodedata

# The numbers of the modules' files are used again: the recorder looks at a number once a second.
time.sleep(1.1)

def blocks(wait, wake):
    timer = threading.Timer(0.02, wake)
    timer.start(); wait(); timer.join()

r, w = os.pipe()
blocks(lambda: os.read(r, 1), lambda: os.write(w, b"x"))
a, b = socket.socketpair()
blocks(lambda: a.recv(1), lambda: b.send(b"x"))
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
blocks(lambda: client.recv(1), lambda: peer.send(b"x"))
blocks(server.accept, lambda: socket.create_connection(server.getsockname()))
poll = select.epoll(); poll.register(r)
blocks(lambda: poll.poll(5), lambda: os.write(w, b"x"))
locked = os.open(PATH, os.O_CREAT | os.O_RDWR)
time.sleep(3)  # until the recorder has read the names, which it does more rarely on a busy machine
print(os.getpid(), r, os.readlink(f"/proc/self/fd/{r}"), a.fileno(), os.fstat(a.fileno()).st_ino,
      client.fileno(), client.getsockname()[1], server.fileno(), server.getsockname()[1],
      poll.fileno(), sep="|")
"""


def recorded(t, *command, words=(), around=()):
    """Records a command; returns the file and what the command printed. Skips without the rights."""
    if os.geteuid():
        t.skip("needs root, for tracepoints of the scheduler")
    data = t.path("waits.data")
    done = t.run(*around, ASSAY, "record", "--waits", "-o", data, *words, "--", *command)
    if "Wakers: not available" in done.err:
        t.skip("the kernel has no tracepoints of the scheduler, or they may not be opened")
    return data, done.out


def rows(t, data, query):
    return json.loads(t.assay("sql", "--format", "json", data, query).out)


def lost(t, data):
    return rows(t, data, "SELECT count(*) AS n FROM events WHERE kind = 'lost'")[0]["n"]


@test
def each_switch_of_a_thread_has_its_sample(t):
    for _ in range(4):  # other programs may switch more often than can be recorded
        data, out = recorded(t, "nice", "-n", "15", "python3", "-c",
                             PING_PONG + "\nif child: print(child, os.getpid())", words=("--memory", "256"),
                             around=("nice", "-n", "-15"))
        if not lost(t, data):
            break
    else:
        t.skip("records were lost on this machine")
    for pid in out.split():
        # The two events are enabled and disabled one after the other, so a switch before the first record or
        # after the last one may have a sample alone, and the last record may have none: on a busy machine
        # a thread leaves its CPU for the last time when the recording ends. The sample of a switch precedes
        # its record.
        of = f"FROM events WHERE kind = 'switch' AND tid = {pid} AND name IN ('out', 'preempted')"
        times = [r["time_ns"] for r in rows(t, data, f"SELECT time_ns {of} ORDER BY time_ns")]
        samples = rows(t, data, "SELECT count(*) AS n FROM events WHERE kind = 'sample' AND "
                       f"name = 'sched:sched_switch' AND tid = {pid} AND time_ns > {times[0]} "
                       f"AND time_ns <= {times[-2]}")[0]["n"]
        t.equal(samples, len(times) - 2, f"switches of {pid} between the first and the last one")
        # It leaves the CPU in each round, that of its start and of its end are not counted.
        t.true(samples >= 198, f"{samples} switches of {pid} are too few")
        waits = rows(t, data, f"SELECT count(*) AS n FROM events WHERE name = 'sched:sched_switch' AND "
                     f"tid = {pid} AND fields ->> 'prev_state' = 1")[0]["n"]
        wakings = rows(t, data, "SELECT count(*) AS n FROM events WHERE name = 'sched:sched_waking' AND "
                       f"fields ->> 'pid' = {pid}")[0]["n"]
        # A thread may be woken just before it leaves the CPU.
        t.true(wakings >= waits, f"{waits} waits of {pid} ended by {wakings} wake-ups")
    child, parent = out.split()
    between = rows(t, data, "SELECT count(*) AS n FROM events WHERE name = 'sched:sched_waking' AND "
                   f"tid IN ({child}, {parent}) AND fields ->> 'pid' IN ({child}, {parent}) AND "
                   "tid <> fields ->> 'pid'")[0]["n"]
    t.true(between >= 100, f"only {between} wake-ups between the two")


@test
def perf_prints_the_same_switches(t):
    t.need("perf")
    data, _ = recorded(t, "python3", "-c", PING_PONG)
    text = t.run("perf", "script", "-F", "trace:tid,event,trace", "-i", data).out
    for event, field in (("sched:sched_switch", "prev_pid"), ("sched:sched_waking", "pid")):
        want = re.findall(r"^\s*(-?\d+) +%s: .*?\b%s=(\d+)" % (event, field), text, re.M)
        got = rows(t, data, f"SELECT tid, fields ->> '{field}' AS other FROM events WHERE "
                   f"kind = 'sample' AND name = '{event}' ORDER BY seq")
        # A thread that has ended has no number when it leaves the CPU.
        own = Counter(("-1" if r["tid"] is None else str(r["tid"]), str(r["other"])) for r in got)
        perfs = Counter(want)
        t.equal((own - perfs, perfs - own), (Counter(), Counter()), f"{event}: only assay's, only perf's")
        t.true(want, f"no {event}")


@test
def descriptors_on_which_threads_wait_have_names(t):
    data, out = recorded(t, "python3", "-c", KNOWN.replace("PATH", repr(str(t.path("a file")))))
    (pid, pipe, pipe_name, pair, inode, client, client_port, server, server_port,
     poll) = out.strip().split("|")
    got = {}
    for row in rows(t, data, f"SELECT value, name FROM events WHERE kind = 'descriptor' AND pid = {pid}"):
        got.setdefault(str(row["value"]), []).append(row["name"])
    t.has(got.get(pipe, []), pipe_name, "the pipe")
    t.true(any(re.fullmatch(rf"unix {inode} (\d+|-)", name) for name in got.get(pair, [])),
           f"the pair of sockets {inode}: {got.get(pair)}")
    t.has(got.get(client, []), f"tcp 127.0.0.1:{client_port} 127.0.0.1:{server_port}", "the client")
    t.has(got.get(server, []), f"tcp 127.0.0.1:{server_port} -", "the server")
    t.has(got.get(poll, []), "anon_inode:[eventpoll]", "epoll")


@test
def tracefs_need_not_be_mounted(t):
    t.need("unshare")
    data, _ = recorded(t, "true", around=(
        "unshare", "-m", "sh", "-c", "for d in /sys/kernel/tracing /sys/kernel/debug; do "
        'umount -l $d 2>/dev/null; done; ls /sys/kernel/tracing | grep -q . && exit 77; exec "$@"', "sh"))
    events = {r["name"] for r in rows(t, data, "SELECT DISTINCT name FROM events WHERE kind = 'sample'")}
    t.has(events, "sched:sched_switch", "events")
    fields = rows(t, data, "SELECT fields FROM events WHERE name = 'sched:sched_switch' LIMIT 1")
    t.has(fields[0]["fields"], "prev_state", "fields")


@test
def without_the_right_the_recording_has_a_note(t):
    if os.geteuid():
        t.skip("needs root, to become a user without rights")
    t.need("setpriv")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        if int(f.read()) < 0:
            t.skip("perf_event_paranoid lets every user open tracepoints")
    place = t.path("user")
    os.mkdir(place)
    os.chmod(os.path.dirname(place), 0o711)
    os.chown(place, 65534, 65534)
    data = os.path.join(place, "user.data")
    done = t.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                 "env", f"HOME={place}", ASSAY, "record", "--waits", "-o", data, "--", "sleep", "0.05")
    t.has(done.err, "Wakers: not available", "the message")
    t.has(t.assay("report", "--full", data).out.replace("\n", " "), "Wakers: not available", "the report")


@test
def a_flight_recorder_and_a_store_take_waits(t):
    if os.geteuid():
        t.skip("needs root, for tracepoints of the scheduler")
    data = t.path("ring.data")
    for words in (("--ring=8M", "-o", data), ("--store", t.path("waits.db"))):
        t.assay("start", "--waits", "--name", "waits", *words)
        t.run("python3", "-c", PING_PONG)
        t.assay("stop", "--name", "waits")
    names = {r["name"] for r in rows(t, data, "SELECT DISTINCT name FROM events WHERE kind = 'sample'")}
    t.has(names, "sched:sched_waking", "the flight recorder's events")
    t.true(rows(t, t.path("waits.db"), "SELECT count(*) AS n FROM windows")[0]["n"] > 0, "windows")


STORED = """
import threading, time
lock = threading.Lock()
def ask():
    for _ in range(20):
        with lock: pass
        time.sleep(0.002)
threads = [threading.Thread(target=ask) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(10):
    with lock: time.sleep(0.01)
    time.sleep(0.002)
for thread in threads: thread.join()
"""


@test
def a_store_has_the_waits_of_a_recording(t):
    """Windows are shorter than many waits: their parts add up to the waits of the recording."""
    data, _ = recorded(t, "python3", "-c", STORED, words=("--memory", "64"))
    store = t.path("waits.db")
    t.run(t.workload("store_recording"), data, store, "0.05", "", "waits")
    whole = t.json(t.assay("waits", "--all", "--json", data).out)
    sums = t.json(t.assay("waits", "--json", store).out)
    # Threads without a record up to the end of a window are not in its account.
    for key in ("blocked_ns", "runnable_ns", "preempted_ns"):
        t.near(sums["ledger"][key], whole["ledger"][key], whole["ledger"]["blocked_ns"] / 50, key)
    t.equal(sums["ledger"]["residual_ns"], 0, "the account closes")
    t.equal(sums["wakings"], whole["wakings"], "wake-ups")

    def released(found):
        """Sleeps and locks that a thread or an interrupt ended."""
        rows = Counter()
        for row in found["causes"]:
            if row["released_by"] and row["kind"] in ("sleep", "lock", "pipe"):
                rows[row["kind"], row["waiter"], row["released_by"], row["holder"]] += row["count"]
        return rows

    t.equal(released(sums), released(whole), "waits by cause")
    t.true(released(sums), "there are waits")
    chosen = t.json(t.assay("waits", "--json", "--comm", "python3", store).out)
    t.equal(chosen["scope"], "filter")
    t.equal(chosen["ledger"]["residual_ns"], 0, "the account of a program closes")
    sql = rows(t, store, "SELECT sum(blocked_ns) AS blocked, sum(waits) AS n FROM waits")[0]
    t.equal((sql["blocked"], sql["n"]), (sums["ledger"]["blocked_ns"], sums["waits"]))
    before = t.json(t.assay("waits", "--json", store).out)
    t.assay("store", "keep", "--fine", "1ms", store)
    after = t.json(t.assay("waits", "--json", store).out)
    t.equal(after["causes"], before["causes"], "causes after windows were merged")
    t.equal(after["ledger"], before["ledger"], "the account after windows were merged")
    t.has(t.assay("waits", "-g", store, status=2).err, "-g does not apply")


main()
