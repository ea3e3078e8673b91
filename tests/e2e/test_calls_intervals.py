# SPDX-License-Identifier: GPL-2.0-or-later
"""Intervals of nets and percentiles of calls, in programs whose functions do a known number of steps.

A step is a multiplication that needs the result of the one before. Its time is measured in the same run,
without hooks and between the calls, by the thread's CPU clock: the median is a step that nothing disturbed, and
the mean contains interrupts. The truth of a net lies between the two, that of a percentile is the median.
With ASSAY_LONG there are thirty programs for each way of timing, each with another order of calls, and the
table of all functions is printed.
"""

import collections
import random

from harness import LONG, main, run, test_of_shares

NS = (20, 80, 300, 3000, 30000)
PROGRAMS, SECONDS = (30, 2) if LONG else (2, 0.5)
# The machine's speed differs between two parts of a run by more than its median and mean.
TRUTH = 0.003
BUCKET = 1.125
HEAD = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define UNSEEN __attribute__((no_instrument_function))
static uint64_t x = 3;
static double pieces[1 << 16];
static inline __attribute__((always_inline)) UNSEEN void chain(long steps)
{
	uint64_t v = x;

	for (long k = steps; k; k--) {
		v = v * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(v));
	}
	x = v;
}
UNSEEN static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}
UNSEEN static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
/* The difference of two lengths does not contain the reading of the clock. */
UNSEEN static double piece(void)
{
	double start = now(), middle;

	chain(1000);
	middle = now();
	chain(11000);
	return ((now() - middle) - (middle - start)) / 10000;
}
"""
MAIN = """
UNSEEN int main(int argc, char **argv)
{
	double until = now() + atof(argv[1]) * 1e9, sum = 0;
	int n = 0;

	while (now() < until) {
		pieces[n %% (1 << 16)] = piece();
		n++;
		%s
	}
	n = n < 1 << 16 ? n : 1 << 16;
	for (int i = 0; i < n; i++)
		sum += pieces[i];
	qsort(pieces, n, sizeof(*pieces), compare);
	printf("%%.6f %%.6f\\n", pieces[n / 2], sum / n);
	return 0;
}
"""
ONE_STEP = HEAD + MAIN % "chain(1000);"
# How often a function is called in a round: seldom, so that the clock is read, or often.
ROUNDS = {"clock": ((2, 2, 2, 12, 6), (1, 1, 1, 4, 6)),
          "samples": ((60, 40, 20, 3, 1), (8, 8, 8, 3, 1))}


def source(way, step_ns, dice):
    """The source of a program, and the steps of each function."""
    text, steps, order = HEAD, {}, []
    for i, ns in enumerate(NS):
        own = max(4, round(ns / step_ns))
        part = own // 4
        text += f"__attribute__((noinline)) void leaf{i}(void) {{ chain({own}); }}\n"
        steps[f"leaf{i}"] = steps[f"caller{i}"] = own
        text += f"__attribute__((noinline)) void caller{i}(void)\n{{\n"
        for leaf in range(3):
            text += f"\tchain({part});\n\tleaf{leaf}();\n"
        text += f"\tchain({own - 3 * part});\n}}\n"
        leaves, callers = ROUNDS["clock" if way == "clock" else "samples"]
        order += [f"leaf{i}();"] * leaves[i] + [f"caller{i}();"] * callers[i]
    # The leaves that callers call come before them in the file.
    leaves = "".join(f"void leaf{i}(void);\n" for i in range(3))
    dice.shuffle(order)
    return text.replace(HEAD, HEAD + leaves) + MAIN % " ".join(order), steps


def built(t, name, text):
    program = t.path(name)
    t.run("gcc", "-O1", "-falign-functions=64", "-falign-loops=32", "-finstrument-functions", "-o",
          program, t.write(f"{name}.c", text))
    return program


def rows(t, way, number, step_ns):
    """Of one run: function, row of the report, undisturbed and mean truth."""
    text, steps = source(way, step_ns, random.Random(number))
    program, data = built(t, f"{way}{number}", text), t.path("calls.data")
    words = ("--time", "all") if way == "all" else ()
    out = t.assay("calls", "-q", *words, "-o", data, "--", program, SECONDS).out
    least, mean = sorted(float(word) for word in out.split())
    process, = t.report(data, "-f")["processes"]
    t.true("unsampled" not in process["flags"], "the kernel permits samples")
    found = {row["function"]: row for row in process["functions"]}
    return [(name, found[name], least * count, mean * count) for name, count in steps.items()]


def campaign(t, way):
    step_ns = float(run(built(t, "step", ONE_STEP), 0.2).out.split()[0])
    held, known = collections.defaultdict(list), collections.defaultdict(list)
    widths = collections.defaultdict(list)
    for number in range(PROGRAMS):
        for name, row, least, mean in rows(t, way, number, step_ns):
            net, error = row["net_ns"] / row["calls"], row["net_error_ns"] / row["calls"]
            held[name].append(least * (1 - TRUTH) - error <= net <= mean * (1 + TRUTH) + error)
            widths[name].append(error / mean)
            if row["p50_ns"] is not None:
                known[name].append(least / BUCKET / BUCKET <= row["p50_ns"] <= mean * BUCKET * BUCKET)
    for name, found in held.items():
        print(f"# {way}: {name}: {sum(found)} of {len(found)} intervals hold the truth, half of one is "
              f"{100 * sorted(widths[name])[len(found) // 2]:.1f} % of it; "
              f"{sum(known[name])} of {len(known[name])} medians are within a bucket")
    all_held, all_known = sum(held.values(), []), sum(known.values(), [])
    t.true(sum(all_held) >= (0.93 if LONG else 0.85) * len(all_held),
           f"{way}: {sum(all_held)} of {len(all_held)} intervals hold the truth")
    t.true(sum(all_known) >= 0.93 * len(all_known),
           f"{way}: {sum(all_known)} of {len(all_known)} medians are within a bucket")


@test_of_shares
def intervals_and_percentiles_while_the_clock_is_read(t):
    campaign(t, "clock")


@test_of_shares
def intervals_and_percentiles_while_calls_are_counted(t):
    campaign(t, "samples")


@test_of_shares
def intervals_and_percentiles_with_the_clock_at_each_event(t):
    campaign(t, "all")


main()
