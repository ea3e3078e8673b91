/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_cost: measures the time that one sample takes from the CPU that it interrupts.
 *
 * The planned event, with call chains and stack copies, samples this thread alone, about a thousand
 * times per second. At the same time a loop reads a buffer as large as the second-level cache,
 * takes page faults and reads the clock. The loop is slower after a sample, until the evicted cache
 * lines are back. The cost is the median of this time, minus the time of the loop without a sample
 * shortly before or after (on_off.h). Pieces in which the thread lost its CPU are discarded, and so
 * is the time until the caches are warm again.
 *
 *	sample_cost_open()	-errno: the kernel refuses it
 *	sample_cost_measure()	keeps this thread busy for the given time; any number of calls
 *	sample_cost_close()	NULL-safe
 *
 * The result is the cost for a large program. A program that uses much less or much more memory
 * than the caches have pays less: bench/budget has figures. Times in ns. All calls must come from
 * the thread that opened it. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_RATE_SAMPLE_COST_H
#define ASSAY_SESSION_RATE_SAMPLE_COST_H

#include "base/error.h"
#include "base/statistics/on_off.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct sample_cost;

int sample_cost_open(struct sample_cost **c, const struct perf_event_attr *planned,
                     struct error *err);
void sample_cost_close(struct sample_cost *c);

/*
 * Uses `for_ns` of CPU time, and at most twenty times as much elapsed time. False: there were too
 * few samples for a figure; the next call adds to them.
 */
bool sample_cost_measure(struct sample_cost *c, uint64_t for_ns, struct on_off_figure *figure);

#endif
