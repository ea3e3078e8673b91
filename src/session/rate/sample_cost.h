/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_cost: what one sample takes from the CPU that it interrupts.
 *
 * The event as it was planned, call chains and stack copies included, samples this thread alone,
 * some thousand times a second, while a loop reads as much memory as the second-level cache holds,
 * takes page faults and reads the clock: it is slower where there is more in the ring behind it,
 * and for a while after that, until what the sample pushed out of the caches is back. The median
 * of that, less what the loop takes without, is the cost; time that others took of this thread or
 * of the machine falls between samples, but for a little, which a median does not see.
 *
 *	sample_cost_open()	-errno: the kernel denies it
 *	sample_cost_measure()	keeps this thread busy for that time; as often as wanted
 *	sample_cost_close()	NULL-safe
 *
 * That is what a large program pays; one that leaves the caches half empty, or needs far more
 * than they hold, pays less: bench/budget has figures. Times in ns; to be used by the thread that
 * opened it. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_RATE_SAMPLE_COST_H
#define ASSAY_SESSION_RATE_SAMPLE_COST_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct sample_cost_figure {
	uint64_t ns, low_ns, high_ns; /* median, quartiles */
	uint32_t samples;             /* that it is the median of; 0: not measured */
};

struct sample_cost;

int sample_cost_open(struct sample_cost **c, const struct perf_event_attr *planned,
                     struct error *err);
void sample_cost_close(struct sample_cost *c);

/*
 * Takes so much CPU time, and at most twenty times as long. False: too few samples came, and the
 * figure is left as it was.
 */
bool sample_cost_measure(struct sample_cost *c, uint64_t for_ns, struct sample_cost_figure *figure);

/* For tests: the middle and the quartiles of spans, each less `loop_ns`, but never nothing. */
void sample_cost_of_gaps(uint64_t *gaps, uint32_t count, uint64_t loop_ns,
                         struct sample_cost_figure *figure);

#endif
