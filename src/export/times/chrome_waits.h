/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chrome_waits: the waits of a recording as trace events: when each thread was on the CPU, blocked
 * and runnable, and an arrow from each wake-up by a thread to the moment when the woken thread ran.
 *
 * Each thread has a second row, "NAME (waits)", with its number plus CHROME_WAITS_ROW, since slices
 * of samples may overlap with waits. A blocked slice has the kind and the name of the wait as its
 * name and as arguments. An arrow (an event "s" and an event "f" with one id) begins in a slice
 * "wakes NAME" of 1 ns in the row of the waker, and ends in the slice "on CPU" of the woken thread.
 * A thread has no slice before its first wait.
 *
 * The waits are those of t->waits, in the order in which they ended; at most t->limit of them are
 * written, the first. Appends to the spill of the events, which reports failures. One thread. Uses:
 * base, profile, view.
 */
#ifndef ASSAY_EXPORT_TIMES_CHROME_WAITS_H
#define ASSAY_EXPORT_TIMES_CHROME_WAITS_H

#include "export/times/timed_samples.h"
#include "export/times/trace_events.h"

#define CHROME_WAITS_ROW (1 << 30) /* above all numbers of threads */

/* Approximate size in bytes. */
uint64_t chrome_waits_estimate(const struct timed_samples *t);
/* Sets waits_written and waits_total. */
void chrome_waits_write(struct timed_samples *t, struct trace_events *events);

#endif
