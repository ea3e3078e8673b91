/* SPDX-License-Identifier: MIT */
/*
 * clock: converts ticks (TSC, cntvct) to CLOCK_MONOTONIC_RAW and back, calibrated in the process.
 *
 * Call clock_begin() once in a process (it takes about 150 us), and clock_note() now and then. The
 * rate is computed between the first moment and the latest, so it gets better with time. A moment
 * is the reading with the smallest tick difference of several readings (ticks, ns, ticks). A fork's
 * child continues with its parent's clock. Signal safe. Several threads may note and convert at
 * once; clock_latest() reads all of `latest` consistently. Uses: include/assay, assay_port.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_CLOCK_H
#define ASSAY_RUNTIME_LINUX_CLOCK_H

#include "assay/wire.h"

struct clock_rate {
	struct assay_calls_moment first, latest;
	uint64_t ticks_per_ns; /* times 2^40, in one word, so that every load is consistent */
	uint32_t sequence;     /* odd: `latest` is being written */
};

void clock_begin(struct clock_rate *c);
/* In a fork's child: releases `latest` if a parent's thread was writing it at the fork. */
void clock_again(struct clock_rate *c);
/* Stores a new moment, at most every 100 ms, and more often during the first 100 ms. */
void clock_note(struct clock_rate *c);

/* The present moment: the best of `readings` readings. */
struct assay_calls_moment clock_now(unsigned readings);
/* A consistent copy of `latest`, or `first` while another thread writes `latest`. */
struct assay_calls_moment clock_latest(const struct clock_rate *c);

uint64_t clock_ticks_of(const struct clock_rate *c, uint64_t ns);   /* the moment `ns`, raw clock */
uint64_t clock_span_ticks(const struct clock_rate *c, uint64_t ns); /* a duration */
uint64_t clock_span_ns(const struct clock_rate *c, uint64_t ticks);

uint64_t clock_thread_cpu_ns(void); /* CLOCK_THREAD_CPUTIME_ID of the calling thread */

#endif
