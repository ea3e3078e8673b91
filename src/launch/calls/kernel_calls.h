/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_calls: a COMMAND whose calls in the kernel are counted, path by path,
 * and those of all that it starts: by the kernel's function tracer.
 *
 * kernel_calls_run() sets the tracer up, measures what it costs, runs the
 * COMMAND in the foreground and returns when that has ended; by then the tracer
 * is gone and the model is filled, and is the caller's to close. The records are
 * read as they come, and nothing but the sums is kept. Signals are treated as in
 * calls_run.h. If this process is killed, a guard puts the tracer back. One
 * thread. Uses: base, event, image, profile, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_KERNEL_CALLS_H
#define ASSAY_LAUNCH_CALLS_KERNEL_CALLS_H

#include "base/error.h"
#include "profile/calls/call_paths.h"

struct kernel_calls_options {
	const char *const *functions; /* globs: these alone, with all that they call */
	size_t count;                 /* of functions; 0: the whole kernel */
	size_t buffer_bytes;          /* of each CPU; 0: 8 MB, less where memory is short */
};

struct kernel_calls_result {
	int exit_status;     /* in wait(2) form; -1: it goes on */
	int signal;          /* that ended the waiting; 0 */
	bool command_failed; /* the error is that COMMAND could not be run */
	uint64_t events;     /* records read */
	uint64_t lost;       /* records that buffers had no room for */
	bool cost_known;     /* the tracer's cost is taken off */
};

int kernel_calls_run(struct call_paths *into, const struct kernel_calls_options *options,
                     char *const command[], struct kernel_calls_result *result, struct error *err);

#endif
