/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_stored: a report on waits whose rows come from a store: sums of causes, without threads and
 * call paths.
 *
 *	wait_stored_new(&r, options)
 *	wait_stored_add(r, row, times)	any number of times, in the order of their texts
 *	wait_stored_time(r, share)
 *	wait_stored_end(r, start_ns, end_ns, damaged)
 *	wait_report_free(r)
 *
 * Of the filters, names of processes and threads select. The account is closed if all threads of
 * the selected processes are selected. Nothing fails. One thread. Uses: view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_STORED_H
#define ASSAY_VIEW_WAITS_WAIT_STORED_H

#include "view/waits/wait_report.h"

/* A row of a store. Texts: "": none. */
struct wait_stored {
	const char *program, *waiter, *kind, *name, *function, *by, *holder, *evidence, *device;
	bool named;
	/* As in struct wait_row. */
	uint64_t count, blocked_ns, runnable_ns, max_ns;
	uint64_t lost_ns, preempted_ns, other_ns, no_stack_ns, no_waker_ns;
};

struct wait_stored_time {
	const char *program;
	uint64_t threads, wall_ns, oncpu_ns, unseen_ns, before_ns, wakings, beyond, coarse;
};

struct wait_report *wait_stored_new(const struct wait_options *o);
void wait_stored_add(struct wait_report *r, const struct wait_stored *row,
                     const struct call_times *times);
void wait_stored_time(struct wait_report *r, const struct wait_stored_time *time);
/* `damaged`: number of histograms of which a part could not be read. */
void wait_stored_end(struct wait_report *r, uint64_t start_ns, uint64_t end_ns, uint64_t damaged);

#endif
