/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/sample_cost.h"

#include "base/memory/xalloc.h"
#include "session/rate/sample_probe.h"

#include <stdlib.h>
#include <sys/resource.h>

#define PAIRS_MAX 512
/*
 * On a busy machine this thread gets only part of the time: the elapsed time may be this many times
 * longer.
 */
#define BUSY 20
#define STEPS (SAMPLE_PROBE_PASS + 1) /* of a piece */
/* A sample that does not come within so many steps has been lost. */
#define WAIT_STEPS (16 * SAMPLE_PROBE_PASS)

struct sample_cost {
	struct sample_probe *probe;
	struct on_off pairs;
	double differences[PAIRS_MAX];
};

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static double disturbed(struct sample_probe *probe)
{
	sample_probe_warm(probe);
	sample_probe_count(probe);
	return ON_OFF_DISTURBED;
}

/*
 * All pieces have the same number of steps, and one reading of the number of switches. A piece with
 * a sample begins with the step in which the sample came.
 */
static double piece(void *ctx, bool on, uint32_t *events)
{
	struct sample_cost *c = ctx;
	uint64_t begin = sample_probe_step(c->probe), now = begin;
	long before = switches();
	uint32_t samples = 0;

	sample_probe_count(c->probe);
	for (int waited = 0; on && !samples; waited++) {
		if (waited == WAIT_STEPS)
			return disturbed(c->probe);
		begin = now;
		before = switches();
		now = sample_probe_step(c->probe);
		samples = sample_probe_count(c->probe);
	}
	for (int i = on; i < STEPS; i++) {
		now = sample_probe_step(c->probe);
		samples += sample_probe_count(c->probe);
	}
	if (switches() != before)
		return disturbed(c->probe);
	return samples == on ? (double)(now - begin) : ON_OFF_DISTURBED;
}

int sample_cost_open(struct sample_cost **out, const struct perf_event_attr *planned,
                     struct error *err)
{
	struct sample_cost *c = xcalloc(1, sizeof(*c));
	int status = sample_probe_open(&c->probe, planned, 0, err);

	c->pairs = (struct on_off){.piece = piece,
	                           .ctx = c,
	                           .differences = c->differences,
	                           .room = PAIRS_MAX,
	                           .on_first = true,
	                           .pairs_least = PAIRS_MAX};
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

bool sample_cost_measure(struct sample_cost *c, uint64_t for_ns, struct on_off_figure *figure)
{
	struct on_off *m = &c->pairs;

	if (!sample_probe_enable(c->probe, true))
		return false;
	m->cpu_ns = for_ns;
	m->elapsed_ns = BUSY * for_ns;
	on_off_run(m);
	sample_probe_enable(c->probe, false);
	sample_probe_rest(c->probe);
	if (!on_off_result(m, figure) && m->count < PAIRS_MAX)
		return false;
	m->count = 0;
	return on_off_precise(figure);
}
