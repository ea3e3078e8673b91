/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakeup_schedule: how long the recorder may sleep, and when it flushes the file.
 *
 * A new struct is all zeros: the first flush is due at once. Times are ns of
 * CLOCK_MONOTONIC, sleeps ms. One thread. Uses: base.
 */
#ifndef ASSAY_SESSION_WAKEUP_SCHEDULE_H
#define ASSAY_SESSION_WAKEUP_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct wakeup_schedule {
	uint64_t flush_due_ns, drained_ns;
	uint64_t gap_max_ns; /* longest time from one wakeup_schedule_drained() to the next */
	uint64_t every_ns;   /* flushes are due at its multiples on the wall's clock; 0: by age */
	uint64_t flush_ns;   /* flushes are due at this interval, if it is not 0 */
	int soon_ms;         /* limit of the next sleep; 0: only `patience_ms` limits it */
};

/*
 * The longest time without a read of rings that wake the recorder when they fill. `walks`: stacks
 * are walked. The first gap begins at `start_ns`.
 */
int wakeup_schedule_begin(struct wakeup_schedule *p, bool walks, uint64_t every_ns,
                          uint64_t start_ns);

/* The rings are about to be read. */
void wakeup_schedule_drained(struct wakeup_schedule *p);
/* Requests an early next read of the rings. */
void wakeup_schedule_soon(struct wakeup_schedule *p);
/*
 * A program started: requests some early reads, the first after a ms, since its descriptors have
 * names only while it runs.
 */
void wakeup_schedule_started(struct wakeup_schedule *p);

/*
 * The time to sleep: until the next flush, or less if a ring does not wake the recorder
 * (`patience_ms`) or if progress is displayed (`looked_on`).
 */
int wakeup_schedule_sleep_ms(const struct wakeup_schedule *p, int patience_ms, bool looked_on);

/* True if a flush is due; then the next one is scheduled. `start_ns`: start of the recording. */
bool wakeup_schedule_flush_due(struct wakeup_schedule *p, uint64_t start_ns);

#endif
