/* SPDX-License-Identifier: MIT */
/*
 * clock: ticks (TSC, cntvct) against CLOCK_MONOTONIC_RAW, calibrated here.
 *
 * clock_begin() once in a process; clock_note() now and then, the longer
 * between the better: the rate is taken between the first moment and the
 * latest. A moment is the tightest of several readings (ticks, ns, ticks). A
 * fork's child goes on with its parent's. Signal safe. Uses: include/assay.
 */
#ifndef ASSAY_RUNTIME_LINUX_CLOCK_H
#define ASSAY_RUNTIME_LINUX_CLOCK_H

#include "assay/wire.h"

struct clock_rate {
	struct assay_calls_moment first, latest;
};

void clock_begin(struct clock_rate *c);
void clock_note(struct clock_rate *c); /* nothing within 100 ms of the latest */

uint64_t clock_ticks_of(const struct clock_rate *c, uint64_t ns);   /* the moment `ns`, raw clock */
uint64_t clock_span_ticks(const struct clock_rate *c, uint64_t ns); /* a duration */
uint64_t clock_span_ns(const struct clock_rate *c, uint64_t ticks);

uint64_t clock_thread_cpu_ns(void); /* CLOCK_THREAD_CPUTIME_ID of the calling thread */

#endif
