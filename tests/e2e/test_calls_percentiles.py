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
            t.true(row[key] is not None, f"{name}: {key} is known")
            low, high = min(parts) * step, max(parts) * step
            t.between(row[key], low * 0.75 - 10, high * 1.35 + 10, f"{name}: {key}")


main()
