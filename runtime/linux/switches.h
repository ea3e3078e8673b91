/* SPDX-License-Identifier: MIT */
/*
 * switches: when a thread was switched out and in, from a perf_event ring of
 * its own (PERF_COUNT_SW_DUMMY, context_switch, exclude_kernel,
 * CLOCK_MONOTONIC_RAW; one page of records).
 *
 * switches_open() in the thread that it is for, switches_settle() by that
 * thread alone, switches_close(). *head changes whenever the kernel added a
 * record: one load tells that nothing happened. Where the ring ran full, the
 * thread's CPU clock tells how long it waited. In a fork's child
 * switches_forget(), then open anew: the ring is the parent's. Errors are
 * -errno. Signal safe; no malloc, no stdio. Uses: linux/clock.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_SWITCHES_H
#define ASSAY_RUNTIME_LINUX_SWITCHES_H

#include "calls/port.h"
#include "linux/clock.h"

#include <stddef.h>

struct switches {
	int fd; /* 0: not open */
	void *ring;
	size_t bytes;
	volatile uint64_t *head; /* of ring; never NULL: a constant word where none is open */
	uint64_t tail;
	uint64_t out; /* ns when it was switched out, and is not in yet; 0: it is in */
	bool out_preempted;
	uint64_t sync, sync_cpu_ns; /* ticks, CPU clock: read together at the latest settling */
};

int switches_open(struct switches *s, const struct clock_rate *clock);
void switches_close(struct switches *s);
void switches_forget(struct switches *s);

/* As port_thread_waits(). */
void switches_settle(struct switches *s, const struct clock_rate *clock, uint64_t from, uint64_t to,
                     struct port_waits *w);

#endif
