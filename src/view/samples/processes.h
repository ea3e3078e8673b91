/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes: the use of the CPUs per process, by name and by instance.
 *
 * Interrupts are not counted for a process: they have a line of their own, and each process has the
 * number of interrupts that occurred while it ran. Idle time belongs to the idle process.
 * processes_new() / processes_free(); nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_PROCESSES_H
#define ASSAY_VIEW_SAMPLES_PROCESSES_H

#include "view/filter.h"

struct process_line {
	uint32_t process;   /* id of the first instance; ID_NONE: the interrupts */
	uint32_t name;      /* intern id, ID_NONE: the interrupts */
	uint32_t instances; /* instances with samples or waits; 1 in the list of instances */
	uint64_t user_samples, kernel_samples, idle_samples; /* kernel: without interrupts */
	uint64_t interrupt_samples;                          /* while the process ran; not part of
	                                                      * share */
	uint64_t weight;
	uint64_t runnable_ns, blocked_ns;
	double share, low, high;
};

struct processes {
	struct view *view;
	VEC(struct process_line) names;
	VEC(struct process_line) instances;
	uint64_t samples, weight;
};

struct processes *processes_new(struct view *v, const struct selection *s, bool intervals);
void processes_free(struct processes *p);

/* "cc1", "[interrupts]" */
const char *processes_name(const struct processes *p, const struct process_line *line);

#endif
