# SPDX-License-Identifier: GPL-2.0-or-later
"""assay reconcile: programs with known times, each of which provokes one reason.

The sampled and the counted program may be different builds, so that the true difference is known.
Reasons that depend on the speed of the machine (cost of sampling, idle hooks, changed code, switches,
cost of counting, interrupts off) are in the unit test of view/reconcile; other reasons in
test_reconcile.py.
"""
import os

from harness import *

SOURCE = """
#include <stdlib.h>
#include <time.h>
#ifndef OTHER
#define OTHER 1
#endif
#ifndef EACH
#define EACH 1
#endif
#define BARE __attribute__((no_instrument_function))
volatile unsigned long x = 1;
#define STEPS(n) \\
	unsigned long v = x; \\
	for (long i = 0; i < (n) * EACH; i++) v = v * 6364136223846793005ul + 1; \\
	x = v
__attribute__((noinline)) void steady(long n) { STEPS(n); }
__attribute__((noinline)) void other(long n) { STEPS(n * OTHER); }
__attribute__((noinline)) void sleeps(void)
{
	struct timespec t = {0, 150000000};

	nanosleep(&t, NULL);
	steady(1000000);
}

/* The compiler inlines it into here(), and cannot inline it into there(). */
static void part(long n) { STEPS(n); }
static void (*volatile pointer)(long n) = part;
__attribute__((flatten)) void here(long n) { part(n); }
__attribute__((noinline)) void there(long n) { pointer(n); }

/* Without unwinding information, and with another use of the frame pointer. */
void blind(long n);
__asm__(".text\\n.globl blind\\n.type blind, @function\\n"
        "blind:\\n push %rbp\\n push %rdi\\n mov $0x1234567, %rbp\\n"
        "1: imul %rbp, %rax\\n dec %rdi\\n jnz 1b\\n pop %rdi\\n pop %rbp\\n ret\\n"
        ".size blind, . - blind");
__attribute__((noinline)) void hides(long n) { blind(n); x++; }

#ifdef LOADS
/* The dynamic loader calls this before any function with hooks. */
static void nothing(void) {}
BARE static void *resolve(void) { STEPS(40000000L); return nothing; }
void loads(void) __attribute__((ifunc("resolve")));
#endif

int main(int argc, char **argv)
{
	const char *what = argv[1];
	long turns = atol(argv[2]), n = turns * 1000000;

	/* In turns: a change of the machine's speed is a change of both. */
	for (long i = 0; i < turns; i++)
		steady(1000000), other(1000000);
	if (*what == 's')
		sleeps();
	if (*what == 'i')
		here(n), there(n);
	if (*what == 'h')
		hides(n);
#ifdef LOADS
	loads();
#endif
	return 0;
}
"""
HOOKS = ("-g", "-finstrument-functions")
# The program `share` takes turns by the wall clock, which another process would disturb.
UNDISTURBED = ("chrt", "-f", "1") if os.geteuid() == 0 else ()


def program(t, *flags, place="a", hooks=HOOKS):
    os.makedirs(t.path(place), exist_ok=True)
    path = t.path(place) / "known"
    t.run("gcc", "-O1", "-falign-functions=64", "-falign-loops=64", *hooks, *flags, "-o", path, t.write("known.c", SOURCE))
    return path


def sampled(t, name, *words, rate=3000):
    t.assay("record", "-q", "-g", "-F", str(rate), "-o", t.path(name), "--", *words)
    return t.path(name)


def counted(t, name, *words):
    t.assay("calls", "-q", "-o", t.path(name), "--", *words)
    return t.path(name)


def judged(t, *words):
    """The verdict and the reason of each function, and its figures."""
    rows = t.json(t.assay("reconcile", "--json", "--percent-limit", "0.5", *words).out)["functions"]
    return ({row["function"]: (row["verdict"], row["reason"]) for row in rows},
            {row["function"]: row for row in rows})


@test_of_shares
def a_function_that_only_one_side_has_more_of_is_unknown(t):
    # At a rate at which the samples do not lengthen the run visibly.
    files = (sampled(t, "s", program(t), "-", "40", rate=1000),
             counted(t, "c", program(t, "-DOTHER=3", place="b"), "-", "40"))
    verdicts, rows = judged(t, *files)
    t.equal(verdicts["other"], ("differ", "unknown"), f"{rows['other']}")
    t.near(rows["other"]["counted_ns"] / rows["steady"]["counted_ns"], 3, 0.6, "true ratio")
    # Two runs on a virtual machine differ by more than the errors of the two figures.
    t.true(verdicts["steady"][1] != "whole_process", f"{rows['steady']}")
    t.near(rows["steady"]["sampled_ns"] / rows["steady"]["counted_ns"], 1, 0.4, f"{rows['steady']}")


@test_of_shares
def a_slower_program_is_the_whole_process(t):
    files = (sampled(t, "s", program(t), "-", "40"),
             counted(t, "c", program(t, "-DEACH=3", place="b"), "-", "40"))
    verdicts, rows = judged(t, *files)
    for name in ("steady", "other"):
        t.equal(verdicts[name], ("differ", "whole_process"), f"{rows[name]}")


@test_of_shares
def few_samples_do_not_tell(t):
    files = sampled(t, "s", program(t), "-", "30", rate=50), counted(t, "c", program(t), "-", "30")
    verdicts, rows = judged(t, *files)
    t.equal(verdicts["other"][0], "cannot_tell", f"{rows['other']}")
    t.true(verdicts["other"][1] in ("few_samples", "chance"), f"{rows['other']}")


@test_of_shares
def runs_that_differ_do_not_tell(t):
    work = program(t)
    files = [sampled(t, f"s{n}", work, "-", n) for n in ("5", "30", "80")]
    files += [counted(t, f"c{n}", work, "-", n) for n in ("8", "35", "70")]
    verdicts, rows = judged(t, *files)
    t.equal(verdicts["other"], ("cannot_tell", "runs_differ"), f"{rows['other']}")


@test_of_shares
def waiting_that_was_not_separated(t):
    work = program(t)
    files = (sampled(t, "s", work, "s", "10"),
             counted(t, "c", t.workload("noperf"), work, "s", "10"))
    verdicts, rows = judged(t, *files)
    t.equal(verdicts["sleeps"], ("differ", "waiting"), f"{rows['sleeps']}")


@test_of_shares
def code_that_cannot_be_unwound_cuts_stacks(t):
    work = program(t)
    verdicts, rows = judged(t, sampled(t, "s", work, "h", "30"), counted(t, "c", work, "h", "30"))
    t.equal(verdicts["hides"], ("differ", "cut_stacks"), f"{rows['hides']}")
    t.equal(verdicts["(outside)"], ("differ", "cut_stacks"), f"{rows['(outside)']}")


@test_of_shares
def the_loading_of_libraries_is_start_and_exit(t):
    work = program(t, "-DLOADS")
    verdicts, rows = judged(t, sampled(t, "s", work, "-", "20"), counted(t, "c", work, "-", "20"))
    t.equal(verdicts["(outside)"], ("differ", "start_and_exit"), f"{rows['(outside)']}")


@test_of_shares
def a_function_that_is_inlined_into_one_caller_is_in_callers(t):
    native = program(t, place="b", hooks=())
    verdicts, rows = judged(t, "--run", "1", "-F", "3000", "--native", native, "--", program(t), "i",
                            "40")
    t.equal(verdicts["part"], ("differ", "in_callers"), f"{rows['part']}")
    t.equal(verdicts["here"], ("differ", "contains_inlined"), f"{rows['here']}")


@test_of_shares
def a_program_in_step_is_a_reason(t):
    work = t.path("share")
    t.run("gcc", "-O2", *HOOKS, "-finstrument-functions-exclude-function-list=cycles,now_ns",
          "-o", work, ROOT / "tests" / "workloads" / "share.c")
    words = (*UNDISTURBED, work, "step", "997", "1")
    verdicts, rows = judged(t, sampled(t, "s", *words, rate=997), counted(t, "c", *words))
    true_share = rows["share_f"]["counted_share"] / (rows["share_f"]["counted_share"] +
                                                     rows["share_g"]["counted_share"])
    t.near(true_share, 0.3, 0.05, "the counted share")
    for name in ("share_f", "share_g"):
        if abs(rows[name]["difference_ns"]) > 0.1e9:
            t.equal(verdicts[name], ("differ", "in_step"), f"{rows[name]}")


main()
