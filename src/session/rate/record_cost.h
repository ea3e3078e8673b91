/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_cost: measures the kernel's cost of a record that is not a sample.
 *
 * A mapping: a page of this program becomes executable, repeatedly. It is the most expensive of the
 * frequent records, since its build-id is looked up. A switch: two threads on one CPU pass a byte
 * to and fro. On a busy machine most records are of switches.
 *
 * The work is done in turn without and with the planned event, by the CPU time of the threads
 * (on_off.h): the kernel charges the two records of a switch to the thread that it switches to. The
 * event follows the CPU in a recording of the whole machine; else one of the two threads, and the
 * cost includes that the kernel stops and starts the plan's clocks at each switch; or both, and the
 * kernel hands the clocks over from one to the other, which costs about half.
 *
 * Keeps this thread busy for 1 to 6 ms, on a busy machine for up to 200 ms of elapsed time. 0 or
 * -errno; -EBUSY: the figure is not precise enough. One thread. Uses: base, source, session/plan.h.
 */
#ifndef ASSAY_SESSION_RATE_RECORD_COST_H
#define ASSAY_SESSION_RATE_RECORD_COST_H

#include "base/error.h"
#include "base/statistics/on_off.h"
#include "session/plan.h"
#include "session/rate/own_events.h"

/* ns of a record. On an error *figure is unchanged. */
int record_cost_mapping(const struct perf_source_event *event, struct on_off_figure *figure,
                        struct error *err);

/* ns of one of the two records of a switch, or of the sample of a tracepoint. */
int record_cost_switch(const struct plan *plan, const struct perf_source_event *event,
                       enum own_events_scope scope, struct on_off_figure *figure,
                       struct error *err);

#endif
