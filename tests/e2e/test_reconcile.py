# SPDX-License-Identifier: GPL-2.0-or-later
"""assay reconcile: sampled and counted times of the same program, with the reason of each difference.

Each program provokes one reason; the unit test of view/reconcile holds the others.
"""
import os

import tags_program
from harness import *

SOURCE = """
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long x = 1;
static char from[1 << 20], to[1 << 20];
#define STEPS(n) \\
	unsigned long v = x; \\
	for (long i = 0; i < (n); i++) v = v * 6364136223846793005ul + 1; \\
	x = v
__attribute__((noinline)) void steady(long n) { STEPS(n); }
static __attribute__((always_inline)) inline void inlined(long n) { STEPS(n); }
__attribute__((noinline)) void host(long n) { inlined(n); }
__attribute__((noinline)) void copies(void)
{
	for (int i = 0; i < 150; i++) {
		memcpy(to, from, sizeof(to));
		from[i] = to[i];
	}
}
__attribute__((noinline)) void sleeps(void)
{
	struct timespec t = {0, 3000000};

	nanosleep(&t, NULL);
	steady(500000);
}
int main(int argc, char **argv)
{
	for (long i = atol(argv[1]); i; i--) {
		steady(8000000);
		copies();
		host(6000000);
		sleeps();
	}
	return argc > 2 ? atoi(argv[2]) : 0;
}
"""

HOOKS = "-finstrument-functions"


def program(t, *flags, name="work"):
    path = t.path(name)
    t.run("gcc", "-O1", *flags, "-o", path, t.write("work.c", SOURCE))
    return path


def reconcile(t, *words, **options):
    os.makedirs(t.path("tmp"), exist_ok=True)
    return t.assay("reconcile", *words, env={"TMPDIR": t.path("tmp")}, **options)


def rows_of(got):
    return {row["function"]: row for row in got["functions"]}


def recordings(t, work, rounds=("5",), counted=("5",), graph=("-g",)):
    """Recordings with samples and with counts, of runs with these arguments."""
    files = []
    for i, n in enumerate(rounds):
        files.append(t.path(f"s{i}.data"))
        t.assay("record", *graph, "-o", files[-1], "--", work, n)
    for i, n in enumerate(counted):
        files.append(t.path(f"c{i}.calls"))
        t.assay("calls", "-q", "-o", files[-1], "--", work, n)
    return files


@test_of_shares
def each_function_agrees_or_has_a_reason(t):
    work = program(t, "-g", HOOKS)
    got = t.json(reconcile(t, "--json", "--run", "3", "-F", "2000", "--", work, "6").out)
    rows = rows_of(got)
    t.equal([len(got["sampled"]), len(got["counted"])], [3, 3], "runs")
    for name in ("steady", "copies", "inlined"):
        row = rows[name]
        t.true(row["verdict"] != "differ" or row["reason"] != "unknown", f"{row}")
        t.near(row["sampled_ns"] / row["counted_ns"], 1, 0.3, f"the two times of {name}")
    t.true(rows["copies"]["folded_ns"] > 0.5 * rows["copies"]["sampled_ns"],
           "memcpy counts for its caller")
    t.equal(os.listdir(t.path("tmp")), [], "temporary recordings that are left")


@test
def counts_and_blocked_time_are_those_of_the_recording(t):
    work = program(t, "-g", HOOKS)
    got = t.json(reconcile(t, "--json", "--percent-limit", "0", *recordings(t, work)).out)
    rows = rows_of(got)
    t.equal({name: rows[name]["calls"] for name in ("steady", "copies", "inlined", "sleeps")},
            {"steady": 10, "copies": 5, "inlined": 5, "sleeps": 5}, "calls")
    t.true(rows["sleeps"]["blocked_ns"] >= 5 * 3e6, "the waiting of sleeps")
    process, = got["processes"]
    t.equal(process["process"], "work", "process")
    total = sum(row["counted_ns"] for row in got["functions"])
    t.near(total / process["counted_ns"], 1, 1e-6, "the functions add up to the process")
    total = sum(row["sampled_ns"] for row in got["functions"])
    t.near(total / process["sampled_ns"], 1, 1e-6, "so do the samples")


@test
def each_kind_of_output_is_printed(t):
    work = program(t, "-g", HOOKS)
    files = recordings(t, work)
    text = reconcile(t, *files).out
    for part in ("Summary", "CPU time of processes", "CPU time of functions", "steady",
                 "Fewer than three"):
        t.has(text, part)
    t.has(reconcile(t, "--markdown", *files).out, "|", "Markdown")
    swapped = t.json(reconcile(t, "--json", *files[::-1]).out)
    t.equal(swapped["functions"], t.json(reconcile(t, "--json", *files).out)["functions"],
            "the order of the files has no meaning")
    t.equal(len(t.json(reconcile(t, "--json", "-n", "2", *files).out)["functions"]) <= 2, True,
            "rows with -n 2")


@test
def a_pprof_profile_is_a_sampled_side(t):
    work = program(t, "-g", HOOKS)
    sampled, counted = recordings(t, work)
    profile = t.path("p.pb.gz")
    t.assay("export", "--inline", "--to", "pprof", "-o", profile, sampled)
    one = rows_of(t.json(reconcile(t, "--json", "--percent-limit", "0", profile, counted).out))
    other = rows_of(t.json(reconcile(t, "--json", "--percent-limit", "0", sampled, counted).out))
    for name in ("steady", "copies", "inlined"):
        t.equal(one[name]["sampled_ns"], other[name]["sampled_ns"], f"time of {name}")


@test
def event_tags_are_a_counted_side(t):
    work = tags_program.build(t, "tagged", SOURCE)
    files = [t.path("t.data"), t.path("t.tags")]
    t.assay("record", "-g", "-o", files[0], "--", work, "10")
    t.assay("tags", "-q", "-o", files[1], "--", work, "10")
    rows = rows_of(t.json(reconcile(t, "--json", "--percent-limit", "0", *files).out))
    t.equal({name: rows[name]["calls"] for name in ("steady", "copies", "sleeps")},
            {"steady": 20, "copies": 10, "sleeps": 10}, "calls")
    t.true(rows["copies"]["folded_ns"] > 0, "memcpy counts for its caller")


@test
def without_call_paths_library_time_is_missing(t):
    work = program(t, "-g", HOOKS)
    files = recordings(t, work, rounds=("20",) * 3, counted=("20",) * 3, graph=())
    row = rows_of(t.json(reconcile(t, "--json", *files).out))["copies"]
    t.equal([row["verdict"], row["reason"]], ["differ", "no_call_paths"], "copies")


@test
def inlined_functions_of_a_native_program_are_in_their_callers(t):
    work, native = program(t, HOOKS), program(t, name="native")
    got = t.json(reconcile(t, "--json", "--run", "3", "--native", native, "--", work, "10").out)
    rows = rows_of(got)
    t.equal(rows["inlined"]["samples"], 0, "samples in the inlined function")
    t.equal([rows["inlined"]["verdict"], rows["inlined"]["reason"]], ["differ", "inlined"])
    t.equal([rows["host"]["verdict"], rows["host"]["reason"]], ["differ", "contains_inlined"])
    t.equal(got["native"], True, "native")


@test
def other_work_is_a_reason(t):
    work = program(t, "-g", HOOKS)
    files = recordings(t, work, rounds=("2",) * 3, counted=("38", "40", "42"))
    row = rows_of(t.json(reconcile(t, "--json", *files).out))["steady"]
    t.equal([row["verdict"], row["reason"]], ["differ", "other_work"], "steady")


@test
def recordings_are_kept_on_request(t):
    work, kept = program(t, "-g", HOOKS), t.path("kept")
    first = t.json(reconcile(t, "--json", "--run", "1", "--keep", kept, "--", work, "2").out)
    t.equal(sorted(os.listdir(kept)), ["counted1.calls", "sampled1.data"], "files")
    second = t.json(reconcile(t, "--json", first["sampled"][0], first["counted"][0]).out)
    t.equal(second["functions"], first["functions"], "the same recordings, read again")


@test
def mistakes_get_a_sentence(t):
    work = program(t, "-g", HOOKS)
    sampled, counted = recordings(t, work, rounds=("1",), counted=("1",))
    for words, part in (((sampled, sampled), "has samples, and no file has counted calls"),
                        ((counted, counted), "has counted calls, and no file has samples"),
                        ((sampled,), "two recordings are compared"),
                        (("--native", work, sampled, counted), "--native"),
                        (("--",), "needs a command"),
                        (("--run", "0", "--", work), "--run 0"),
                        ((sampled, "--", work), "not both")):
        t.has(reconcile(t, *words, status=2).err, part)
    t.has(reconcile(t, sampled, t.path("none"), status=1).err, "none")
    t.has(reconcile(t, "--run", "1", "--", work, "1", "3", status=1).err,
          "ended with exit status 3")
    t.has(reconcile(t, "--run", "1", "--", "/nonexistent/x", status=1).err, "/nonexistent/x")
    plain = program(t, name="plain")
    t.has(reconcile(t, "--run", "1", "--", plain, "1", status=1).err, "-finstrument-functions")
    t.equal(os.listdir(t.path("tmp")), [], "temporary recordings that are left")


main()
