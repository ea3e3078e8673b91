/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forked: a fork within a trigger, after each of its instructions: the processor's trap flag
 * makes the steps, the handler forks. Children go on with the trigger, half of them after an
 * event in the handler; each calls `after` once and ends. Prints how many children there were.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define UNSEEN __attribute__((noinline, no_instrument_function))
#define APART __attribute__((noinline, noclone))
#define STEPS 60
#define TRAP 0x100 /* in the flags */

static volatile unsigned long sink;
static volatile unsigned steps, wanted, children;
static volatile bool is_child;

static APART void within(void)
{
	sink++;
}

static APART void target(void)
{
	sink++;
}

static APART void after(void)
{
	sink++;
}

static UNSEEN void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)number;
	(void)info;
	if (steps++ != wanted / 2)
		return;
	c->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
	is_child = !fork();
	if (!is_child) {
		wait(NULL);
		children++;
	} else if (wanted & 1) {
		within();
	}
}

static UNSEEN void step_into_target(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\t"
	                 "lea 128(%%rsp), %%rsp"
	                 :
	                 : "i"(TRAP)
	                 : "cc", "memory");
	target();
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\t"
	                 "lea 128(%%rsp), %%rsp"
	                 :
	                 : "i"(~TRAP)
	                 : "cc", "memory");
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	for (wanted = 0; wanted < 2 * STEPS && !is_child; wanted++) {
		steps = 0;
		step_into_target();
		if (is_child) {
			after();
			_exit(0);
		}
	}
	printf("%u\n", children);
	return 0;
}
