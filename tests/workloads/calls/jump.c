/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jump: calls that end by longjmp. Usage: jump CASE
 *
 *	across    over 1, 5 and 50 frames, in a loop
 *	level     back to levels of a recursion, which goes down again from there
 *	handler   siglongjmp out of a signal's handler, below several functions
 *	altstack  the same, from a handler on a stack of its own
 *	ticks     the same, out of handlers that interrupt anything at all
 *	inner     setjmp and longjmp within a handler
 *	threads   across, in four threads
 *	itself    within one function, and from what is inlined into it
 */
#include "truth_threads.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#pragma GCC diagnostic ignored "-Winfinite-recursion"

static volatile unsigned long sink;
static __thread sigjmp_buf place;

static APART void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

static APART __attribute__((noreturn)) void away(void)
{
	CALLED();
	leaf(1);
	siglongjmp(place, 1);
}

static APART void dive(unsigned depth)
{
	CALLED();
	if (depth == 0)
		away();
	leaf(depth);
	dive(depth - 1);
	sink++;
}

static APART void after(unsigned n)
{
	CALLED();
	PATH("...;attempt;after");
	leaf(n);
}

static APART void attempt(unsigned depth)
{
	CALLED();
	if (sigsetjmp(place, 1) == 0) {
		leaf(depth);
		dive(depth);
	}
	after(depth);
}

static void across(void)
{
	CALLED();
	for (unsigned i = 0; i < 200; i++) {
		attempt(0);
		attempt(4);
		attempt(49);
	}
	leaf(0);
}

static jmp_buf levels[101];

static APART void at_level(unsigned depth, unsigned target)
{
	CALLED();
	if (setjmp(levels[depth])) {
		leaf(depth);
		return;
	}
	if (depth == 0)
		longjmp(levels[target], 1);
	at_level(depth - 1, target);
	leaf(depth);
}

static void level(void)
{
	CALLED();
	for (unsigned target = 1; target <= 100; target++)
		at_level(100, target);
}

static APART void on_signal(int number)
{
	CALLED();
	leaf((unsigned)number);
	away();
}

static APART void sink_into(unsigned depth)
{
	CALLED();
	if (depth == 0)
		raise(SIGUSR1);
	else
		sink_into(depth - 1);
	sink++;
}

static APART void after_signal(unsigned n)
{
	CALLED();
	PATH("...;signalled;after_signal");
	leaf(n);
}

static APART void signalled(unsigned depth)
{
	CALLED();
	if (sigsetjmp(place, 1) == 0)
		sink_into(depth);
	after_signal(depth);
}

UNSEEN static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigaction(number, &action, NULL);
}

static void handler(void)
{
	CALLED();
	handle(SIGUSR1, on_signal, 0);
	for (unsigned i = 0; i < 500; i++)
		signalled(i % 23);
}

UNSEEN static void own_stack(void)
{
	stack_t stack = {.ss_size = 1 << 18};

	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
}

static void altstack(void)
{
	CALLED();
	own_stack();
	handle(SIGUSR1, on_signal, SA_ONSTACK);
	for (unsigned i = 0; i < 500; i++)
		signalled(i % 23);
}

static volatile sig_atomic_t may_jump;
static volatile unsigned ticked;

static APART void on_tick(int number)
{
	CALLED();
	ticked++;
	leaf((unsigned)number);
	if (may_jump)
		siglongjmp(place, 1);
}

static APART void busy(unsigned n)
{
	CALLED();
	for (unsigned i = 0; i < n; i++)
		leaf(i);
}

/* Each jump may leave one function between its entry and its own counting. */
static void ticks(void)
{
	struct itimerval timer = {{0, 200}, {0, 200}};
	struct itimerval none = {{0, 0}, {0, 0}};

	CALLED();
	handle(SIGALRM, on_tick, 0);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (ticked < 1000) {
		if (sigsetjmp(place, 1) == 0) {
			may_jump = 1;
			for (;;)
				busy(20);
		}
		may_jump = 0;
		SLACK("leaf", 1);
		SLACK("busy", 1);
	}
	setitimer(ITIMER_REAL, &none, NULL);
	leaf(0);
}

static APART void on_inner(int number)
{
	volatile sigjmp_buf outer;

	CALLED();
	memcpy((void *)&outer, &place, sizeof(place));
	attempt((unsigned)number % 7);
	memcpy(&place, (void *)&outer, sizeof(place));
}

static void inner(void)
{
	CALLED();
	handle(SIGUSR1, on_inner, 0);
	for (unsigned i = 0; i < 300; i++) {
		sink_into(i % 11);
		leaf(i);
	}
}

static void *body(void *argument)
{
	CALLED();
	across();
	leaf(argument != NULL);
	return NULL;
}

static void threads(void)
{
	CALLED();
	truth_threads(body, 4);
}

static inline __attribute__((always_inline)) void taken_in(void)
{
	CALLED();
	leaf(1);
	siglongjmp(place, 1);
}

static void itself(void)
{
	CALLED();
	for (volatile unsigned i = 0; i < 300; i++) {
		if (sigsetjmp(place, 0) == 0) {
			leaf(i);
			taken_in();
		}
		leaf(i);
		if (sigsetjmp(place, 0) == 0)
			siglongjmp(place, 1);
		leaf(i);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"across", across},     {"level", level},   {"handler", handler},
	        {"altstack", altstack}, {"ticks", ticks},   {"inner", inner},
	        {"threads", threads},   {"itself", itself}, {NULL, NULL},
	};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
