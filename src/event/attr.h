/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attr: what a perf_event_attr says, in the terms of a recording. Uses: base.
 */
#ifndef ASSAY_EVENT_ATTR_H
#define ASSAY_EVENT_ATTR_H

#include "event/recording.h"

#include <linux/perf_event.h>

/* A software clock: its samples stand for time, and fall on a timer's grid. */
bool attr_is_software_clock(const struct perf_event_attr *attr);

/* An event whose samples stand for time or cycles. */
bool attr_is_clock(const struct perf_event_attr *attr);

/* The period of its timer in ns, 0 where it has none. */
uint64_t attr_timer_period_ns(const struct perf_event_attr *attr);

/* Fills all of `a` but its name; the role is the caller's. */
void attr_describe(struct recording_attr *a, const struct perf_event_attr *attr,
                   enum attr_role role);

#endif
