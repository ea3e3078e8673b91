/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_watch: the ends of processes that cannot write it: a signal or the exit_group system call
 * ended them, maybe while they were blocked.
 *
 * calls_watch_look() reads the clocks of the threads of all processes that have a table in a
 * directory, and writes the end into the table of each process that has exited since
 * (call_table_end()). Its time is known to the interval between two calls, and a thread that ran at
 * the last one is assumed to have run since. calls_watch_done() at the end. A table that cannot be
 * written stays without an end. One thread. Uses: base, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_CALLS_WATCH_H
#define ASSAY_LAUNCH_CALLS_CALLS_WATCH_H

#include "source/runtime/call_table.h"

struct calls_watch {
	const char *directory;
	VEC(struct calls_watched {
		char *path;
		call_table_threads threads;
		struct assay_calls_moment seen; /* the time of the clocks */
		bool ended;                     /* its end is written */
	})
	tables;
	int wait_ms; /* until the next look */
};

void calls_watch_look(struct calls_watch *w);
void calls_watch_done(struct calls_watch *w);

#endif
