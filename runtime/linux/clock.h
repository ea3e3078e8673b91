/* SPDX-License-Identifier: MIT */
/*
 * clock: ticks (TSC, cntvct) against CLOCK_MONOTONIC_RAW, calibrated here.
 *
 * clock_begin() once in a process (takes some 150 us); clock_note() now and then,
 * the longer between the better: the rate is taken between the first moment and
 * the latest. A moment is the tightest of several readings (ticks, ns, ticks). A
 * fork's child goes on with its parent's. Signal safe; several threads may note
 * and convert at once, but `latest` as a whole is read with clock_latest().
 * Uses: include/assay, assay_port.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_CLOCK_H
#define ASSAY_RUNTIME_LINUX_CLOCK_H

#include "assay/wire.h"

struct clock_rate {
	struct assay_calls_moment first, latest;
	uint64_t ticks_per_ns; /* times 2^40: one word, so that none is seen half written */
	uint32_t sequence;     /* odd: `latest` is being written */
};

void clock_begin(struct clock_rate *c);
/* In a fork's child: who was noting in its parent is not here. */
void clock_again(struct clock_rate *c);
/* Nothing within 100 ms of the latest; within less as long as the rate is younger than that. */
void clock_note(struct clock_rate *c);

/* The moment that is now, the tightest of so many readings. */
struct assay_calls_moment clock_now(unsigned readings);
/* `latest` whole; `first` where another is just writing it. */
struct assay_calls_moment clock_latest(const struct clock_rate *c);

uint64_t clock_ticks_of(const struct clock_rate *c, uint64_t ns);   /* the moment `ns`, raw clock */
uint64_t clock_span_ticks(const struct clock_rate *c, uint64_t ns); /* a duration */
uint64_t clock_span_ns(const struct clock_rate *c, uint64_t ticks);

uint64_t clock_thread_cpu_ns(void); /* CLOCK_THREAD_CPUTIME_ID of the calling thread */

#endif
