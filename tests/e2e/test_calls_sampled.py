# SPDX-License-Identifier: GPL-2.0-or-later
"""Times of frequent calls: samples of the CPU time, with calls that are counted exactly.

The truth is the CPU time of the same functions in a program without hooks.
"""

import statistics

from harness import Failure, main, run, test, test_of_shares, sizes_of

STEPS = (20, 60, 200, 700, 3000)
SOURCE = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define UNSEEN __attribute__((no_instrument_function))
static uint64_t x = 3;
UNSEEN static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}
""" + "".join(f"""
__attribute__((noinline)) void f{i}(void)
{{
	uint64_t v = x;
	for (int k = {steps}; k; k--) {{
		v = v * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(v));
	}}
	x = v;
}}""" for i, steps in enumerate(STEPS)) + """
UNSEEN int main(int argc, char **argv)
{
	long n = atol(argv[1]);
	double start;
""" + "".join(f"""
	start = now();
	for (long i = 0; i < n * {6000 // steps}; i++)
		f{i}();
	printf("%.4f ", (now() - start) / n / {6000 // steps});""" for i, steps in enumerate(STEPS)) + """
	return x == 1;
}
"""


def programs(t):
    """The program without hooks, and with them."""
    source = t.write("chains.c", SOURCE)
    built = []
    for name, *flags in (("native",), ("hooked", "-finstrument-functions")):
        out = t.path(name)
        run("gcc", "-O1", "-falign-functions=64", "-falign-loops=32", *flags, "-o", out, source)
        built.append(out)
    return built


def rows_of(t, data):
    process, = t.report(data, "-f")["processes"]
    return process, {row["function"]: row for row in process["functions"]}


@test
def calls_are_exact_with_samples_and_without(t):
    _, hooked = programs(t)
    for how in ("sampled", "all"):
        data = t.path(f"{how}.data")
        t.assay("calls", "-q", "--time", how, "-o", data, "--", hooked, "300")
        process, rows = rows_of(t, data)
        for i, steps in enumerate(STEPS):
            t.equal(rows[f"f{i}"]["calls"], 300 * (6000 // steps), f"{how}: calls of f{i}")
        if how == "all":
            t.equal(process["samples"], 0, "samples with --time all")
            t.equal(process["sample_ns"], 0, "period with --time all")


@test_of_shares
def intervals_of_frequent_calls_contain_the_truth(t):
    native, hooked = programs(t)
    data = t.path("calls.data")
    t.assay("calls", "-q", "--freq", "5000", "-o", data, "--", hooked, "12000")
    process, rows = rows_of(t, data)
    told = [[float(word) for word in run(native, "3000").out.split()] for _ in range(3)]
    t.true("unsampled" not in process["flags"], "the kernel permits samples")
    t.true(process["samples"] > 100, f"{process['samples']} samples")
    wrong = []
    for i, truth in enumerate(statistics.median(column) for column in zip(*told)):
        row = rows[f"f{i}"]
        net, error = row["net_ns"] / row["calls"], row["net_error_ns"] / row["calls"]
        # The interval holds for the state of the machine in that run; the truth is another run's.
        if abs(net - truth) > error + 0.1 * truth:
            wrong.append(f"f{i}: {net:.1f} +/- {error:.1f} ns, not {truth:.1f}")
        t.true(row["min_ns"] is not None, f"f{i}: some calls were timed")
    if len(wrong) > 1:
        raise Failure("; ".join(wrong))
    residual = process["books"]["cpu_residual_ns"] / process["books"]["cpu_ns"]
    t.between(residual, -0.02, 0.02, "residual against the CPU clock")


@test
def a_frequency_is_for_samples_of_programs(t):
    result = t.assay("calls", "--kernel", "--freq", "100", "--", "true", status=2)
    t.has(result.err, "--freq", "the message")
    t.has(t.assay("calls", "--freq", "0", "--", "true", status=2).err, "--time all", "no samples")


@test
def check_compares_with_runs_that_are_not_counted(t):
    native, hooked = programs(t)
    for words in ((), ("--native", native)):
        result = t.assay("calls", "-q", "--check", *words, "-o", t.path("calls.data"), "--", hooked,
                         "500")
        t.has(result.err, "the sum of net is", "the result")
        t.has(result.err, "with hooks that do nothing: ", "the runs that are not counted")
        t.equal("without hooks (--native): " in result.err, bool(words), "the runs without hooks")
        t.equal(len(result.out.split()), len(STEPS), "only the first run's output is shown")
    alone = t.assay("calls", "--native", native, "-o", t.path("alone"), "--", hooked, "1")
    for program in (native, hooked):
        t.has(alone.out, f"{sizes_of(program)['text']:,}", "the size of its code")
    result = t.assay("calls", "--check", "--native", "/nowhere", "--", hooked, "1", status=2)
    t.has(result.err, "no program /nowhere", "a missing program is found before COMMAND runs")
    t.equal(result.out, "", "COMMAND did not run")


@test
def functions_with_too_few_samples_are_a_group(t):
    _, hooked = programs(t)
    data = t.path("calls.data")
    t.assay("calls", "-q", "--freq", "1", "-o", data, "--", hooked, "300")
    process, rows = rows_of(t, data)
    unknown = [row for row in rows.values() if row["net_error_ns"] > abs(row["net_ns"]) > 0]
    if not unknown:  # a sample may have been taken in none of them
        return
    t.near(process["unknown_ns"], sum(row["net_ns"] for row in unknown), 1, "net of the group")
    # Errors of samples add up to less; those of the cost of hooks are added directly.
    t.true(process["unknown_error_ns"] <= sum(row["net_error_ns"] for row in unknown) + 1,
           "the interval of the sum is not larger")
    summary = t.assay("report", "--brief", data).out
    for row in unknown:
        t.true(f" {row['function']}\n" not in summary, "the summary names no unknown time")


main()
