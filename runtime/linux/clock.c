/* SPDX-License-Identifier: MIT */
/*
 * clock: see clock.h. A conversion reads the first moment, which never changes, and the rate, which
 * is one word. It takes no lock. A sequence number protects `latest`. A thread that finds the
 * number odd does not wait, since a signal handler may have interrupted the writer in the same
 * thread.
 */
#include "linux/clock.h"

#include "assay_port.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

#define MOMENT_READINGS 9
/* Between the first two moments: each has an error of 25 ns, so the rate has an error of 4e-4 at
 * most */
#define BEGIN_NS 120000u
#define NOTE_NS 100000000 /* minimum distance between two moments */
#define RATE_SHIFT 40

static uint64_t raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct assay_calls_moment clock_now(unsigned readings)
{
	struct assay_calls_moment moment = {0};
	uint64_t best = UINT64_MAX;
	int saved = errno;

	for (unsigned i = 0; i < readings || !i; i++) {
		uint64_t before = port_clock(), ns = raw_ns(), after = port_clock();

		if (after - before < best) {
			best = after - before;
			moment.ticks = before + best / 2;
			moment.ns = ns;
		}
	}
	errno = saved;
	return moment;
}

static uint64_t rate_between(struct assay_calls_moment a, struct assay_calls_moment b)
{
	if (b.ns <= a.ns || b.ticks <= a.ticks)
		return 0;
	return (uint64_t)(((unsigned __int128)(b.ticks - a.ticks) << RATE_SHIFT) / (b.ns - a.ns));
}

static void write_latest(struct clock_rate *c, struct assay_calls_moment moment)
{
	uint64_t rate = rate_between(c->first, moment);

	__atomic_store_n(&c->latest.ticks, moment.ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&c->latest.ns, moment.ns, __ATOMIC_RELAXED);
	if (rate)
		__atomic_store_n(&c->ticks_per_ns, rate, __ATOMIC_RELAXED);
}

void clock_begin(struct clock_rate *c)
{
	int saved = errno;

	c->sequence = 0;
	c->ticks_per_ns = 0;
	c->first = clock_now(MOMENT_READINGS);
	while (raw_ns() - c->first.ns < BEGIN_NS)
		;
	write_latest(c, clock_now(MOMENT_READINGS));
	errno = saved;
}

/* At first a new moment is due each time the distance to the first moment has doubled. */
static bool is_due(const struct clock_rate *c, uint64_t ns)
{
	struct assay_calls_moment latest = clock_latest(c);
	uint64_t base = latest.ns - c->first.ns;

	return ns > latest.ns && ns - latest.ns >= (base < NOTE_NS ? base : NOTE_NS);
}

void clock_note(struct clock_rate *c)
{
	uint32_t sequence = __atomic_load_n(&c->sequence, __ATOMIC_ACQUIRE);
	struct assay_calls_moment moment;
	int saved = errno;

	if (sequence & 1 || !is_due(c, raw_ns()))
		goto out;
	moment = clock_now(MOMENT_READINGS);
	/* If another thread notes at the same time, its moment is sufficient. */
	if (!__atomic_compare_exchange_n(&c->sequence, &sequence, sequence + 1, false,
	                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		goto out;
	__atomic_thread_fence(__ATOMIC_RELEASE); /* release fence: the odd sequence is visible
	                                            before the first changed word */
	write_latest(c, moment);
	__atomic_store_n(&c->sequence, sequence + 2, __ATOMIC_RELEASE);
out:
	errno = saved;
}

void clock_again(struct clock_rate *c)
{
	if (!(c->sequence & 1))
		return;
	write_latest(c, clock_now(MOMENT_READINGS));
	c->sequence++;
}

struct assay_calls_moment clock_latest(const struct clock_rate *c)
{
	uint32_t sequence = __atomic_load_n(&c->sequence, __ATOMIC_ACQUIRE);
	struct assay_calls_moment moment;

	moment.ticks = __atomic_load_n(&c->latest.ticks, __ATOMIC_RELAXED);
	moment.ns = __atomic_load_n(&c->latest.ns, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (sequence & 1 || __atomic_load_n(&c->sequence, __ATOMIC_RELAXED) != sequence)
		return c->first;
	return moment;
}

/*
 * If the clock has not begun, one tick counts as one nanosecond, so that no division by 0 occurs.
 */
static uint64_t rate_of(const struct clock_rate *c)
{
	uint64_t rate = __atomic_load_n(&c->ticks_per_ns, __ATOMIC_RELAXED);

	return rate ? rate : 1ull << RATE_SHIFT;
}

uint64_t clock_span_ticks(const struct clock_rate *c, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns * rate_of(c)) >> RATE_SHIFT);
}

uint64_t clock_span_ns(const struct clock_rate *c, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks << RATE_SHIFT) / rate_of(c));
}

uint64_t clock_ticks_of(const struct clock_rate *c, uint64_t ns)
{
	struct assay_calls_moment from = clock_latest(c);

	if (ns >= from.ns)
		return from.ticks + clock_span_ticks(c, ns - from.ns);
	return from.ticks - clock_span_ticks(c, from.ns - ns);
}

uint64_t clock_thread_cpu_ns(void)
{
	struct timespec t = {0};
	int saved = errno;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	errno = saved;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
