# SPDX-License-Identifier: GPL-2.0-or-later
"""assay waits: causes, names, releasers and holders of the waits of a small program, and its options."""
import os
import tempfile

from harness import *
from page_data import Page
from waits_truth import record_all, program as waiting_program

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static int ends[2];
static volatile int asking;
static int is_asleep(int tid)
{
	char path[64], text[512];
	int file;
	ssize_t size;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = open(path, O_RDONLY);
	size = read(file, text, sizeof(text) - 1);
	close(file);
	text[size > 0 ? size : 0] = 0;
	return strstr(text, ") S ") != 0;
}
static void nap(int ms) { struct timespec t = {0, ms * 1000000l}; nanosleep(&t, 0); }
APART static void release_table(void) { pthread_mutex_unlock(&table_lock); __asm__(""); }
APART static void take_table(void) { pthread_mutex_lock(&table_lock); __asm__(""); }
APART static void send_byte(void) { write(ends[1], "x", 1); __asm__(""); }
static void *work(void *unused)
{
	prctl(PR_SET_NAME, "owner");
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&table_lock);
		pthread_barrier_wait(&ready);
		/* On a busy machine the asker may come late. */
		while (asking != i + 1 || !is_asleep(getpid()))
			sched_yield();
		nap(30);
		release_table();
		pthread_barrier_wait(&ready);
	}
	nap(30);
	send_byte();
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	char byte;
	int file = open(argv[1], O_CREAT | O_RDWR, 0600);
	pipe(ends);
	pthread_barrier_init(&ready, 0, 2);
	pthread_create(&thread, 0, work, 0);
	prctl(PR_SET_NAME, "asker");
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&ready);
		asking = i + 1;
		take_table();
		pthread_mutex_unlock(&table_lock);
		pthread_barrier_wait(&ready);
	}
	read(ends[0], &byte, 1);
	pthread_join(thread, 0);
	write(file, &byte, 1);
	fdatasync(file);
	return 0;
}
"""
_directory = tempfile.TemporaryDirectory(prefix="assay-test-waits-")  # for all tests


def shared(name):
    return os.path.join(_directory.name, name)


def program(t):
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")
    if not os.path.exists(shared("locks")):
        t.run("cc", "-O1", "-g", "-pthread", "-fno-omit-frame-pointer", "-w", "-o",
              shared("locks"), t.write("locks.c", PROGRAM))
    return shared("locks"), shared("data.db")


def recording(t):
    words = program(t)
    if not os.path.exists(shared("locks.data")):
        done, _ = record_all(t, words, shared("locks.data"))
        t.equal(done.status, 0, f"status of the recording: {done}")
    return shared("locks.data")


def causes(t, *options):
    return t.json(t.assay("waits", "--json", *options, recording(t)).out)


def of(found, kind, waiter):
    return [c for c in found["causes"] if c["kind"] == kind and c["waiter"] == waiter]


@test
def a_lock_has_the_name_of_its_variable_and_a_holder(t):
    [lock] = of(causes(t), "lock", "asker")
    t.equal((lock["name"], lock["released_by"], lock["holder"], lock["evidence"]),
            ("table_lock", "owner in release_table", "owner", "unlock"))
    t.equal((lock["count"], lock["function"]), (3, "take_table"))
    t.true(lock["p99_ns"] is None, "3 waits have no 99th percentile")
    t.equal(sum(step["count"] for step in lock["histogram"]), 3)


@test
def other_causes_have_no_holder(t):
    found = causes(t)
    [pipe] = of(found, "pipe", "asker")
    t.equal((pipe["released_by"], pipe["holder"], pipe["count"]),
            ("owner in send_byte", None, 1))
    # The process may exit before the recorder reads the names of its descriptors.
    t.true(pipe["name"].startswith("pipe:[") or pipe["name"].startswith("descriptor "), pipe)
    t.true(all(c["holder"] is None for c in found["causes"] if c["kind"] != "lock"), found)
    t.true(all(not c["holder"] or c["evidence"] for c in found["causes"]), found)
    # The thread that comes to a barrier last does not wait: each of the two may be the first one.
    t.equal({c["name"] for waiter in ("asker", "owner") for c in of(found, "condition", waiter)}, {"ready"})
    t.equal(sum(c["count"] for c in of(found, "sleep", "owner")), 4)
    t.true(all(c["name"].endswith(("/data.db", "descriptor 3")) for c in of(found, "file", "asker")),
           found)
    t.equal([c for c in found["causes"] if c["kind"] == "other"], [])


@test
def only_files_have_a_device(t):
    found = causes(t)
    of_file = os.stat(shared("data.db")).st_dev
    link = f"/sys/dev/block/{os.major(of_file)}:{os.minor(of_file)}"
    device = os.path.basename(os.path.realpath(link)) if os.path.exists(link) else None
    # Only one mount of each device is recorded, which may be another one.
    t.true(all(c["device"] in (None, device) for c in of(found, "file", "asker")), found)
    # The first use of a page of the program may wait for a disk.
    t.equal({c["device"] for c in found["causes"] if c["kind"] not in ("file", "page_fault")},
            {None})


@test
def the_account_closes(t):
    ledger = causes(t)["ledger"]
    terms = sum(ledger[key] for key in ("oncpu_ns", "runnable_ns", "blocked_ns", "unseen_ns",
                                        "residual_ns"))
    t.equal(terms, ledger["wall_ns"])
    t.near(ledger["residual_ns"], 0, ledger["wall_ns"] / 100)


@test
def the_path_goes_through_the_holder(t):
    found = causes(t)
    sleeps = [p for p in found["path"] if p["kind"] == "sleep"]
    t.equal({p["thread"] for p in sleeps}, {"owner"})
    t.equal([p for p in found["path"] if p["kind"] == "lock"], [], "waits that a thread ended")
    t.near(sum(p["ns"] for p in found["path"]), found["path_ns"], 100)


@test
def readers_get_a_summary_first(t):
    text = t.assay("waits", recording(t)).out
    t.true(text.startswith("Summary\n"), text)
    t.has(text, "lock table_lock in take_table, released by owner in release_table, which held it "
                "(unlock)")
    t.has(text, "Where the threads' time went")
    t.has(text, "What decided the elapsed time")
    page = t.path("waits.html")
    t.assay("waits", "--html", page, recording(t))
    t.equal(Page.of_file(page).head["kind"], "waits")
    stacks, found = Page.of_file(page).stacks(), causes(t)
    for value, key in (("blocked", "blocked_ns"), ("runnable", "runnable_ns"), ("waits", "count")):
        t.equal(stacks.total(value), sum(c[key] for c in found["causes"]), value)
    paths = [stacks.path(node) for node in stacks.node]
    t.true(any("take_table" in path and "<- owner in release_table" in path
               and path.index("take_table") < path.index("<- owner in release_table")
               < path.index("release_table") for path in paths), "wakers are below waiters")
    t.true({stacks.names[stacks.owners["process"][o]] for o in stacks.owner} >= {"owner", "asker"},
           "the owners are the threads that waited")


@test
def wakers_are_below_waiters_in_the_tree(t):
    text = t.assay("waits", "-g", "--comm", "asker", recording(t)).out
    lines = [line.split()[-1] for line in text.splitlines() if line.strip()]
    t.has(text, "<- owner in release_table")
    t.true(lines.index("take_table") < lines.index("release_table"), text)


@test
def filters_and_instances_select_threads(t):
    found = causes(t, "--comm", "owner")
    t.equal((found["scope"], {c["waiter"] for c in found["causes"]}), ("filter", {"owner"}))
    t.equal(found["ledger"]["oncpu_ns"], None, "of some threads of a process")
    names = {c["waiter"] for c in causes(t, "--instances")["causes"]}
    [asker] = [name for name in names if name.startswith("asker:")]
    one = {c["waiter"] for c in causes(t, "--tid", asker.split(":")[1])["causes"]}
    t.equal(one - {"assay"}, {"asker"}, "the thread, which was a part of assay before its exec")
    everything = causes(t, "--all")
    t.equal((everything["scope"], everything["path"]), ("all", []))
    t.true(everything["threads"] > found["threads"], everything["threads"])


@test
def rows_are_sorted_by_columns(t):
    found = causes(t, "--sort", "count", "--percent-limit", "0")
    counts = [c["count"] for c in found["causes"]]
    t.equal(counts, sorted(counts, reverse=True))
    failed = t.assay("waits", "--sort", "colour", recording(t), status=2)
    t.has(failed.err, "colour")


@test
def recordings_of_the_tracepoints_alone_will_do(t):
    words = program(t)
    t.assay("record", "-a", "-g", "-e", "cpu-clock", "-e", "sched:sched_switch", "-e",
            "sched:sched_waking", "-o", t.path("plain.data"), "--", *words)
    found = t.json(t.assay("waits", "--json", "--comm", "asker", t.path("plain.data")).out)
    lock = max(of(found, "lock", "asker"), key=lambda cause: cause["blocked_ns"])
    t.equal((lock["name"], lock["released_by"]), ("mutex in take_table", "owner in release_table"))


@test
def without_wake_ups_the_releaser_is_missing(t):
    t.assay("record", "--off-cpu", "-o", t.path("off.data"), "--", "sleep", "0.1")
    found = t.json(t.assay("waits", "--json", "--comm", "sleep", t.path("off.data")).out)
    t.equal((found["has_wakings"], found["ledger"]["residual_ns"]), (False, 0))
    t.equal({c["released_by"] for c in found["causes"]}, {None})
    t.true(sum(c["blocked_ns"] for c in found["causes"]) >= 10 ** 8, found["causes"])
    t.has(t.assay("waits", t.path("off.data")).out, "wake-ups were not recorded")


@test
def what_has_no_waits_is_refused(t):
    failed = t.assay("waits", "--store", t.path("a.db"), "-g", status=2)
    t.has(failed.err, "-g")
    failed = t.assay("waits", t.path("a.data"), t.path("b.data"), status=2)
    t.has(failed.err, "give one recording")


def rows_of_slices(t, doc):
    """By thread: its slices of waits (begin, end, name, arguments) in ns; they must be nested."""
    rows = {}
    for e in doc["traceEvents"]:
        if e["ph"] == "X":
            begin = round(e["ts"] * 1000)
            rows.setdefault((e["pid"], e["tid"]), []).append(
                (begin, begin + round(e["dur"] * 1000), e["name"], e.get("args")))
    for row in rows.values():
        row.sort(key=lambda s: (s[0], -s[1]))
        outer = [s for s in row if s[1] - s[0] > 1]  # those of 1 ns are ends of arrows
        t.true(all(a[1] <= b[0] for a, b in zip(outer, outer[1:])), "a thread has one state")
    return rows


@test
def chrome_has_an_arrow_for_each_wait_that_a_thread_ended(t):
    doc = t.json(t.assay("export", "--to", "chrome", recording(t)).out)
    rows, events = rows_of_slices(t, doc), doc["traceEvents"]
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    # A preempted thread is not woken; it has the thread that ran instead in released_by.
    ended = sum(c["count"] for c in causes(t, "--all")["causes"]
                if c["released_by"] and c["released_by"][0] != "["
                and not (c["kind"] == "cpu" and not c["name"]))
    t.equal((len(begins), len([e for e in events if e["ph"] in "sf"])), (ended, 2 * ended))
    t.equal(begins.keys(), ends.keys(), "both ends of each arrow")
    for key, begin in begins.items():
        end = ends[key]
        row = begin["pid"], begin["tid"]
        t.true(begin["ts"] <= end["ts"], f"arrow {key} does not go back")
        t.true(any(s[0] == round(begin["ts"] * 1000) and s[2].startswith("wakes ")
                   for s in rows[row]), f"the slice of the waker of arrow {key}")
        t.true(any(s[0] == round(end["ts"] * 1000) and s[2] == "on CPU"
                   for s in rows[end["pid"], end["tid"]]), f"the slice of the woken thread {key}")


@test
def chrome_has_the_cause_of_each_wait(t):
    doc = t.json(t.assay("export", "--to", "chrome", "--comm", "asker", recording(t)).out)
    [row] = [row for row in rows_of_slices(t, doc).values()
             if any(s[2] == "lock table_lock" for s in row)]
    locks = [s for s in row if s[2] == "lock table_lock"]
    t.equal([s[3] for s in locks], 3 * [{
        "kind": "lock", "name": "table_lock", "released_by": "owner in release_table",
        "holder": "owner", "evidence": "unlock"}])
    found = causes(t, "--comm", "asker")
    t.equal(sum(s[1] - s[0] for s in locks), of(found, "lock", "asker")[0]["blocked_ns"])
    t.equal(sum(s[1] - s[0] for s in row if s[3]),
            sum(c["blocked_ns"] + c["runnable_ns"] for c in found["causes"]), "all waits")
    waits = sum(c["count"] for c in found["causes"])
    part = t.assay("export", "--to", "chrome", "--comm", "asker", "--limit", "3", recording(t))
    t.has(part.err, f"--limit: the first 3 of {waits} waits")
    short = [s for row in rows_of_slices(t, t.json(part.out)).values() for s in row]
    t.true(len([s for s in short if s[3]]) <= 6, "3 waits have at most two slices each")


@test
def major_page_faults_with_addresses_name_the_file(t):
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")
    data = t.path("faults.data")
    t.run(ASSAY, "record", "--waits", "-d", "-e", "cpu-clock", "-e", "major-faults", "-o", data, "--",
          waiting_program("page_fault"), cwd=t.directory, env={**os.environ, "TRUTH": t.path("truth.json")})
    waits = t.json(t.assay("waits", data, "--json").out)
    faults = [r for r in waits["causes"] if r["kind"] == "page_fault" and r["function"] and
              r["function"].startswith("touch_page")]
    named = sum(r["count"] for r in faults if r["name"] == str(t.path("index.dat")))
    t.true(named > 0, f"waits for index.dat: {[(r['name'], r['count']) for r in faults]}")
    # Some waits of a fault are for locks of the kernel; a lost record hides the file of one wait.
    t.true(named >= 0.95 * sum(r["count"] for r in faults), f"named waits of faults: {faults}")


FAULTS = """
import mmap, os, random, time
file = os.open("index.dat", os.O_CREAT | os.O_RDWR)
os.write(file, bytes(4 << 20))
os.fsync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
pages = mmap.mmap(file, 0)
pages.madvise(mmap.MADV_RANDOM)
for number in random.sample(range(1024), 100):
    pages[number << 12]
time.sleep(1)  # the recorder reads the mapping
"""


@test
def page_faults_have_the_name_of_the_file_without_options(t):
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")
    data = t.path("faults.data")
    t.run(ASSAY, "record", "--waits", "-o", data, "--", "python3", "-c", FAULTS, cwd=t.directory)
    faults = [r for r in t.json(t.assay("waits", data, "--json").out)["causes"] if r["kind"] == "page_fault"]
    if not faults:  # pages may come before the thread leaves the CPU
        t.skip("no thread waited for a page of a disk")
    named = sum(r["count"] for r in faults if r["name"] == str(t.path("index.dat")))
    # Programs that start wait for pages of code, too.
    t.true(named >= sum(r["count"] for r in faults) / 2,
           f"waits for index.dat: {[(r['name'], r['count']) for r in faults]}")


DEADLOCK = """
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;
static void *one(void *first) {
    pthread_mutex_t *own = first;
    pthread_mutex_lock(own);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(own == locks ? locks + 1 : locks);
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&threads[0], NULL, one, locks);
    pthread_create(&threads[1], NULL, one, locks + 1);
    pthread_join(threads[0], NULL);
    return 0;
}
"""


def blocked_threads(pid):
    """Those of the process that wait in a futex, by /proc."""
    tasks = f"/proc/{pid}/task"
    return sum("futex" in open(f"{tasks}/{task}/wchan").read() for task in os.listdir(tasks))


@test
def threads_that_never_run_are_blocked_all_the_time(t):
    program(t)
    t.run("cc", "-pthread", "-o", t.path("dead"), t.write("dead.c", DEADLOCK))
    dead, data = t.start(t.path("dead")).pid, t.path("dead.data")
    t.until(lambda: blocked_threads(dead) == 3, "a deadlock")
    t.run(ASSAY, "record", "--waits", "-p", dead, "-o", data, "--", "sleep", "0.5")
    for options in [], ["--pid", dead]:
        found = t.json(t.assay("waits", "--json", *options, data).out)
        t.equal((found["threads"], found["silent_threads"], found["waits"]), (3, 3, 3))
        ledger, [cause] = found["ledger"], found["causes"]
        t.true(ledger["wall_ns"] > 0, "their time")
        t.equal((ledger["blocked_ns"], ledger["residual_ns"], cause["blocked_ns"]),
                (ledger["wall_ns"], 0, ledger["wall_ns"]))
        t.equal((cause["kind"], cause["name"]), ("other", "since before the recording"))
    t.equal(t.json(t.assay("waits", "--json", "--all", data).out)["silent_threads"], 0)
    text = " ".join(t.assay("waits", data).out.split())
    t.has(text, "3 threads of the chosen processes")
    t.has(text, "3 threads did not run during the recording")
    # The screen has only what happened, and never the waits of other processes.
    shown = t.json(t.assay("top", "--once", "--waits", "-p", dead, "-d", "0.3", "--json").out)
    t.equal((shown["scope"], shown["waits"]), ("command", 0))
    t.has(t.assay("top", "--once", "--waits", "-p", dead, "-d", "0.3").out,
          "threads of the chosen processes")


main()
