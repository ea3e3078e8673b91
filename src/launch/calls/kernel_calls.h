/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_calls: a COMMAND whose calls in the kernel are counted, path by path,
 * and those of all that it starts: by the kernel's function tracer.
 *
 * kernel_calls_run() sets the tracer up, measures what it costs, runs the COMMAND in the
 * foreground (command_run.h) and returns at its end. The tracer is then removed and the model is
 * filled; the caller closes the model. Records are read as they come, and only the sums are kept.
 * If this process is killed, a guard resets the tracer. One thread. Uses: base, event, image,
 * profile, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_KERNEL_CALLS_H
#define ASSAY_LAUNCH_CALLS_KERNEL_CALLS_H

#include "base/error.h"
#include "launch/command_run.h"
#include "profile/calls/call_paths.h"

struct kernel_calls_options {
	const char *const *functions; /* globs: these alone, with all that they call */
	size_t count;                 /* of functions; 0: the whole kernel */
	size_t buffer_bytes;          /* of each CPU; 0: 8 MB, less where memory is short */
};

struct kernel_calls_result {
	struct command_run_result run;
	uint64_t events; /* records read */
	uint64_t lost;   /* records that were discarded because a buffer was full */
	bool cost_known; /* the tracer's cost is taken off */
};

int kernel_calls_run(struct call_paths *into, const struct kernel_calls_options *options,
                     char *const command[], struct kernel_calls_result *result, struct error *err);

#endif
