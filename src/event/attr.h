/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attr: converts a perf_event_attr to the fields of a recording. Uses: base. */
#ifndef ASSAY_EVENT_ATTR_H
#define ASSAY_EVENT_ATTR_H

#include "event/recording.h"

#include <linux/perf_event.h>

/* True for a software clock: its samples count time, and come at the ticks of a timer. */
bool attr_is_software_clock(const struct perf_event_attr *attr);

/* True for an event whose samples count time or cycles. */
bool attr_is_clock(const struct perf_event_attr *attr);

/* The period of its timer in ns; 0: it has none. */
uint64_t attr_timer_period_ns(const struct perf_event_attr *attr);

/* Fills all fields of `a` except the name. The caller passes the role. */
void attr_describe(struct recording_attr *a, const struct perf_event_attr *attr,
                   enum attr_role role);

#endif
