/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_events: perf's names for events, and the perf_event_attr for each.
 *
 * Supported are the generic hardware and software events by the names that `perf list` prints,
 * hardware cache events ("L1-dcache-load-misses"), raw events ("r01c2"), and tracepoints
 * ("sched:sched_switch", if tracefs is readable), each with perf's modifiers (":u", ":k", ":p" to
 * ":ppp"). Uses: base.
 */
#ifndef ASSAY_SOURCE_PERF_PERF_EVENTS_H
#define ASSAY_SOURCE_PERF_PERF_EVENTS_H

#include "base/error.h"

#include <linux/perf_event.h>

/* Sets type, config and exclude_* of a zeroed attr. */
int perf_event_parse(const char *name, struct perf_event_attr *attr, struct error *err);

/* The default event of `record`: "cycles" or "cpu-clock". */
const char *perf_event_default(void);

/* perf_event_open(2). */
int perf_event_open_fd(struct perf_event_attr *attr, int pid, int cpu, int group_fd,
                       unsigned long flags);

#endif
