# SPDX-License-Identifier: GPL-2.0-or-later
"""assay calls --waits, assay tags --waits: the calls in which threads waited, and who woke them.

The program waits in known functions a known number of times. What the runtime counted as blocked in
the calls is measured independently of the waits.
"""
import json
import os

from harness import *

PROGRAM = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static int ends[2];
__attribute__((noinline)) static void nap(int ms) { struct timespec t = {0, ms * 1000000l}; nanosleep(&t, 0); __asm__(""); }
__attribute__((noinline)) static void release_table(void) { pthread_mutex_unlock(&table_lock); __asm__(""); }
__attribute__((noinline)) static void take_table(void) { pthread_mutex_lock(&table_lock); __asm__(""); }
__attribute__((noinline)) static void send_byte(void) { write(ends[1], "x", 1); __asm__(""); }
__attribute__((noinline)) static char get_byte(void) { char b; read(ends[0], &b, 1); __asm__(""); return b; }
static void *work(void *unused)
{
	prctl(PR_SET_NAME, "owner");
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&table_lock);
		pthread_barrier_wait(&ready);
		nap(40);
		release_table();
		pthread_barrier_wait(&ready);
		nap(40);
		send_byte();
	}
	return unused;
}
int main(void)
{
	pthread_t thread;
	pipe(ends);
	pthread_barrier_init(&ready, 0, 2);
	pthread_create(&thread, 0, work, 0);
	prctl(PR_SET_NAME, "asker");
	for (int i = 0; i < 4; i++) {
		pthread_barrier_wait(&ready);
		take_table();
		pthread_mutex_unlock(&table_lock);
		pthread_barrier_wait(&ready);
		get_byte();
	}
	pthread_join(thread, 0);
	return 0;
}
"""
FLAGS = ["-O1", "-g", "-pthread", "-fno-omit-frame-pointer", "-w"]


def need_root(t):
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")


def check(t, rows, in_work):
    """`in_work`: names of releasers if their functions were inlined."""
    # Some machines deliver no samples of interrupts that hit an idle CPU: no releaser is known then.
    for key, name, releasers, waiter, count, evidence in (
            (("nap", "sleep"), "nanosleep", {"[interrupt]", None}, "owner", 8, None),
            (("take_table", "lock"), "table_lock", {"owner in release_table", *in_work}, "asker", 4, "unlock"),
            (("get_byte", "pipe"), None, {"owner in send_byte", *in_work}, "asker", 4, None)):
        mine = [r for r in rows if (r["function"], r["kind"]) == key]
        t.equal(sum(r["count"] for r in mine), count, f"waits of {key}")
        for row in mine:
            t.true(row["released_by"] in releasers, f"released_by of {key}: {row['released_by']}")
            t.equal((row["waiter"], row["evidence"]), (waiter, evidence), f"waiter of {key}")
            t.true(not name or row["name"] == name, f"name of {key}: {row['name']}")
    t.equal({r["function"] for r in rows} - {"main", "work", "(outside)"}, {"nap", "take_table", "get_byte"},
            "functions that wait")


@test_of_shares
def counted_calls_have_causes_and_releasers(t):
    need_root(t)
    program = t.path("counted")
    t.run("cc", *FLAGS, "-finstrument-functions", "-o", program, t.write("calls.c", PROGRAM), "-ldl")
    out = t.assay("calls", "--waits", "-f", "--", program, cwd=t.directory).out
    for text in ("Waits by call", "owner in release_table", "in calls, as counted"):
        t.has(out, text, "the report")
    d = json.loads(t.assay("waits", "perf.data", "assay.calls", "--json", cwd=t.directory).out)
    check(t, d["calls"], ())
    # Two measurements of the same waits.
    t.near(d["calls_waited_ns"] - d["calls_outside_ns"], d["calls_counted_ns"], 0.02 * d["calls_counted_ns"],
           "waiting in calls, as counted")
    functions = json.loads(t.assay("report", "assay.calls", "-f", "--json", cwd=t.directory).out)
    blocked = {r["function"]: r["blocked_ns"] for p in functions["processes"] for r in p["functions"]}
    for name in ("nap", "take_table", "get_byte"):
        waited = sum(r["blocked_ns"] + r["runnable_ns"] for r in d["calls"] if r["function"] == name)
        t.near(waited, blocked[name], 0.02 * blocked[name], f"waiting in {name}")


@test_of_shares
def calls_of_event_tags_have_causes_and_releasers(t):
    need_root(t)
    program = t.path("tagged")
    source = t.write("calls.c", PROGRAM)
    flags = t.assay("tags", "flags", "--names", t.path("prog.names")).out.split()
    t.run("gcc", *flags, *FLAGS, "-o", program, source, cwd=t.directory)
    out = t.assay("tags", "--waits", "--", program, cwd=t.directory).out
    t.has(out, "Waits by call", "the report")
    d = json.loads(t.assay("waits", "assay.tags", "perf.data", "--json", cwd=t.directory).out)
    check(t, d["calls"], ("owner in work",))
    t.equal(d["calls_counted_ns"], None, "a trace has no sums")


@test
def other_files_are_refused(t):
    need_root(t)
    clock = t.path("clock.data")
    t.assay("record", "-o", clock, "--", "true")
    for words in ((clock, clock), (clock, clock, clock)):
        t.has(t.assay("waits", *words, status=2).err, "give one recording, and one file of 'assay calls'", "files")
    t.has(t.assay("calls", "--waits", "-o", "perf.data", "--", "true", status=2, cwd=t.directory).err,
          "--waits writes perf.data", "the file of waits")


main()
