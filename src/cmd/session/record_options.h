/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_options: what is sampled, what a sample holds and what that may take: the options that
 * all commands have that record, with their checks.
 *
 * A command's struct holds a record_options at the offset of the INCLUDE, after
 * record_options_default(). record_options_use() fills session options from them, or says what is
 * wrong and gives the exit status; what it fills in points into the record_options. One
 * thread. Uses: base, session, source.
 */
#ifndef ASSAY_CMD_SESSION_RECORD_OPTIONS_H
#define ASSAY_CMD_SESSION_RECORD_OPTIONS_H

#include "base/memory/buf.h"
#include "cmd/cli/command.h"
#include "session/session_options.h"

struct record_options {
	const char *frequency;
	uint64_t period;
	bool all, data_addresses, off_cpu, no_witness, all_cgroups;
	struct option_list pids, events;
	const char *call_graph; /* NULL: not asked for; "" as "auto" */
	uint64_t stack_size;
	double memory_mb;
	double budget; /* percent; NAN: not said */
	const char *duration;
};

extern const struct option record_option_table[];

void record_options_default(struct record_options *o);

/*
 * `first`: the first word behind the options, NULL for none. `pids` is filled and the caller's
 * to free. 0, or the exit status, all said.
 */
int record_options_use(const struct record_options *o, const char *command, const char *first,
                       struct session_options *so, proc_ids *pids);

/* In words, what they sample: "the whole machine at 997 Hz". Appended. */
void record_options_tell(const struct session_options *so, struct buf *out);

#endif
