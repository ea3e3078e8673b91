# SPDX-License-Identifier: GPL-2.0-or-later
"""assay diff --waits: a program whose lock is held longer, and whose asker waits for something else."""
import json
import os
import tempfile

from calls_table import Table
from harness import *
from page_data import Page
from waits_truth import record_all

PROGRAM = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static sem_t tokens;
static int ends[2], hold;
static void nap(int ms) { struct timespec t = {0, ms * 1000000l}; nanosleep(&t, 0); }
APART static void release_table(void) { pthread_mutex_unlock(&table_lock); __asm__(""); }
APART static void release_early(void) { pthread_mutex_unlock(&table_lock); __asm__(""); }
APART static void take_table(void) { pthread_mutex_lock(&table_lock); __asm__(""); }
APART static void send_byte(void) { write(ends[1], "x", 1); __asm__(""); }
APART static void give(void) { sem_post(&tokens); __asm__(""); }
static void *work(void *unused)
{
	prctl(PR_SET_NAME, "owner");
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&table_lock);
		pthread_barrier_wait(&ready);
		nap(hold);
		if (hold > 30) release_table(); else release_early();
		pthread_barrier_wait(&ready);
		nap(30);
		if (hold > 30) send_byte(); else give();
	}
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	char byte;
	hold = atoi(argv[1]);
	pipe(ends);
	sem_init(&tokens, 0, 0);
	pthread_barrier_init(&ready, 0, 2);
	pthread_create(&thread, 0, work, 0);
	prctl(PR_SET_NAME, "asker");
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&ready);
		take_table();
		pthread_mutex_unlock(&table_lock);
		pthread_barrier_wait(&ready);
		if (hold > 30) read(ends[0], &byte, 1); else sem_wait(&tokens);
	}
	pthread_join(thread, 0);
	nap(700); /* until the recorder has read the names of descriptors, on a busy machine, too */
	return 0;
}
"""
RUNS = 4
_directory = tempfile.TemporaryDirectory(prefix="assay-test-diff-waits-")  # for all tests


def recordings(t):
    """RUNS recordings with a lock held for 30 ms, and RUNS with 90 ms."""
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")
    directory = os.path.join(_directory.name, str(t.attempt))
    program = os.path.join(directory, "locks")
    names = [[os.path.join(directory, f"{side}{i}.data") for i in range(RUNS)] for side in "ab"]
    if not os.path.exists(program):
        os.mkdir(directory)
        t.run("cc", "-O1", "-g", "-pthread", "-fno-omit-frame-pointer", "-w", "-o", program,
              t.write("locks.c", PROGRAM))
        for pair in zip(*names):
            for file, hold in zip(pair, ("30", "90")):
                record_all(t, [program, hold], file)
    return names


def compared(t, *words):
    return json.loads(t.assay("diff", "--waits", "--json", *words).out)


def row(t, rows, kind, waiter):
    found = [r for r in rows if r["kind"] == kind and r["waiter"] == waiter]
    t.equal(len(found), 1, f"rows of {kind} of {waiter}")
    return found[0]


@test_of_shares
def changed_new_and_gone_causes_are_found(t):
    a, b = recordings(t)
    d = compared(t, *a, "--", *b)
    t.equal((d["waits"], d["work"], d["strength"], d["paired"]), (True, "run", "strong", True), "the comparison")
    lock = row(t, d["changes"], "lock", "asker")
    t.equal((lock["name"], lock["released_before"], lock["released_after"]),
            ("table_lock", "owner in release_early", "owner in release_table"), "the lock")
    t.between(lock["change"], 1, 3.5, "the lock's change")
    t.equal(lock["waits_before"], 3 * RUNS, "waits for the lock in A")
    sleep = row(t, d["changes"], "sleep", "owner")
    t.equal(sleep["name"], "nanosleep", "the sleep")
    pipe = row(t, d["new"], "pipe", "asker")
    t.equal((pipe["released_after"], pipe["released_before"]), ("owner in send_byte", None), "the pipe")
    gone = row(t, d["gone"], "semaphore", "asker")
    t.equal((gone["name"], gone["released_before"], gone["waits_after"]), ("tokens", "owner in give", 0),
            "the semaphore")
    text = t.assay("diff", "--waits", *a, "--", *b).out
    t.has(text, "Changed causes", "the table")
    t.has(text, "owner in release_early, then owner in release_table", "both releasers")
    fail = t.assay("diff", "--waits", "--fail-if", "table_lock > 20%", *a, "--", *b, status=1)
    t.has(fail.err, "table_lock is beyond +20.0 %", "the condition")


@test
def single_recordings_are_compared_and_not_tested(t):
    a, b = recordings(t)
    d = compared(t, a[0], b[0])
    t.equal((d["strength"], d["tested"], d["changes"], d["new"], d["gone"], d["moved"]),
            ("recordings", 0, [], [], [], []), "lists")
    t.equal((d["whole"]["low"], d["whole"]["changed"]), (None, False), "the whole")
    lock = row(t, d["rows"], "lock", "asker")
    t.equal((lock["q"], lock["p"], lock["low"], lock["verdict"]), (None, None, None, "same"), "the lock")
    text = t.assay("diff", "--waits", a[0], b[0]).out
    t.has(text, "Causes by the difference", "the table")
    t.has(" ".join(text.split()), "those of the recordings, and not tested", "the reason")
    t.assay("diff", "--waits", "--fail-if", "table_lock > 1%", a[0], b[0], status=3)


@test
def the_same_recording_shows_no_difference(t):
    a, _ = recordings(t)
    d = compared(t, a[0], a[0])
    t.equal(d["whole"]["change"], 0, "the whole")
    t.true(all(r["before"] == r["after"] for r in d["rows"]), "rows are equal")
    # The blocked time of the rows is that of the report.
    report = json.loads(t.assay("waits", a[0], "--json").out)
    blocked = sum(r["before"] for r in d["rows"] if r["kind"] not in ("cpu", None))
    total = report["ledger"]["blocked_ns"] + report["ledger"]["runnable_ns"]
    t.near(d["whole"]["before"], total, 1 + 1e-8 * total, "all time of waiting")
    t.true(0 < blocked <= report["ledger"]["blocked_ns"], "blocked time")


@test
def the_page_has_the_waits_of_both_sides(t):
    a, b = recordings(t)
    file = t.path("page.html")
    t.assay("diff", "--waits", "--html", file, *a, "--", *b)
    page = Page.of_file(file)
    for key, cause in (("before", "tokens"), ("stacks", "pipe")):
        stacks = page.stacks(key)
        paths = [stacks.path(node) for node in stacks.node]
        t.true(any(path[-1] == cause and "main" in path for path in paths), f"{cause} in {key}: {paths}")
        t.true(stacks.total("waiting") > 0 and stacks.total("waits") > 0, f"the values of {key}")
    t.true("table_lock" in page.column(page.sections("changes")[0], "function")[0], "the lock")


@test
def what_has_no_waits_is_refused(t):
    a, _ = recordings(t)
    table = Table("prog", 42)
    table.path(0, "main", calls=1, net=1000)
    counted = t.write("a.calls", table.bytes())
    t.has(t.assay("diff", "--waits", counted, counted, status=2).err, "has no waits", "counted calls")
    clock = t.path("clock.data")
    t.assay("record", "-o", clock, "--", "true")
    t.has(t.assay("diff", "--waits", clock, a[0], status=125).err, "its waits have no causes", "samples of a clock")
    for words in (("--sort", "group"), ("-S", "main"), ("--event", "cpu-clock"), ("--cpu", "0")):
        t.has(t.assay("diff", "--waits", *words, a[0], a[0], status=2).err,
              "--waits compares causes of waits", words[0])


main()
