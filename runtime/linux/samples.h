/* SPDX-License-Identifier: MIT */
/*
 * samples: samples of the running thread's CPU time, from its own perf_event ring
 * (PERF_COUNT_SW_CPU_CLOCK with a period; one page of records).
 *
 * The thread itself calls all functions; samples_take() is not reentrant. *head changes with each
 * sample, and when the thread is switched out or in. If the ring was full, the number of samples is
 * computed from the thread's CPU clock. No descriptor stays open: the mapping keeps the event. In a
 * fork's child, call samples_forget() and then samples_open(). The kernel's code is sampled too;
 * without the permission for that, samples_open() fails. Errors are -errno; errno is preserved.
 * Signal safe; no malloc, no stdio. Uses: linux/clock.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_SAMPLES_H
#define ASSAY_RUNTIME_LINUX_SAMPLES_H

#include "calls/port.h"

#include <stddef.h>

struct samples {
	void *ring; /* NULL: not open */
	size_t bytes;
	volatile uint64_t *head; /* in `ring` */
	uint64_t tail;           /* records before this position are counted */
	uint64_t period_ns;
	uint64_t cpu_ns;    /* CPU clock at the latest samples_take() */
	bool lost_is_known; /* the next LOST record reports samples that are already counted */
};

int samples_open(struct samples *s, uint64_t period_ns);
void samples_close(struct samples *s);
void samples_forget(struct samples *s);

/* Counts the new samples. Samples at addresses in [low, high) were taken in the hooks. */
void samples_take(struct samples *s, uintptr_t low, uintptr_t high, struct port_samples *out);

/* Measures what taking a sample costs, in ticks: the median of some samples; 0: none was taken. */
uint64_t samples_cost(void);

#endif
