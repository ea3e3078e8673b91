/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_probe: an event that samples only this thread, and the work that it interrupts.
 *
 * The event is a planned one, with its call chains and stack copies, at another period. The work
 * reads a buffer as large as the second-level cache, takes page faults and reads the clock: a large
 * program. sample_cost and calibration measure with it.
 *
 *	sample_probe_open()	the event is disabled; -errno: the kernel refuses it
 *	sample_probe_step()	one step of work
 *	sample_probe_warm()	after other threads used the caches
 *	sample_probe_rest()	the memory is needed again later
 *	sample_probe_close()	NULL-safe
 *
 * All calls must come from the thread that opened it. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_RATE_SAMPLE_PROBE_H
#define ASSAY_SESSION_RATE_SAMPLE_PROBE_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Number of steps that read the whole buffer; after it all evicted lines are back in the caches. */
#define SAMPLE_PROBE_PASS 16

struct sample_probe;

/*
 * The period is that of some passes of the work, 0.2 to 1 ms, but at most `most_ns` (0: no limit).
 * Periods of cycles are approximate.
 */
int sample_probe_open(struct sample_probe **c, const struct perf_event_attr *planned,
                      uint64_t most_ns, struct error *err);
void sample_probe_close(struct sample_probe *c);
uint64_t sample_probe_period_ns(const struct sample_probe *c);
bool sample_probe_enable(struct sample_probe *c, bool on);
/* Releases the memory of the work, 2 to 3 MB, until the event is enabled again: no step before. */
void sample_probe_rest(struct sample_probe *c);

/* Reads the whole buffer in its order, which is much faster than its steps if it is in no cache. */
void sample_probe_warm(const struct sample_probe *c);
/* Returns the time after it, ns of CLOCK_MONOTONIC. */
uint64_t sample_probe_step(struct sample_probe *c);
/* The number of samples since the last call; their records are released. */
uint32_t sample_probe_count(struct sample_probe *c);

#endif
