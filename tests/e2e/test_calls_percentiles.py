# SPDX-License-Identifier: GPL-2.0-or-later
"""Percentiles of the durations of calls: of 100 calls, 90 are short, 9 are ten times and one is a
hundred times as long. The truth is the number of steps of each call."""

from harness import main, test, test_of_shares

SOURCE = """
#include <stdint.h>
#include <stdlib.h>
static volatile uint64_t sink;
static inline __attribute__((always_inline, no_instrument_function)) void chain(unsigned i, int most)
{
	uint64_t v = i;
	unsigned at = i * 7919u % 100;

	for (int k = at == 0 ? most : at < 10 ? most / 10 : most / 100; k; k--) {
		v = v * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(v));
	}
	sink = v;
}
/* Few calls a second: the clock is read at each. */
__attribute__((noinline)) void slow(unsigned i) { chain(i, 1000000); }
/* Many: they are counted, and some are timed. */
__attribute__((noinline)) void frequent(unsigned i) { chain(i, 20000); }
__attribute__((noinline)) void seldom(void) { sink++; }
int main(int argc, char **argv)
{
	for (int i = 0; i < 5; i++)
		seldom();
	for (int i = 0; i < 1000; i++)
		slow(i);
	for (int i = 0; i < atoi(argv[1]); i++)
		frequent(i);
	return 0;
}
"""


def recorded(t, calls):
    program, data = t.path("steps"), t.path("calls.data")
    t.run("gcc", "-O1", "-finstrument-functions", "-o", program, t.write("steps.c", SOURCE))
    t.assay("calls", "-q", "-o", data, "--", program, calls)
    return data


def rows_of(t, data):
    process, = t.report(data, "-f")["processes"]
    return {row["function"]: row for row in process["functions"]}


@test
def percentiles_are_ordered_and_of_calls_that_were_timed(t):
    data = recorded(t, 20000)
    rows = rows_of(t, data)
    t.equal(rows["slow"]["calls"], 1000, "calls of slow")
    for name, row in rows.items():
        t.true(0 <= row["timed_calls"] <= row["calls"], f"{name}: timed calls")
        known = [row[key] for key in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")
                 if row[key] is not None]
        t.equal(known, sorted(known), f"{name}: percentiles in order")
    t.equal([rows["seldom"][key] for key in ("timed_calls", "p50_ns", "p90_ns", "p99_ns")],
            [0, None, None, None], "five calls have no percentiles")
    asked = t.json(t.assay("sql", "--format", "json", data, "SELECT path, p50_ns, timed_calls FROM calls "
                           "WHERE path LIKE '%slow'").out)
    t.equal([[round(row["p50_ns"]), row["timed_calls"]] for row in asked],
            [[round(rows["slow"]["p50_ns"]), rows["slow"]["timed_calls"]]], "the same in SQL")


@test
def tables_have_percentiles_where_there_is_room_or_on_request(t):
    data = recorded(t, 1000)
    t.has(t.assay("report", "--wide", data).out, "p50", "a wide table")
    lines = t.assay("report", "-f", "--by", "p99", data).out.splitlines()
    names = [line.split()[-1] for line in lines if line.split()[-1:] and
             line.split()[-1] in ("slow", "frequent", "seldom")]
    t.equal(names[0], "slow", f"sorted by p99: {names}")


@test_of_shares
def percentiles_are_those_of_the_steps(t):
    rows = rows_of(t, recorded(t, 3000000))
    t.true(rows["slow"]["timed_calls"] > 900, f"timed calls of slow: {rows['slow']}")
    t.true(rows["frequent"]["timed_calls"] > 300, f"timed calls of frequent: {rows['frequent']}")
    for name in ("slow", "frequent"):
        row = rows[name]
        step = row["net_ns"] / row["calls"] / (0.01 + 0.009 + 0.009)  # of the longest calls
        for key, part in (("p50_ns", 0.01), ("p90_ns", None), ("p99_ns", None)):
            # At 90 and 99 % a class of durations ends, so a percentile may be of the next.
            parts = [part] if part else [0.01, 0.1] if key == "p90_ns" else [0.1, 1]
            if name == "slow":
                t.true(row[key] is not None, f"{name}: {key} is known")
            if row[key] is None:
                continue  # only some of the calls were timed
            low, high = min(parts) * step, max(parts) * step
            t.between(row[key], low * 0.75 - 10, high * 1.35 + 10, f"{name}: {key}")


# Of 1000 calls 850 do n steps, 120 three times and 30 ten times as many.
CLASSES = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define PLAIN __attribute__((no_instrument_function))
static volatile uint64_t sink;
static uint32_t state = 12345;
static inline __attribute__((always_inline)) PLAIN void burn(long n)
{
	uint64_t x = n;

	for (long i = 0; i < n; i++) {
		x = x * 6364136223846793005ull + 1;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}
static inline __attribute__((always_inline)) PLAIN long times(void)
{
	state = state * 1664525u + 1013904223u;
	unsigned u = (state >> 8) % 1000;
	return u < 850 ? 1 : u < 970 ? 3 : 10;
}
#define LEAF(name, n) __attribute__((noinline)) void name(void) { burn(n * times()); }
#define CALLER(name, n, callee) __attribute__((noinline)) void name(void) \
	{ long m = times(); burn(n * m); callee(); burn(n * m); }
LEAF(leaf_300, 300)
LEAF(leaf_3000, 3000)
LEAF(leaf_30000, 30000)
CALLER(caller_3000, 1500, leaf_300)
CALLER(caller_30000, 15000, leaf_3000)
PLAIN int main(int argc, char **argv)
{
	struct timespec a, b;
	double least = 1e9;

	for (int i = 0; i < 50; i++) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		burn(100000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		double ns = (b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec;
		least = ns < least ? ns : least;
	}
	fprintf(stderr, "%f\\n", least / 100000);
	for (int i = 0; i < atoi(argv[1]); i++) {
		for (int j = 0; j < atoi(argv[2]); j++)
			leaf_300();
		leaf_3000();
		caller_3000();
		if (i % 4 == 0)
			leaf_30000(), caller_30000();
	}
	return 0;
}
"""


@test_of_shares
def a_percentile_is_within_a_bucket_or_not_printed(t):
    """A bucket is an eighth, and so is the error of a duration. A step takes up to a fifth longer in
    a part of a run, if other programs use the CPU's caches."""
    program, data = t.path("classes"), t.path("calls.data")
    t.run("gcc", "-O1", "-finstrument-functions", "-o", program, t.write("classes.c", CLASSES))
    printed = 0
    for words, often in (((), 1), ((), 100), (("--time", "all"), 1), (("--time", "all"), 20)):
        err = t.assay("calls", *words, "-o", data, "--", program, 8000, often).err
        step = float(err.split()[0])
        for name, row in rows_of(t, data).items():
            if "_" not in name or not name.split("_")[1].isdigit():
                continue
            for key, times in (("p50_ns", 1), ("p90_ns", 3), ("p99_ns", 10)):
                if row[key] is not None:
                    truth = int(name.split("_")[1]) * step * times
                    printed += 1
                    t.between(row[key], truth / 1.2, truth * 1.4, f"{words}, {often}: {name}: {key}")
    t.true(printed > 30, f"{printed} of 60 percentiles are printed")


main()
