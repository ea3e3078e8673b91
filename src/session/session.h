/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session: a measurement under way.
 *
 * session_record() opens the events, tells what runs already, starts COMMAND,
 * copies what the rings hold into a perf.data file until COMMAND ends, a
 * signal comes or the processes are gone, and closes the file with the
 * account. One thread; SIGINT, SIGTERM and SIGHUP end it cleanly. What could
 * not be had (rights, counters) is left out and told in `notes`, of the result
 * and of the file. Uses: base, event, profile, source, format.
 */
#ifndef ASSAY_SESSION_SESSION_H
#define ASSAY_SESSION_SESSION_H

#include "base/error.h"
#include "base/vec.h"
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

struct session_result {
	uint64_t elapsed_ns, bytes, lost_records, observer_cpu_ns;
	int exit_status;      /* of COMMAND in wait(2) form, -1: none */
	bool command_failed;  /* the error is that COMMAND could not be run */
	bool command_goes_on; /* it would not end when we did */
	VEC(char *) notes;
};

int session_record(const struct session_options *options, struct session_result *result,
                   struct error *err);
void session_result_done(struct session_result *result);

#endif
