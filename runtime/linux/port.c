/* SPDX-License-Identifier: MIT */
/* port: the per-thread part of calls/port.h for Linux programs. */
#include "calls/calls.h"
#include "calls/thread.h"
#include "libraries/libraries.h"
#include "linux/code/filter.h"
#include "linux/code/images.h"
#include "linux/place.h"
#include "linux/process.h"
#include "linux/program.h"
#include "linux/samples.h"
#include "linux/switches.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__thread struct calls_thread *assay_calls_self = &calls_unborn;

struct port_thread {
	struct switches switches;
	struct samples samples;
	uint64_t period_ns, period_cost; /* of the samples; 0: not decided */
};

_Static_assert(sizeof(struct port_thread) <= sizeof(((struct calls_thread *)0)->port),
               "calls_thread.port holds a struct port_thread");

/*
 * Samples a second of CPU time: as many as take this share of the time, between these bounds.
 * ASSAY_CALLS_RATE sets their number; 0: none, the clock is read at each event.
 */
#define RATE_SHARE 40 /* 1 / 40 of the time: 2.5 % */
#define RATE_LEAST 500u
#define RATE_USUAL 9000u
#define RATE_MOST 50000u

static pthread_key_t at_end;
static bool has_key;

static struct switches *switches_of(struct calls_thread *t)
{
	return &((struct port_thread *)(void *)t->port)->switches;
}

static struct samples *samples_of(struct calls_thread *t)
{
	return &((struct port_thread *)(void *)t->port)->samples;
}

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void port_memory_missed(const volatile void *at)
{
	uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	int before = errno;
	void *page = (void *)((uintptr_t)at / bytes * bytes);
	void *got = mmap(page, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	                 -1, 0);

	/* A kernel before 4.17 treats the address as a hint. */
	if (got != MAP_FAILED && got != page)
		munmap(got, bytes);
	errno = before;
}

uint64_t port_thread_cpu_ns(void)
{
	return clock_thread_cpu_ns();
}

static void thread_ends(void *rounds)
{
	uintptr_t left = (uintptr_t)rounds;

	/* The destructors of other keys may be instrumented: run after them. */
	if (left > 1)
		pthread_setspecific(at_end, (void *)(left - 1));
	else
		calls_thread_end();
}

__attribute__((constructor(101))) static void make_key(void)
{
	has_key = !pthread_key_create(&at_end, thread_ends);
	pthread_atfork(calls_fork_prepare, NULL, calls_fork_child);
}

void port_thread_begin(struct calls_thread *t, struct assay_calls_thread *record,
                       volatile uint64_t **watch)
{
	struct switches *s = switches_of(t);
	char name[16] = "";

	if (prctl(PR_GET_NAME, name) == 0)
		memcpy(record->name, name, sizeof(record->name));
	record->name[sizeof(record->name) - 1] = '\0';
	if (switches_open(s, &process_clock))
		calls_flag(ASSAY_CALLS_UNSWITCHED);
	if (s->head)
		*watch = s->head;
	if (has_key && syscall(SYS_getpid) != port_thread_id())
		pthread_setspecific(at_end, (void *)(uintptr_t)3);
}

void port_thread_waits(struct calls_thread *t, uint64_t from, uint64_t to, struct port_waits *w)
{
	struct switches *s = switches_of(t);
	struct assay_calls_thread *r = t->record;

	switches_settle(s, &process_clock, from, to, w);
	r->sync_cpu_ns = s->sync_cpu_ns;
	r->sync = s->sync;
	clock_note(&process_clock);
	calls_table.header->latest = clock_latest(&process_clock);
}

/* The code of this library, in which samples are the cost of counting. */
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char etext __attribute__((visibility("hidden")));

/* `cost_ns`: of a sample. */
static uint64_t rate(uint64_t cost_ns)
{
	const char *word = place_environment("ASSAY_CALLS_RATE");
	uint64_t value = 0;

	if (!word || !*word) {
		value = cost_ns ? 1000000000u / RATE_SHARE / cost_ns : RATE_LEAST;
		return value < RATE_LEAST ? RATE_LEAST : value > RATE_USUAL ? RATE_USUAL : value;
	}
	for (; *word >= '0' && *word <= '9' && value < RATE_MOST; word++)
		value = value * 10 + (uint64_t)(*word - '0');
	return value < RATE_MOST ? value : RATE_MOST;
}

/*
 * The period differs between threads and processes, so that not all of them are sampled in step
 * with work that repeats.
 */
static uint64_t period_ns(uint64_t a_second)
{
	uint64_t mixed = (port_clock() ^ (uint64_t)port_thread_id() << 20) * 0x9e3779b97f4a7c15u;
	uint64_t ns = 1000000000u / a_second;

	return ns - ns / 16 + (mixed >> 32) % (ns / 8 + 1);
}

bool port_can_sample(struct calls_thread *t)
{
	static uint32_t known; /* 1: no; 2: yes */
	struct samples *s = samples_of(t);

	samples_forget(s);
	if (!rate(1))
		return false;
	if (!__atomic_load_n(&known, __ATOMIC_RELAXED)) {
		bool can = !samples_open(s, 1000000000);

		samples_close(s);
		__atomic_store_n(&known, can ? 2 : 1, __ATOMIC_RELAXED);
	}
	if (known != 2)
		calls_flag(ASSAY_CALLS_UNSAMPLED);
	return known == 2;
}

uint64_t port_thread_sample(struct calls_thread *t, volatile uint64_t **watch, uint64_t *cost)
{
	static uint64_t known_cost; /* +1; 0: not measured */
	struct port_thread *p = (struct port_thread *)(void *)t->port;
	uint64_t period;

	if (!__atomic_load_n(&known_cost, __ATOMIC_RELAXED))
		__atomic_store_n(&known_cost, samples_cost() + 1, __ATOMIC_RELAXED);
	if (!p->period_ns) {
		p->period_cost = known_cost - 1;
		p->period_ns = period_ns(rate(clock_span_ns(&process_clock, p->period_cost)));
	}
	*cost = p->period_cost;
	if (samples_open(&p->samples, p->period_ns)) {
		samples_close(&p->samples);
		return 0;
	}
	*watch = p->samples.head;
	period = clock_span_ticks(&process_clock, p->samples.period_ns);
	return period > *cost ? period - *cost : 1;
}

void port_thread_sample_end(struct calls_thread *t)
{
	samples_close(samples_of(t));
}

void port_thread_samples(struct calls_thread *t, struct port_samples *s)
{
	samples_take(samples_of(t), (uintptr_t)&__ehdr_start, (uintptr_t)&etext, s);
}

void port_thread_done(struct calls_thread *t)
{
	samples_close(samples_of(t));
	switches_close(switches_of(t));
}

void port_function(uint64_t function)
{
	int before = errno;
	int index = images_find(function & ASSAY_FN_ADDRESS);
	const struct assay_calls_image *image = index < 0 ? NULL : images_get(index);

	if (image && !(function & ASSAY_FN_LIBRARY) &&
	    calls_table.header->flags & ASSAY_CALLS_LIBRARIES)
		libraries_look(image->start, image->end, image->path);
	errno = before;
}

bool port_wants(uint64_t function)
{
	uint64_t address = function & ASSAY_FN_ADDRESS;

	return !filter_is_set() || filter_wants(address, images_find(address));
}

__attribute__((destructor)) static void process_ends(void)
{
	process_end(ASSAY_CALLS_EXITED);
}

/*
 * quick_exit() runs no destructors. This handler is registered early, so that it runs after the
 * program's own handlers.
 */
int at_quick_exit(void (*handler)(void));

__attribute__((constructor(101))) static void watch_quick_exit(void)
{
	at_quick_exit(process_ends);
}
