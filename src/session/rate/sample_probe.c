/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/sample_probe.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "event/attr.h"
#include "session/rate/own_events.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Time between probe samples, so that caches are refilled before the next sample. */
#define PASSES_BETWEEN 3
#define PERIOD_MIN_NS UINT64_C(200000)
#define PERIOD_MAX_NS UINT64_C(1000000)
#define CYCLES_PER_NS 3 /* approximately */
/* A record with a stack copy has at most 64 KB. */
#define RING_BYTES (128u << 10)
/*
 * The working set of a large program: a buffer as large as the second-level cache, read repeatedly
 * in random order. Lines that an interrupt evicts must be fetched again; the host of a virtual
 * machine evicts the most. A sample costs the most at this size.
 */
#define CACHE_ASSUMED (1u << 20)
#define CACHE_MIN (256u << 10)
#define CACHE_MAX (2u << 20)
/* Pages that are released and faulted in again, so that a part of the time is in the kernel. */
#define PAGES 256
#define PAGE_BYTES 4096

struct sample_probe_line {
	uint32_t next;
	uint32_t room[15];
};

struct sample_probe {
	struct own_events event;
	uint32_t at, page;
	uint32_t line_count;
	struct sample_probe_line *lines; /* NULL while it rests */
	char *pages;                     /* NULL: the kernel refused it */
	uint64_t period_ns;
};

static struct perf_event_attr probe_attr(const struct perf_event_attr *planned, uint64_t period_ns)
{
	struct perf_event_attr attr = *planned;

	if (!attr_is_clock(&attr)) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.config1 = attr.config2 = 0;
	}
	attr.freq = attr.context_switch = 0;
	attr.mmap = attr.mmap2 = attr.comm = attr.task = 0;
	attr.sample_period = attr_is_software_clock(&attr) ? period_ns : CYCLES_PER_NS * period_ns;
	return attr;
}

static uint32_t lines_of_cache(void)
{
	long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);

	if (bytes <= 0)
		bytes = CACHE_ASSUMED;
	if (bytes < CACHE_MIN)
		bytes = CACHE_MIN;
	if (bytes > CACHE_MAX)
		bytes = CACHE_MAX;
	return (uint32_t)((size_t)bytes / sizeof(struct sample_probe_line));
}

/* Whole pages of zeros, which are given back to the kernel at once when they are released. */
static void *new_pages(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

static size_t line_bytes(const struct sample_probe *c)
{
	return c->line_count * sizeof(*c->lines);
}

/* A cycle through all lines, in a random but reproducible order. */
static void make_cycle(struct sample_probe_line *lines, uint32_t count)
{
	uint64_t state = 88172645463325252;

	for (uint32_t i = 0; i < count; i++)
		lines[i].next = i;
	for (uint32_t i = count - 1; i; i--) {
		uint32_t other, next = lines[i].next;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		other = (uint32_t)(state % i);
		lines[i].next = lines[other].next;
		lines[other].next = next;
	}
}

static int make_work(struct sample_probe *c, struct error *err)
{
	c->at = c->page = 0;
	c->lines = new_pages(line_bytes(c));
	if (!c->lines)
		return error_set(err, ENOMEM, "no memory to measure the cost of a sample");
	make_cycle(c->lines, c->line_count);
	c->pages = new_pages(PAGES * PAGE_BYTES);
	return 0;
}

void sample_probe_rest(struct sample_probe *c)
{
	if (c->pages)
		munmap(c->pages, PAGES * PAGE_BYTES);
	if (c->lines)
		munmap(c->lines, line_bytes(c));
	c->pages = NULL;
	c->lines = NULL;
}

/* Causes a page fault, since samples in the kernel cost more than others. */
static void fault(struct sample_probe *c)
{
	if (!c->pages)
		return;
	c->pages[(size_t)c->page * PAGE_BYTES] = 1;
	c->page = (c->page + 1) % PAGES;
	if (!c->page)
		madvise(c->pages, PAGES * PAGE_BYTES, MADV_DONTNEED);
}

uint64_t sample_probe_step(struct sample_probe *c)
{
	for (uint32_t i = 0; i < c->line_count / SAMPLE_PROBE_PASS; i++)
		c->at = c->lines[c->at].next;
	fault(c);
	return clock_ns(CLOCK_MONOTONIC);
}

void sample_probe_warm(const struct sample_probe *c)
{
	for (uint32_t i = 0; i < c->line_count; i++)
		(void)*(const volatile uint32_t *)&c->lines[i].next;
}

/* The period of probe samples, from the duration of a pass: the minimum of a few passes. */
static uint64_t passes_ns(struct sample_probe *c)
{
	uint64_t least = PERIOD_MAX_NS, before = sample_probe_step(c);

	for (int pass = 0; pass < 4; pass++) {
		uint64_t now = before;

		for (int i = 0; i < SAMPLE_PROBE_PASS; i++)
			now = sample_probe_step(c);
		if (now - before < least)
			least = now - before;
		before = now;
	}
	least *= PASSES_BETWEEN;
	return least < PERIOD_MIN_NS   ? PERIOD_MIN_NS
	       : least > PERIOD_MAX_NS ? PERIOD_MAX_NS
	                               : least;
}

int sample_probe_open(struct sample_probe **out, const struct perf_event_attr *planned,
                      uint64_t most_ns, struct error *err)
{
	struct sample_probe *c = xcalloc(1, sizeof(*c));
	struct perf_event_attr attr;
	int status;

	c->line_count = lines_of_cache();
	status = make_work(c, err);
	if (!status) {
		c->period_ns = passes_ns(c);
		if (most_ns && c->period_ns > most_ns)
			c->period_ns = most_ns;
		attr = probe_attr(planned, c->period_ns);
		status = own_events_open(&c->event, &attr, 1,
		                         (struct own_events_of){OWN_THREAD, -1}, RING_BYTES, err);
	}
	if (status) {
		sample_probe_close(c);
		c = NULL;
	}
	*out = c;
	return status;
}

void sample_probe_close(struct sample_probe *c)
{
	if (!c)
		return;
	own_events_close(&c->event);
	sample_probe_rest(c);
	free(c);
}

uint64_t sample_probe_period_ns(const struct sample_probe *c)
{
	return c->period_ns;
}

uint32_t sample_probe_count(struct sample_probe *c)
{
	return own_events_count(&c->event, PERF_RECORD_SAMPLE);
}

bool sample_probe_enable(struct sample_probe *c, bool on)
{
	if (on && !c->lines && make_work(c, NULL))
		return false;
	return own_events_enable(&c->event, on);
}
