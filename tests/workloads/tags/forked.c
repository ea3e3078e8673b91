/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forked: a fork within a trigger, after each of its instructions: the processor's trap flag
 * makes the steps, the handler forks. Children go on with the trigger, half of them after an
 * event in the handler; each calls `after` once and ends. Prints how many children there were.
 * With an argument: begins after this number of calls. Status 1 if a child ends in another way.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define UNSEEN __attribute__((noinline, no_instrument_function))
#define APART __attribute__((noinline, noclone))
#define STEPS 80
#define TRAP 0x100 /* in the flags */

static volatile unsigned long sink;
static volatile unsigned steps, wanted, children;
static volatile bool is_child, failed;

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
		int status = 1;

		wait(&status);
		failed |= status != 0;
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

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	for (int calls = argc > 1 ? atoi(argv[1]) : 0; calls > 0; calls--)
		target();
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
	return failed;
}
