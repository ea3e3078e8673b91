/* SPDX-License-Identifier: MIT */
/*
 * switches: reads when a thread was switched out and in, from its own perf_event ring
 * (PERF_COUNT_SW_DUMMY, context_switch, exclude_kernel, CLOCK_MONOTONIC_RAW; one page of records).
 *
 * The thread itself calls switches_open(), switches_settle() and switches_close();
 * switches_settle() is not reentrant. *head changes whenever the kernel adds a record, so one load
 * shows that nothing happened. The caller loads *head before it reads the clock for `to`; a record
 * that is added between the two loads changes *head again, and the next call reads it. If the ring
 * was full, the waiting time is computed from the thread's CPU clock. No descriptor stays open: the
 * mapping keeps the event. In a fork's child, call switches_forget() and then switches_open(): the
 * ring is the parent's and is not mapped. A vfork's child may settle its parent's ring: all time
 * since the parent was switched out is the parent's waiting, and w->is_out is set. The parent
 * counts the wait when it has ended. Errors are -errno; errno is preserved. Signal safe; no malloc,
 * no stdio. Uses: linux/clock.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_SWITCHES_H
#define ASSAY_RUNTIME_LINUX_SWITCHES_H

#include "calls/port.h"
#include "linux/clock.h"

#include <stddef.h>

struct switches {
	void *ring; /* NULL: not open */
	size_t bytes;
	volatile uint64_t *
	        head; /* in `ring`; the address of a constant word if no ring is open, never NULL */
	uint64_t tail;                   /* records before this position are counted */
	uint64_t sync, sync_cpu_ns;      /* ticks, CPU clock: at the end of the latest settling */
	uint64_t voluntary, involuntary; /* switches up to `tail`, as getrusage() counts them */
	int tid;
	bool lost_is_known; /* the next LOST record reports losses that are already counted */
	bool was_full;      /* records were lost after the last settled record */
};

int switches_open(struct switches *s, const struct clock_rate *clock);
void switches_close(struct switches *s);
void switches_forget(struct switches *s);

/* Same arguments as port_thread_waits(). *w is filled in. */
void switches_settle(struct switches *s, const struct clock_rate *clock, uint64_t from, uint64_t to,
                     struct port_waits *w);

#endif
