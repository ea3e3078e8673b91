/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks: programs with known call chains, one per mode.
 *
 * Usage: stacks MODE [SECONDS [DEPTH]]. The measured time is spent in functions named spin_*, each
 * below the functions that its mode names. The outermost function of the program is main(),
 * thread_main(), or a coroutine's first function. Built without frame pointers, also stripped, also
 * as a static-pie.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/* After a call: keeps it from becoming a jump. */
#define STAYS(x) __asm__ volatile("" : "+r"(x))

uint64_t spin_leaf(uint64_t turns);
uint64_t recurse(unsigned depth, uint64_t turns);
uint64_t recurse_spin(unsigned depth, uint64_t turns);
uint64_t vary(unsigned depth, uint64_t turns);
uint64_t realigned(unsigned depth, uint64_t turns);
uint64_t realigned_arguments(unsigned depth, uint64_t turns);
void raises(unsigned depth);
void jumps(unsigned depth);
void spin_plt(void);
void spin_vdso(void);
uint64_t coroutine_inner(unsigned depth);

static double deadline, seconds = 1;
static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A leaf: without calls, without a frame. */
NOINLINE uint64_t spin_leaf(uint64_t turns)
{
	uint64_t x = turns;

	while (turns--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

NOINLINE uint64_t recurse(unsigned depth, uint64_t turns)
{
	uint64_t x = depth <= 1 ? spin_leaf(turns) : recurse(depth - 1, turns);

	STAYS(x);
	return x + depth;
}

/* Time is spent at every depth, on the way down and up. */
NOINLINE uint64_t recurse_spin(unsigned depth, uint64_t turns)
{
	uint64_t x = spin_leaf(turns);

	if (depth > 1)
		x += recurse_spin(depth - 1, turns);
	STAYS(x);
	return x + spin_leaf(turns);
}

NOINLINE uint64_t vary(unsigned depth, uint64_t turns)
{
	volatile char *room = __builtin_alloca(16 + depth % 7 * 100);
	uint64_t x;

	room[0] = (char)depth;
	x = depth <= 1 ? spin_leaf(turns) : vary(depth - 1, turns);
	STAYS(x);
	return x + (uint64_t)room[0];
}

/* Locals that need more alignment than the stack has: the frame is realigned. */
NOINLINE uint64_t realigned(unsigned depth, uint64_t turns)
{
	volatile uint64_t local[8] __attribute__((aligned(128)));
	uint64_t x;

	memset((void *)local, (int)depth, sizeof(local));
	x = depth <= 1 ? spin_leaf(turns) : realigned(depth - 1, turns);
	STAYS(x);
	return x + local[depth % 8];
}

__attribute__((noinline, force_align_arg_pointer)) uint64_t realigned_arguments(unsigned depth,
                                                                                uint64_t turns)
{
	volatile char *room = __builtin_alloca(64 + depth);
	uint64_t x = depth <= 1 ? realigned(5, turns) : realigned_arguments(depth - 1, turns);

	STAYS(x);
	return x + (uint64_t)room[0];
}

static void on_signal(int signal)
{
	sink += spin_leaf(20000);
}

NOINLINE void raises(unsigned depth)
{
	if (depth > 1)
		raises(depth - 1);
	else
		raise(SIGUSR1);
	sink++;
}

static void handle(int flags)
{
	static uint8_t stack[65536];
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

static jmp_buf back;

NOINLINE void jumps(unsigned depth)
{
	sink += spin_leaf(2000);
	if (depth > 1)
		jumps(depth - 1);
	else if (sink) /* nearly always */
		longjmp(back, 1);
	sink++;
}

/* Through the procedure linkage table, most of the time inside of it or of a tiny function. */
NOINLINE void spin_plt(void)
{
	for (int i = 0; i < 2000; i++)
		sink += (uint64_t)labs((long)sink) + (uint64_t)(long)ffsl((long)i);
}

NOINLINE void spin_vdso(void)
{
	struct timespec t;

	for (int i = 0; i < 500; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		sink += (uint64_t)t.tv_nsec;
	}
}

static ucontext_t main_context, coroutine_context;

NOINLINE uint64_t coroutine_inner(unsigned depth)
{
	uint64_t x = depth > 1 ? coroutine_inner(depth - 1) : spin_leaf(5000);

	STAYS(x);
	return x + depth;
}

static void coroutine_main(void)
{
	for (;;) {
		sink += coroutine_inner(8);
		swapcontext(&coroutine_context, &main_context);
	}
}

static void start_coroutine(void)
{
	size_t size = 65536;

	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = malloc(size);
	coroutine_context.uc_stack.ss_size = size;
	makecontext(&coroutine_context, coroutine_main, 0);
}

static void *thread_main(void *argument)
{
	while (now() < deadline)
		sink += recurse(10, 20000);
	return argument;
}

static void run_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void turn(const char *mode, unsigned depth)
{
	if (!strcmp(mode, "leaf"))
		sink += spin_leaf(100000);
	else if (!strcmp(mode, "recurse"))
		sink += recurse(depth, 20000 + 20 * depth);
	else if (!strcmp(mode, "bottom"))
		sink += recurse(depth, 200000000);
	else if (!strcmp(mode, "depths"))
		sink += recurse_spin(depth, 2000);
	else if (!strcmp(mode, "alloca"))
		sink += vary(depth, 50000);
	else if (!strcmp(mode, "realigned"))
		sink += realigned_arguments(10, 50000);
	else if (!strcmp(mode, "signal") || !strcmp(mode, "altstack"))
		raises(10);
	else if (!strcmp(mode, "longjmp") && !setjmp(back))
		jumps(20);
	else if (!strcmp(mode, "plt"))
		spin_plt();
	else if (!strcmp(mode, "vdso"))
		spin_vdso();
	else if (!strcmp(mode, "coroutine"))
		swapcontext(&main_context, &coroutine_context);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "leaf";
	unsigned depth = argc > 3 ? (unsigned)atoi(argv[3]) : 20;

	seconds = argc > 2 ? atof(argv[2]) : 1;
	deadline = now() + seconds;
	handle(!strcmp(mode, "altstack") ? SA_ONSTACK : 0);
	start_coroutine();
	if (!strcmp(mode, "threads"))
		run_threads();
	while (now() < deadline)
		for (int i = 0; i < 20 && now() < deadline; i++)
			turn(mode, depth);
	return 0;
}
