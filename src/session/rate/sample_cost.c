/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/sample_cost.h"

#include "base/clock.h"
#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"
#include "event/attr.h"
#include "source/perf/perf_events.h"
#include "source/perf/perf_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Time between probe samples, so that caches are refilled before the next one. */
#define PASSES_BETWEEN 4
#define PERIOD_MIN_NS UINT64_C(200000)
#define PERIOD_MAX_NS UINT64_C(1000000)
#define CYCLES_PER_NS 3 /* approximately */
/* A record with a stack copy has at most 64 KB. */
#define RING_BYTES (128u << 10)
#define SPANS_MAX 512
/*
 * On a busy machine this thread gets only part of the time: the wall time may be this many times
 * longer.
 */
#define BUSY 20
#define ENOUGH 8
/*
 * The working set of a large program: a buffer as large as the second-level cache, read repeatedly
 * in random order. Lines that an interrupt evicts must be fetched again; the host of a virtual
 * machine evicts the most. A sample costs the most at this size.
 */
#define CACHE_ASSUMED (1u << 20)
#define CACHE_MIN (256u << 10)
#define CACHE_MAX (2u << 20)
/* Number of steps that read the whole buffer; after it all evicted lines are back in the caches. */
#define STEPS_PASS 16
#define STEPS_SPAN (STEPS_PASS + 1)
/* Pages that are released and faulted in again, so that a part of the time is in the kernel. */
#define PAGES 256
#define PAGE_BYTES 4096

struct sample_cost_line {
	uint32_t next;
	uint32_t room[15];
};

struct spans {
	uint64_t ns[SPANS_MAX];
	uint32_t count;
};

struct sample_cost {
	int fd;
	uint32_t at, page;
	struct sample_cost_line *lines;
	uint32_t line_count;
	char *pages;
	struct perf_ring ring;
	struct spans sampled, quiet;
};

static struct perf_event_attr probe_attr(const struct perf_event_attr *planned, uint64_t period_ns)
{
	struct perf_event_attr attr = *planned;

	if (!attr_is_clock(&attr)) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.config1 = attr.config2 = 0;
	}
	attr.freq = attr.inherit = attr.enable_on_exec = attr.context_switch = 0;
	attr.mmap = attr.mmap2 = attr.comm = attr.task = 0;
	attr.read_format = 0;
	attr.disabled = 1;
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
	return (uint32_t)((size_t)bytes / sizeof(struct sample_cost_line));
}

/* A cycle through all lines, in a random but reproducible order. */
static struct sample_cost_line *new_lines(uint32_t count)
{
	struct sample_cost_line *lines = xcalloc(count, sizeof(*lines));
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
	return lines;
}

/* Causes a page fault, since samples in the kernel cost more than others. */
static void fault(struct sample_cost *c)
{
	if (!c->pages)
		return;
	c->pages[(size_t)c->page * PAGE_BYTES] = 1;
	c->page = (c->page + 1) % PAGES;
	if (!c->page)
		madvise(c->pages, PAGES * PAGE_BYTES, MADV_DONTNEED);
}

static uint64_t step(struct sample_cost *c)
{
	for (uint32_t i = 0; i < c->line_count / STEPS_PASS; i++)
		c->at = c->lines[c->at].next;
	fault(c);
	return clock_ns(CLOCK_MONOTONIC);
}

/* The period of probe samples, from the duration of a pass: the minimum of a few passes. */
static uint64_t probe_period_ns(struct sample_cost *c)
{
	uint64_t least = PERIOD_MAX_NS, before = step(c);

	for (int pass = 0; pass < 4; pass++) {
		uint64_t now = before;

		for (int i = 0; i < STEPS_PASS; i++)
			now = step(c);
		if (now - before < least)
			least = now - before;
		before = now;
	}
	least *= PASSES_BETWEEN;
	return least < PERIOD_MIN_NS   ? PERIOD_MIN_NS
	       : least > PERIOD_MAX_NS ? PERIOD_MAX_NS
	                               : least;
}

int sample_cost_open(struct sample_cost **out, const struct perf_event_attr *planned,
                     struct error *err)
{
	struct sample_cost *c = xcalloc(1, sizeof(*c));
	struct perf_event_attr attr;
	int status = 0;

	*out = NULL;
	c->line_count = lines_of_cache();
	c->lines = new_lines(c->line_count);
	c->pages = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->pages == MAP_FAILED)
		c->pages = NULL;
	attr = probe_attr(planned, probe_period_ns(c));
	c->fd = perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		status = error_set(err, errno,
		                   "the kernel does not allow assay to sample itself: %s",
		                   strerror(errno));
	if (!status)
		status = perf_ring_map(&c->ring, c->fd, RING_BYTES, err);
	if (status) {
		sample_cost_close(c);
		return status;
	}
	*out = c;
	return 0;
}

void sample_cost_close(struct sample_cost *c)
{
	if (!c)
		return;
	perf_ring_unmap(&c->ring);
	if (c->fd >= 0)
		close(c->fd);
	if (c->pages)
		munmap(c->pages, PAGES * PAGE_BYTES);
	free(c->lines);
	free(c);
}

/* The number of samples between two heads of the ring. Invalid records count as none. */
static uint32_t samples_between(const struct sample_cost *c, uint64_t from, uint64_t to)
{
	uint32_t count = 0;

	while (to - from >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		/*
		 * Records are aligned to the 8 bytes of a header, so a header never wraps around
		 * the end.
		 */
		memcpy(&h, c->ring.data + (from & (c->ring.size - 1)), sizeof(h));
		if (h.size < sizeof(h) || h.size > to - from)
			break;
		count += h.type == PERF_RECORD_SAMPLE;
		from += h.size;
	}
	return count;
}

static void keep(struct spans *s, uint64_t ns)
{
	if (s->count < SPANS_MAX)
		s->ns[s->count++] = ns;
}

/*
 * All spans have the same number of steps. A span with a sample begins with the step in which the
 * sample came; other spans, without a sample, are for comparison. A span with a second sample is
 * discarded.
 */
static void watch(struct sample_cost *c, uint64_t for_ns)
{
	uint64_t begin = step(c), before = begin, span_ns = 0, now, head, next;
	uint64_t own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint32_t left = STEPS_SPAN;
	bool sampled = false;

	head = perf_ring_head(&c->ring);
	perf_ring_release_to(&c->ring, head);
	for (; clock_ns(CLOCK_THREAD_CPUTIME_ID) - own < for_ns && before - begin < BUSY * for_ns;
	     before = now) {
		now = step(c);
		next = perf_ring_head(&c->ring);
		if (next != head) {
			sampled = samples_between(c, head, next) == 1;
			left = STEPS_SPAN;
			span_ns = 0;
			head = next;
			perf_ring_release_to(&c->ring, head);
		}
		span_ns += now - before;
		if (--left)
			continue;
		keep(sampled ? &c->sampled : &c->quiet, span_ns);
		sampled = false;
		left = STEPS_SPAN;
		span_ns = 0;
	}
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 1;
}

void sample_cost_of_gaps(uint64_t *gaps, uint32_t count, uint64_t loop_ns,
                         struct sample_cost_figure *figure)
{
	if (!count)
		return;
	sorted_u64(gaps, count);
	figure->ns = less(gaps[count / 2], loop_ns);
	figure->low_ns = less(gaps[count / 4], loop_ns);
	figure->high_ns = less(gaps[count - 1 - count / 4], loop_ns);
	figure->samples = count;
}

bool sample_cost_measure(struct sample_cost *c, uint64_t for_ns, struct sample_cost_figure *figure)
{
	c->sampled.count = c->quiet.count = 0;
	if (ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0))
		return false;
	watch(c, for_ns);
	ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
	if (c->sampled.count < ENOUGH || c->quiet.count < ENOUGH)
		return false;
	sorted_u64(c->quiet.ns, c->quiet.count);
	sample_cost_of_gaps(c->sampled.ns, c->sampled.count, c->quiet.ns[c->quiet.count / 2],
	                    figure);
	return true;
}
