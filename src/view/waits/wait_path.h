/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_path: the path that decided the elapsed time of a process or thread, summed up for a report.
 *
 * The path ends in the thread that ran last of the process that was asked for, or that the filters
 * select; a report on several of them has no path. wait_path_init() / wait_path_done(); the report
 * must outlive it. Nothing fails. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_PATH_H
#define ASSAY_VIEW_WAITS_WAIT_PATH_H

#include "profile/waits/critical_path.h"
#include "view/waits/wait_report.h"

/* Time on the path. Texts are those of the report; 0: none. */
struct wait_path_row {
	const char *kind;   /* of a wait: its cause; else "on_cpu", "runnable", "unknown" */
	uint32_t thread;    /* text */
	uint32_t name;      /* text: the object of the wait */
	uint32_t function;  /* text: on CPU: the function that ran; else that waited */
	uint64_t ns, count; /* count: samples if on CPU, else waits */
	bool can_shorten;   /* it is work or a wait; a smaller one shortens the path */
};

struct wait_path {
	struct wait_report *report;
	bool present;
	struct critical_path path;
	VEC(struct wait_path_row) rows;
	struct id_table index;
};

void wait_path_init(struct wait_path *p, struct wait_report *r);
/* Whether a path goes on in the waker of these waits, unless that is a thread of the kernel. */
bool wait_path_follows(struct wait_report *r, const struct wait_key *key);
void wait_path_done(struct wait_path *p);

#endif
