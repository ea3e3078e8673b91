/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/sample_cost.h"

#include "base/clock.h"
#include "base/xalloc.h"
#include "event/attr.h"
#include "source/perf_events.h"
#include "source/perf_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PERIOD_NS 200000
#define PERIOD_CYCLES 600000 /* about as long */
/* A record with a stack copy has at most 64 KB. */
#define RING_BYTES (128u << 10)
#define GAPS_MAX 512
#define STEPS_MAX 512
#define ENOUGH 8
/* What a program of middling size has at hand: read over and over, in an order without order. */
#define LINES 4096
#define LINES_STEP 64
/* So many steps read all of it: then whatever a sample pushed out of the caches is back. */
#define STEPS_PASS (LINES / LINES_STEP)

struct line {
	uint32_t next;
	uint32_t room[15];
};

struct sample_cost {
	int fd;
	uint32_t at;
	struct line *lines;
	struct perf_ring ring;
	uint64_t gaps[GAPS_MAX], steps[STEPS_MAX];
	uint32_t gap_count, step_count;
};

static struct perf_event_attr probe_attr(const struct perf_event_attr *planned)
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
	attr.sample_period = attr_is_software_clock(&attr) ? PERIOD_NS : PERIOD_CYCLES;
	return attr;
}

/* One round through all lines, by a generator that is the same each time. */
static struct line *new_lines(void)
{
	struct line *lines = xcalloc(LINES, sizeof(*lines));
	uint64_t state = 88172645463325252;

	for (uint32_t i = 0; i < LINES; i++)
		lines[i].next = i;
	for (uint32_t i = LINES - 1; i; i--) {
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

int sample_cost_open(struct sample_cost **out, const struct perf_event_attr *planned,
                     struct error *err)
{
	struct perf_event_attr attr = probe_attr(planned);
	struct sample_cost *c = xcalloc(1, sizeof(*c));
	int status = 0;

	*out = NULL;
	c->fd = perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		status = error_set(err, errno, "the kernel does not let us sample ourselves: %s",
		                   strerror(errno));
	if (!status)
		status = perf_ring_map(&c->ring, c->fd, RING_BYTES, err);
	if (status) {
		sample_cost_close(c);
		return status;
	}
	c->lines = new_lines();
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
	free(c->lines);
	free(c);
}

/* How many samples came between two heads of the ring; what no kernel writes counts for none. */
static uint32_t samples_between(const struct sample_cost *c, uint64_t from, uint64_t to)
{
	uint32_t count = 0;

	while (to - from >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		/* Records are aligned to 8 bytes, as headers are large: none goes round the end. */
		memcpy(&h, c->ring.data + (from & (c->ring.size - 1)), sizeof(h));
		if (h.size < sizeof(h) || h.size > to - from)
			break;
		count += h.type == PERF_RECORD_SAMPLE;
		from += h.size;
	}
	return count;
}

static void keep(uint64_t *values, uint32_t *count, uint32_t most, uint64_t value)
{
	if (*count < most)
		values[(*count)++] = value;
}

/* Its time is the caches' and the clock's. */
static uint64_t step(struct sample_cost *c)
{
	for (unsigned i = 0; i < LINES_STEP; i++)
		c->at = c->lines[c->at].next;
	return clock_ns(CLOCK_MONOTONIC);
}

/*
 * A span is the step that a sample came in, and those of one pass behind it. Where another
 * sample comes meanwhile there is none.
 */
static void watch(struct sample_cost *c, uint64_t for_ns)
{
	uint64_t begin = step(c), before = begin, span_ns = 0, now, head, next;
	uint32_t left = 0;

	head = perf_ring_head(&c->ring);
	perf_ring_release_to(&c->ring, head);
	for (; before - begin < for_ns; before = now) {
		now = step(c);
		next = perf_ring_head(&c->ring);
		if (next != head) {
			left = samples_between(c, head, next) == 1 ? STEPS_PASS + 1 : 0;
			span_ns = 0;
			head = next;
			perf_ring_release_to(&c->ring, head);
		} else if (!left) {
			keep(c->steps, &c->step_count, STEPS_MAX, now - before);
		}
		span_ns += now - before;
		if (left && !--left)
			keep(c->gaps, &c->gap_count, GAPS_MAX, span_ns);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
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
	qsort(gaps, count, sizeof(*gaps), compare);
	figure->ns = less(gaps[count / 2], loop_ns);
	figure->low_ns = less(gaps[count / 4], loop_ns);
	figure->high_ns = less(gaps[count - 1 - count / 4], loop_ns);
	figure->samples = count;
}

bool sample_cost_measure(struct sample_cost *c, uint64_t for_ns, struct sample_cost_figure *figure)
{
	c->gap_count = c->step_count = 0;
	if (ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0))
		return false;
	watch(c, for_ns);
	ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
	if (c->gap_count < ENOUGH || c->step_count < ENOUGH)
		return false;
	qsort(c->steps, c->step_count, sizeof(*c->steps), compare);
	sample_cost_of_gaps(c->gaps, c->gap_count, (STEPS_PASS + 1) * c->steps[c->step_count / 2],
	                    figure);
	return true;
}
