/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline: the CPU use of the largest processes in windows of equal length over the time of a
 * recording.
 *
 * Windows begin at multiples of the step of the time axis, so that their sums are exact. Several
 * recordings are placed by their wall clocks. Idle time and interrupts belong to no process.
 * timeline_new() / timeline_free(); nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_TIMELINE_H
#define ASSAY_VIEW_SAMPLES_TIMELINE_H

#include "view/filter.h"
#include "view/samples/processes.h"

#define TIMELINE_WINDOWS 48
#define TIMELINE_LINES 8
#define TIMELINE_TICKS 10 /* minimum number of a clock's ticks in a window, for each CPU */

struct timeline_line {
	const struct process_line *process;
	double use[TIMELINE_WINDOWS]; /* weight per ns: for a clock, the CPUs in use */
	double most;
};

struct timeline {
	uint64_t start_ns; /* recording's clock, wall clock if there are several recordings */
	uint64_t window_ns, step_ns;
	size_t windows, count;
	struct timeline_line lines[TIMELINE_LINES];
};

/*
 * The processes with at least `limit` of the time, largest first. NULL: there is no process, or no
 * time for two windows.
 */
struct timeline *timeline_new(struct view *v, const struct selection *s, const struct processes *p,
                              double limit);
void timeline_free(struct timeline *t);

#endif
