/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch_lanes: makes the lanes of a page (output/html/page_lanes.h) from the switch records of a
 * recording: when each thread was on a CPU, blocked or preempted.
 *
 * The state of a thread before its first switch out is not known: a new thread waits for a CPU
 * first. Threads without switches and idle threads have no lane. Nothing fails. One thread.
 * Uses: output, profile.
 */
#ifndef ASSAY_CMD_REPORT_SWITCH_LANES_H
#define ASSAY_CMD_REPORT_SWITCH_LANES_H

#include "output/html/page_lanes.h"
#include "profile/profile.h"
#include "view/filter.h"

/* Adds the threads of the profile's switches; `selected`: those with selected samples or waits
 * alone, NULL: all. Times are ns since the begin of the time axis. */
void switch_lanes_fill(struct page_lanes *lanes, const struct profile *p,
                       const struct selection *selected);

#endif
