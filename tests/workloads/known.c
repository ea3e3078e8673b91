/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known: works in fn_a to fn_e, and prints the CPU time of each and of the whole process.
 *
 *	known PROGRAM SECONDS [HZ]
 *
 * The programs differ in the lengths of the pieces of work and in their order; programs[] lists
 * them. HZ is the rate of the timer that step, step10 and stepsleep are in step with. The time of a
 * function is the time of its thread's CPU clock between the start and the end of each piece. At
 * the end one line of JSON has the times in ns, and the time of the process with its children.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS 5
#define THREADS 16
#define MIX 6364136223846793005u

#define FUNCTION(name, odd)                                                                        \
	__attribute__((noinline)) uint64_t name(uint64_t x, uint64_t count);                       \
	__attribute__((noinline)) uint64_t name(uint64_t x, uint64_t count)                        \
	{                                                                                          \
		for (uint64_t i = 0; i < count; i++) {                                             \
			x = x * MIX + odd;                                                         \
			__asm__ volatile("" : "+r"(x));                                            \
		}                                                                                  \
		return x;                                                                          \
	}

FUNCTION(fn_a, 1)
FUNCTION(fn_b, 3)
FUNCTION(fn_c, 5)
FUNCTION(fn_d, 7)
FUNCTION(fn_e, 9)
FUNCTION(calibrate, 11)

static uint64_t (*const functions[FUNCTIONS])(uint64_t, uint64_t) = {fn_a, fn_b, fn_c, fn_d, fn_e};

/* Shared with children. */
struct truth {
	double ns[FUNCTIONS], total_ns;
};

static struct truth *truth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double ns_each; /* time of one round of a function */
static double seconds, hz;

struct worker {
	uint64_t random, x;
	double ns[FUNCTIONS];
};

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double uniform(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (double)(w->random >> 11) / 9007199254740992.0;
}

static void worker_begin(struct worker *w)
{
	*w = (struct worker){.random = (uint64_t)now_ns(CLOCK_REALTIME) * MIX + (uint64_t)gettid()};
	for (int i = 0; i < 8; i++)
		uniform(w);
}

static void worker_end(const struct worker *w)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < FUNCTIONS; i++)
		truth->ns[i] += w->ns[i];
	pthread_mutex_unlock(&lock);
}

static void work(struct worker *w, int which, double ns)
{
	double start = now_ns(CLOCK_THREAD_CPUTIME_ID);

	w->x = functions[which](w->x, (uint64_t)(ns / ns_each));
	w->ns[which] += now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void work_until(struct worker *w, int which, double until_ns)
{
	double start = now_ns(CLOCK_THREAD_CPUTIME_ID), left;

	/* Few reads of the clock: they are no time of the function. */
	while ((left = until_ns - now_ns(CLOCK_MONOTONIC)) > 0)
		w->x = functions[which](w->x, (uint64_t)((0.9 * left + 1000) / ns_each));
	w->ns[which] += now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void pause_ns(double ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1e9),
	                              .tv_nsec = (long)ns % 1000000000};

	nanosleep(&time, NULL);
}

static int choose(struct worker *w, const double *shares)
{
	double left = uniform(w);
	int i;

	for (i = 0; i < FUNCTIONS - 1 && left >= shares[i]; i++)
		left -= shares[i];
	return i;
}

static const double common[FUNCTIONS] = {.5, .3, .15, .04, .01};

/* Pieces of random length with the given mean, for `ns` of CPU time. */
static void mixed(struct worker *w, const double *shares, double mean_ns, double ns)
{
	double end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		work(w, choose(w, shares), 2 * mean_ns * uniform(w));
}

static void steady(struct worker *w)
{
	static const double shares[FUNCTIONS] = {.5, .3, .15, .049, .001};

	mixed(w, shares, 200e3, seconds * 1e9);
}

static void coarse(struct worker *w)
{
	mixed(w, common, 15e6, seconds * 1e9);
}

static void rare(struct worker *w)
{
	static const double shares[FUNCTIONS] = {.9, .06, .03, .007, .003};

	mixed(w, shares, 2e6, seconds * 1e9);
}

static void phases(struct worker *w)
{
	static const double first[FUNCTIONS] = {.8, .15, .04, .01, 0};
	static const double second[FUNCTIONS] = {.15, .8, .01, .04, 0};

	mixed(w, first, 50e3, seconds * 5e8);
	mixed(w, second, 50e3, seconds * 5e8);
}

static void even(struct worker *w)
{
	static const double ms[FUNCTIONS] = {7, 3, 2, 1, .5};
	double end = now_ns(CLOCK_THREAD_CPUTIME_ID) + seconds * 1e9;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < FUNCTIONS; i++)
			work(w, i, ms[i] * 1e6 * (0.75 + 0.5 * uniform(w)));
}

static void bursts(struct worker *w)
{
	double end = now_ns(CLOCK_MONOTONIC) + seconds * 1e9;

	while (now_ns(CLOCK_MONOTONIC) < end) {
		work(w, choose(w, common), 5e6);
		pause_ns(1e6 + 9e6 * uniform(w));
	}
}

static void in_step(struct worker *w, double period_ns)
{
	double start = now_ns(CLOCK_MONOTONIC), end = start + seconds * 1e9;

	for (double at = start + period_ns; at < end; at += period_ns) {
		work_until(w, 0, at - 0.7 * period_ns);
		work_until(w, 1, at);
	}
}

static void step(struct worker *w)
{
	in_step(w, 1e9 / hz);
}

static void step10(struct worker *w)
{
	in_step(w, 10e9 / hz);
}

static void stepsleep(struct worker *w)
{
	double period_ns = 1e9 / hz, start = now_ns(CLOCK_MONOTONIC), end = start + seconds * 1e9;

	for (double at = start + period_ns; at < end; at += period_ns) {
		struct timespec until = {.tv_sec = (time_t)(at / 1e9)};

		until.tv_nsec = (long)(at - (double)until.tv_sec * 1e9);
		work(w, 0, 0.2 * period_ns);
		work(w, 1, 0.1 * period_ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

static void *unequal_thread(void *number)
{
	int i = (int)(intptr_t)number;
	struct worker w;

	worker_begin(&w);
	for (int j = 0; j < 50; j++)
		work(&w, i % FUNCTIONS,
		     seconds * 1e9 * 2 * (i + 1) / (THREADS * (THREADS + 1)) / 50);
	worker_end(&w);
	return NULL;
}

static void *pool_thread(void *number)
{
	double end = now_ns(CLOCK_MONOTONIC) + seconds * 1e9;
	struct worker w;

	(void)number;
	worker_begin(&w);
	while (now_ns(CLOCK_MONOTONIC) < end) {
		for (int i = 1 + (int)(4 * uniform(&w)); i; i--)
			work(&w, choose(&w, common), 1e6 * uniform(&w));
		pause_ns(4e6 * uniform(&w));
	}
	worker_end(&w);
	return NULL;
}

static void run_threads(void *(*run)(void *), int count)
{
	pthread_t ids[THREADS];

	for (intptr_t i = 0; i < count; i++)
		if (pthread_create(&ids[i], NULL, run, (void *)i))
			exit(1);
	for (int i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
}

static void threads(struct worker *w)
{
	(void)w;
	run_threads(unequal_thread, THREADS);
}

static void pool(struct worker *w)
{
	(void)w;
	run_threads(pool_thread, 4);
}

/* Processes of 2 to 20 ms, one after the other. */
static void children(struct worker *w)
{
	double end = now_ns(CLOCK_MONOTONIC) + seconds * 1e9;

	while (now_ns(CLOCK_MONOTONIC) < end) {
		double ns = 2e6 + 18e6 * uniform(w);
		pid_t pid = fork();

		if (pid < 0)
			exit(1);
		if (pid) {
			waitpid(pid, NULL, 0);
			continue;
		}
		worker_begin(w);
		mixed(w, common, 500e3, ns);
		worker_end(w);
		truth->total_ns += now_ns(CLOCK_PROCESS_CPUTIME_ID);
		_exit(0);
	}
}

static const struct program {
	const char *name;
	void (*run)(struct worker *w);
} programs[] = {
        {"steady", steady},       /* pieces of 0.2 ms, in random order */
        {"coarse", coarse},       /* pieces of 15 ms */
        {"bursts", bursts},       /* pieces of 5 ms, with random pauses */
        {"even", even},           /* pieces of 0.5 to 7 ms, in turn */
        {"phases", phases},       /* pieces of 0.05 ms; the shares change at half of the time */
        {"rare", rare},           /* pieces of 2 ms, one of them with 0.3 % */
        {"step", step},           /* fn_a 30 % and fn_b 70 % of each period of the timer */
        {"step10", step10},       /* the same, of ten periods */
        {"stepsleep", stepsleep}, /* fn_a 20 % and fn_b 10 % of each period, then a pause */
        {"threads", threads},     /* 16 threads, thread k has k parts of the time */
        {"pool", pool},           /* 4 threads with pieces of 0.5 ms and pauses */
        {"children", children},   /* short processes with pieces of 0.5 ms */
};

static void measure_speed(struct worker *w)
{
	double best = 1e18;

	for (int i = 0; i < 20; i++) {
		double start = now_ns(CLOCK_THREAD_CPUTIME_ID), took;

		w->x = calibrate(w->x, 20000);
		took = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		best = took < best ? took : best;
	}
	ns_each = best / 20000;
}

static void print_truth(void)
{
	printf("{\"total\":%.0f", truth->total_ns + now_ns(CLOCK_PROCESS_CPUTIME_ID));
	for (int i = 0; i < FUNCTIONS; i++)
		printf(",\"fn_%c\":%.0f", 'a' + i, truth->ns[i]);
	puts("}");
}

int main(int argc, char **argv)
{
	struct worker w;

	seconds = argc > 2 ? atof(argv[2]) : 0;
	hz = argc > 3 ? atof(argv[3]) : 997;
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	             0);
	if (truth == MAP_FAILED)
		return 1;
	worker_begin(&w);
	measure_speed(&w);
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (argc > 2 && !strcmp(argv[1], programs[i].name) && seconds > 0 && hz > 0) {
			programs[i].run(&w);
			worker_end(&w);
			print_truth();
			return 0;
		}
	fputs("usage: known PROGRAM SECONDS [HZ]\n", stderr);
	return 2;
}
