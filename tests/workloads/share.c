/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share: works in share_f and in share_g in turn, and prints the share of each.
 *
 *	share even MS_F MS_G SECONDS          phases of these lengths, a quarter shorter or longer
 *	share exact MS_F MS_G SECONDS         the same without the quarter
 *	share burst MS_F MS_G SECONDS [SEED]  exponential lengths with these means
 *	share step HZ SECONDS                 share_f around each k / HZ of CLOCK_MONOTONIC,
 *	                                      30 % of the time: in step with a timer of that rate
 *
 * All time except a few instructions per phase is spent in the two functions, which
 * read the cycle counter and call nothing. At the end one line of JSON: the
 * shares by the clock on the wall and by the thread's CPU clock.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((noinline, visibility("default")))

static inline uint64_t cycles(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
#else
#error "no cycle counter for this architecture"
#endif
}

EXPORT void share_f(uint64_t until);
EXPORT void share_g(uint64_t until);

void share_f(uint64_t until)
{
	while ((int64_t)(until - cycles()) > 0)
		__asm__ volatile("");
}

void share_g(uint64_t until)
{
	while ((int64_t)(until - cycles()) > 0)
		__asm__ volatile("" ::: "memory");
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct program {
	double rate;     /* cycles a ns */
	uint64_t random; /* state of the generator */
	uint64_t start_ns, end_ns;
	uint64_t wall_ns[2], cpu_ns[2]; /* of share_f, share_g */
	uint64_t mark_wall_ns, mark_cpu_ns;
};

static double uniform(struct program *p)
{
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	return (double)(p->random >> 11) / 9007199254740992.0;
}

/* -ln(1 - u) without libm: u = 1 - 2^-k * (1 - v), and a series for the rest. */
static double exponential(struct program *p)
{
	double x = 1 - uniform(p), sum = 0, term;

	for (; x < 0.5; x *= 2)
		sum += 0.69314718055994531;
	x = (1 - x) / (1 + x);
	term = x;
	for (int k = 1; k < 40; k += 2, term *= x * x)
		sum += 2 * term / k;
	return sum;
}

/* It sleeps, so that no time is spent outside the two functions. */
static void calibrate(struct program *p)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	uint64_t ns = now_ns(CLOCK_MONOTONIC), count = cycles();

	nanosleep(&pause, NULL);
	p->rate = (double)(cycles() - count) / (double)(now_ns(CLOCK_MONOTONIC) - ns);
}

/* Runs one function until a time of CLOCK_MONOTONIC, and adds the time that it took. */
static void phase(struct program *p, int which, uint64_t until_ns)
{
	double ns = (double)(int64_t)(until_ns - p->mark_wall_ns);
	uint64_t until = cycles() + (ns > 0 ? (uint64_t)(ns * p->rate) : 0), wall, cpu;

	(which ? share_g : share_f)(until);
	wall = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	p->wall_ns[which] += wall - p->mark_wall_ns;
	p->cpu_ns[which] += cpu - p->mark_cpu_ns;
	p->mark_wall_ns = wall;
	p->mark_cpu_ns = cpu;
}

/*
 * The number of whole turns that fit into the time on average. If the clock stopped it, the share
 * would depend on the first function.
 */
static void in_turn(struct program *p, const char *mode, double f_ms, double g_ms)
{
	uint64_t turns = (uint64_t)((double)(p->end_ns - p->start_ns) / 1e6 / (f_ms + g_ms) + 0.5);
	double ms[2] = {f_ms, g_ms};

	for (uint64_t i = 0; i < 2 * (turns ? turns : 1); i++) {
		int which = i & 1;
		double length = ms[which] * 1e6;

		if (!strcmp(mode, "even"))
			length *= 0.75 + 0.5 * uniform(p);
		else if (!strcmp(mode, "burst"))
			length *= exponential(p);
		phase(p, which, p->mark_wall_ns + (uint64_t)length);
	}
}

static void in_step(struct program *p, double hz)
{
	double period = 1e9 / hz;
	uint64_t k = (uint64_t)((double)p->mark_wall_ns / period) + 1;

	/* Points that pass while the thread is off its CPU are skipped. */
	for (; p->mark_wall_ns < p->end_ns; k++) {
		double at = (double)k * period;

		if (at + 0.15 * period < (double)p->mark_wall_ns)
			continue;
		phase(p, 1, (uint64_t)(at - 0.15 * period));
		phase(p, 0, (uint64_t)(at + 0.15 * period));
	}
}

static void print_truth(const struct program *p)
{
	double wall = (double)(p->wall_ns[0] + p->wall_ns[1]);
	double cpu = (double)(p->cpu_ns[0] + p->cpu_ns[1]);

	printf("{\"share_f\":%.6f,\"share_g\":%.6f,\"wall_share_f\":%.6f,\"wall_ns\":%.0f,"
	       "\"cpu_ns\":%.0f}\n",
	       (double)p->cpu_ns[0] / cpu, (double)p->cpu_ns[1] / cpu, (double)p->wall_ns[0] / wall,
	       wall, cpu);
}

static int usage(void)
{
	fputs("usage: share even|exact MS_F MS_G SECONDS\n"
	      "       share burst MS_F MS_G SECONDS [SEED]\n"
	      "       share step HZ SECONDS\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct program p = {0};
	bool step = argc == 4 && !strcmp(argv[1], "step");
	double seconds;

	if (!step && (argc < 5 || (strcmp(argv[1], "even") && strcmp(argv[1], "exact") &&
	                           strcmp(argv[1], "burst"))))
		return usage();
	seconds = atof(argv[step ? 3 : 4]);
	if (!(seconds > 0) || !(atof(argv[2]) > 0))
		return usage();
	calibrate(&p);
	p.start_ns = p.mark_wall_ns = now_ns(CLOCK_MONOTONIC);
	p.mark_cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	p.random = argc > 5 ? strtoull(argv[5], NULL, 10) : p.start_ns;
	p.random = p.random * 0x9e3779b97f4a7c15u + 1;
	p.end_ns = p.start_ns + (uint64_t)(seconds * 1e9);
	if (step)
		in_step(&p, atof(argv[2]));
	else
		in_turn(&p, argv[1], atof(argv[2]), atof(argv[3]));
	print_truth(&p);
	return 0;
}
