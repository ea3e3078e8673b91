/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth: a program's own log of its waits, independently of assay.
 *
 * truth_begin() first, truth_end() last. A wait is logged with
 *
 *         struct truth_mark from = truth_mark();
 *         pthread_mutex_lock(&table_lock);
 *         truth_waited(from, (struct truth_cause){"lock", "table_lock", owner, "release_table",
 * owner});
 *
 * if the calling thread blocked since the mark. The time is that of CLOCK_MONOTONIC around the
 * call, in ns; after switches_begin() the log has the time off the CPU, too. The number of times
 * that the thread blocked is the kernel's count of voluntary switches, and exact. truth_step() logs
 * a step of the critical path.
 *
 * truth_end() writes JSON to the file that $TRUTH names, or to standard output. A text of the log
 * may have alternatives with `|` between them. The log is shared with forked children; threads may
 * use it. Strings of a cause must be printable. Uses: no code of assay.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include "switches.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TRUTH_MAX 8192
#define APART __attribute__((noinline))
#define MS 1000000ull /* ns */

/* Why a thread waited. Unknown texts are NULL. `holder` only if a lock had an owner. */
struct truth_cause {
	const char *kind, *name, *by, *function, *holder;
};

struct truth_mark {
	uint64_t time_ns, cpu_ns;
	int64_t off_ns; /* blocked, by the kernel's records; -1: not known */
	long blocks, preempted;
};

struct truth_entry {
	char waiter[16], kind[32], name[128], by[16], function[32], holder[16];
	uint64_t from_ns, to_ns, cpu_ns;
	int64_t off_ns;
	long blocks, preempted;
	bool is_step;
};

struct truth_log {
	const char *program;
	uint64_t begin_ns;
	uint32_t count;
	int process;
	struct truth_entry entries[TRUTH_MAX];
};

static struct truth_log *truth_log;

/* Ends the program if `failed`, a call's result, is not 0. */
static inline void must(long failed, const char *what)
{
	if (failed) {
		perror(what);
		_exit(1);
	}
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void truth_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static inline void truth_begin(const char *program)
{
	truth_log = mmap(NULL, sizeof *truth_log, PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(truth_log == MAP_FAILED, "mmap");
	truth_log->program = program;
	truth_log->process = (int)getpid();
	truth_log->begin_ns = clock_ns(CLOCK_MONOTONIC);
	truth_name("main");
}

static inline struct truth_mark truth_mark(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return (struct truth_mark){clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID),
	                           switches_off_ns(), r.ru_nvcsw, r.ru_nivcsw};
}

static inline void truth_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

static inline struct truth_entry *truth_add(struct truth_mark from, struct truth_mark to,
                                            struct truth_cause c)
{
	uint32_t i = __atomic_fetch_add(&truth_log->count, 1, __ATOMIC_RELAXED);
	struct truth_entry *e = &truth_log->entries[i];

	must(i >= TRUTH_MAX, "too many waits");
	prctl(PR_GET_NAME, e->waiter);
	truth_text(e->kind, sizeof e->kind, c.kind);
	truth_text(e->name, sizeof e->name, c.name);
	truth_text(e->by, sizeof e->by, c.by);
	truth_text(e->function, sizeof e->function, c.function);
	truth_text(e->holder, sizeof e->holder, c.holder);
	e->from_ns = from.time_ns;
	e->to_ns = to.time_ns;
	e->cpu_ns = to.cpu_ns - from.cpu_ns;
	e->off_ns = to.off_ns < 0 ? -1 : to.off_ns - from.off_ns;
	e->blocks = to.blocks - from.blocks;
	e->preempted = to.preempted - from.preempted;
	return e;
}

/* Logs a wait since `from`; returns whether the thread blocked. */
static inline bool truth_waited(struct truth_mark from, struct truth_cause c)
{
	struct truth_mark to = truth_mark();

	if (to.blocks == from.blocks)
		return false;
	truth_add(from, to, c);
	return true;
}

/* Logs that from `from` until now the calling thread was on the critical path, in `function`. */
static inline void truth_step(struct truth_mark from, const char *kind, const char *function)
{
	struct truth_cause c = {kind, NULL, NULL, function, NULL};

	truth_add(from, truth_mark(), c)->is_step = true;
}

/* Sleeps once; the wait is logged. */
static inline void truth_sleep(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	struct truth_mark from = truth_mark();

	nanosleep(&t, NULL);
	truth_waited(from, (struct truth_cause){"sleep", NULL, NULL, NULL, NULL});
}

/* Computes for `ns` of CPU time, in the function that calls it. */
static inline __attribute__((always_inline)) void truth_compute(uint64_t ns)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns, x = 1;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
		for (int i = 0; i < 50000; i++) {
			x = x * 6364136223846793005u + 1;
			__asm__ volatile("" : "+r"(x));
		}
	}
}

static inline pthread_t truth_start(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, run, argument), "pthread_create");
	return thread;
}

static inline void truth_join(pthread_t thread)
{
	struct truth_mark from = truth_mark();

	pthread_join(thread, NULL);
	truth_waited(from, (struct truth_cause){"join", NULL, NULL, NULL, NULL});
}

static inline void truth_print(FILE *f, const struct truth_entry *e)
{
	fprintf(f, "{\"waiter\": \"%s\", \"kind\": \"%s\", \"name\": \"%s\", \"by\": \"%s\", ",
	        e->waiter, e->kind, e->name, e->by);
	fprintf(f, "\"function\": \"%s\", \"holder\": \"%s\", \"from_ns\": %llu, \"ns\": %llu, ",
	        e->function, e->holder, (unsigned long long)e->from_ns,
	        (unsigned long long)(e->to_ns - e->from_ns));
	fprintf(f, "\"cpu_ns\": %llu, \"off_ns\": %lld, \"blocks\": %ld, \"preempted\": %ld}",
	        (unsigned long long)e->cpu_ns, (long long)e->off_ns, e->blocks, e->preempted);
}

static inline void truth_print_all(FILE *f, const char *key, bool is_step)
{
	const char *before = "";

	fprintf(f, ", \"%s\": [", key);
	for (uint32_t i = 0; i < truth_log->count; i++) {
		if (truth_log->entries[i].is_step != is_step)
			continue;
		fprintf(f, "%s\n  ", before);
		truth_print(f, &truth_log->entries[i]);
		before = ",";
	}
	fprintf(f, "]");
}

static inline void truth_end(void)
{
	uint64_t elapsed_ns = clock_ns(CLOCK_MONOTONIC) - truth_log->begin_ns;
	const char *path = getenv("TRUTH");
	FILE *f = path ? fopen(path, "w") : stdout;

	must(!f, "the file of $TRUTH");
	fprintf(f, "{\"program\": \"%s\", \"pid\": %d, \"elapsed_ns\": %llu", truth_log->program,
	        truth_log->process, (unsigned long long)elapsed_ns);
	truth_print_all(f, "waits", false);
	truth_print_all(f, "path", true);
	fprintf(f, "}\n");
	must(fclose(f), "write");
}

#endif
