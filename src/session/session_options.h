/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_options: what the user wants recorded, as session_record() takes it.
 *
 * Plain data, zeroed is none of it; whoever fills it in keeps what it points to
 * until session_record() returns. Only read: any thread. Uses: profile, source.
 */
#ifndef ASSAY_SESSION_SESSION_OPTIONS_H
#define ASSAY_SESSION_SESSION_OPTIONS_H

#include "profile/stack_walk.h"
#include "source/proc.h"

#include <stdbool.h>
#include <stdint.h>

struct session_progress {
	uint64_t elapsed_ns;
	uint64_t bytes;
};

typedef void session_progress_fn(void *ctx, const struct session_progress *progress);

struct session_options {
	const char *output;        /* file */
	const char *const *events; /* perf's names; none: cycles or cpu-clock */
	size_t event_count;
	uint64_t frequency_hz; /* samples a second and CPU; 0 with period */
	uint64_t period;       /* a sample every so many events; 0 with frequency */
	bool frequency_asked;  /* given by the user, not the default */
	bool machine_wide;
	const proc_ids *pids; /* whom to follow; empty with machine_wide or a command */
	char **command;       /* NULL-terminated argv, or NULL */
	bool user_callchain;  /* by the kernel, along frame pointers, unless unwind is set: */
	bool unwind;          /* walk stacks by their tables, while recording */
	enum stack_method method;
	uint32_t stack_bytes; /* copied with each sample, for unwinding */
	bool data_addresses;
	bool off_cpu;
	bool witness;
	uint64_t memory_bytes;         /* for all rings together, 0: by itself */
	session_progress_fn *progress; /* about once a second; NULL: none */
	void *ctx;
};

#endif
