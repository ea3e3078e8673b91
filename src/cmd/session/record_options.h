/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_options: the options of all commands that record, with their checks: events, contents of
 * samples, limits.
 *
 * A command's struct has a record_options at the offset of the INCLUDE; call
 * record_options_default(). record_options_use() fills session options from it, or prints an error
 * and returns the exit status; the result points into the record_options. One thread. Uses: base,
 * session, source.
 */
#ifndef ASSAY_CMD_SESSION_RECORD_OPTIONS_H
#define ASSAY_CMD_SESSION_RECORD_OPTIONS_H

#include "base/memory/buf.h"
#include "cmd/cli/command.h"
#include "session/session_options.h"

struct record_options {
	const char *frequency;
	uint64_t period;
	bool all, data_addresses, off_cpu, waits, system_calls, no_witness, all_cgroups;
	bool labels, no_labels;
	const char *pod_labels, *label_file;
	struct option_list pids, events;
	const char *call_graph; /* NULL: not given; "": as "auto" */
	uint64_t stack_size;
	double memory_mb;
	double budget; /* percent; NAN: not given */
	const char *duration, *flush;
};

extern const struct option record_option_table[];
/* Its parts: -a -p -e -F -c; -g and --stack-size; --memory and --budget; labels;
 * --waits. */
extern const struct option record_what_table[], record_stack_table[], record_memory_table[],
        record_label_table[], record_waits_table[];

void record_options_default(struct record_options *o);

/*
 * `first`: the first word after the options; NULL: none. `pids` is filled; the caller frees it.
 * Returns 0, or the exit status after a message.
 */
int record_options_use(const struct record_options *o, const char *command, const char *first,
                       struct session_options *so, proc_ids *pids);

/* Appends a description of the sampled processes: "the whole machine at 997 Hz". */
void record_options_tell(const struct session_options *so, struct buf *out);

#endif
