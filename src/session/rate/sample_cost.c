/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/sample_cost.h"

#include "base/clock.h"
#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"
#include "session/rate/sample_probe.h"

#include <stdlib.h>

#define SPANS_MAX 512
/*
 * On a busy machine this thread gets only part of the time: the wall time may be this many times
 * longer.
 */
#define BUSY 20
#define ENOUGH 8
#define STEPS_SPAN (SAMPLE_PROBE_PASS + 1)

struct spans {
	uint64_t ns[SPANS_MAX];
	uint32_t count;
};

struct sample_cost {
	struct sample_probe *probe;
	struct spans sampled, quiet;
};

int sample_cost_open(struct sample_cost **out, const struct perf_event_attr *planned,
                     struct error *err)
{
	struct sample_cost *c = xcalloc(1, sizeof(*c));
	int status = sample_probe_open(&c->probe, planned, 0, err);

	if (status)
		free(c);
	*out = status ? NULL : c;
	return status;
}

void sample_cost_close(struct sample_cost *c)
{
	if (!c)
		return;
	sample_probe_close(c->probe);
	free(c);
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
	uint64_t begin = sample_probe_step(c->probe), before = begin, span_ns = 0, now;
	uint64_t own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint32_t left = STEPS_SPAN, samples;
	bool sampled = false;

	sample_probe_count(c->probe);
	for (; clock_ns(CLOCK_THREAD_CPUTIME_ID) - own < for_ns && before - begin < BUSY * for_ns;
	     before = now) {
		now = sample_probe_step(c->probe);
		samples = sample_probe_count(c->probe);
		if (samples) {
			sampled = samples == 1;
			left = STEPS_SPAN;
			span_ns = 0;
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
	if (!sample_probe_enable(c->probe, true))
		return false;
	watch(c, for_ns);
	sample_probe_enable(c->probe, false);
	sample_probe_rest(c->probe);
	if (c->sampled.count < ENOUGH || c->quiet.count < ENOUGH)
		return false;
	sorted_u64(c->quiet.ns, c->quiet.count);
	sample_cost_of_gaps(c->sampled.ns, c->sampled.count, c->quiet.ns[c->quiet.count / 2],
	                    figure);
	c->sampled.count = c->quiet.count = 0;
	return true;
}
