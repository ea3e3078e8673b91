/* SPDX-License-Identifier: MIT */
/*
 * switches: when a thread was switched out and in, from a perf_event ring of
 * its own (PERF_COUNT_SW_DUMMY, context_switch, exclude_kernel,
 * CLOCK_MONOTONIC_RAW; one page of records).
 *
 * switches_open() in the thread that it is for, switches_settle() by that
 * thread alone and not within itself, switches_close(). *head changes whenever
 * the kernel added a record: one load tells that nothing happened. Read it
 * before the clock that gives `to`: what comes between is then looked at again.
 * Where the ring ran full, the thread's CPU clock tells how long it waited. No
 * descriptor stays open: the mapping keeps the event. In a fork's child
 * switches_forget(), then open anew: the ring is the parent's and not mapped.
 * A vfork's child may settle its parent's: all time since the parent was switched
 * out is the parent's waiting, and w->is_out is set. The parent counts the wait
 * when it has ended. Errors are -errno; errno is kept. Signal safe; no malloc, no
 * stdio. Uses: linux/clock.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_SWITCHES_H
#define ASSAY_RUNTIME_LINUX_SWITCHES_H

#include "calls/port.h"
#include "linux/clock.h"

#include <stddef.h>

struct switches {
	void *ring; /* NULL: not open */
	size_t bytes;
	volatile uint64_t *head;    /* of ring; never NULL: a constant word where none is open */
	uint64_t tail;              /* records up to here are accounted for */
	uint64_t sync, sync_cpu_ns; /* ticks, CPU clock: at the end of the latest settling */
	uint64_t voluntary, involuntary; /* switches up to `tail`, as getrusage() counts them */
	int tid;
	bool lost_is_known; /* the next record of losses tells of what is settled already */
	bool was_full;      /* what was lost came after what has been settled */
};

int switches_open(struct switches *s, const struct clock_rate *clock);
void switches_close(struct switches *s);
void switches_forget(struct switches *s);

/* As port_thread_waits(); *w is set. */
void switches_settle(struct switches *s, const struct clock_rate *clock, uint64_t from, uint64_t to,
                     struct port_waits *w);

#endif
