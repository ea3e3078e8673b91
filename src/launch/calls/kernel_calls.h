/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_calls: counts the calls of a COMMAND and its children in the kernel by call path, with the
 * kernel's function tracer.
 *
 * kernel_calls_run() enables the tracer, measures its cost, runs COMMAND in the foreground and
 * returns when it has exited. Then the tracer is disabled and the model is filled; the caller
 * closes it. Records are read as they arrive, and only the sums are kept. Signals are handled as in
 * calls_run.h. If this process is killed, a guard process resets the tracer. One thread. Uses:
 * base, event, image, profile, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_KERNEL_CALLS_H
#define ASSAY_LAUNCH_CALLS_KERNEL_CALLS_H

#include "base/error.h"
#include "launch/command_run.h"
#include "profile/calls/call_paths.h"

struct kernel_calls_options {
	const char *const *functions; /* globs: only these functions, with their callees */
	size_t count;                 /* of functions; 0: the whole kernel */
	size_t buffer_bytes; /* of each CPU; 0: 8 MB, less on machines with little memory */
	bool is_recorded; /* by perf_event, too: the kernel's functions for that are not counted */
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
