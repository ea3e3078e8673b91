/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_counter: adds notes up: rows, sequences, ledgers, time off the CPU.
 *
 * The second half of profile_builder, which may run in a thread of its own. It
 * owns of the profile: rows, sequences, the ledger, and the counters of events;
 * it touches neither paths and frames nor the process table.
 *
 *	profile_counter_init(c, profile)
 *	profile_counter_begin(c, recording, ...)
 *	profile_counter_take(c, notes, count)     in time order
 *	profile_counter_end(c, last_ns)
 *	profile_counter_done(c)
 *
 * Not safe for several threads at once. Uses: base, event, profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_COUNTER_H
#define ASSAY_PROFILE_PROFILE_COUNTER_H

#include "profile/ledger/ledger_cpu.h"
#include "profile/ledger/ledger_thread.h"
#include "profile/counter_update.h"
#include "profile/counter_queue.h"
#include "profile/ledger/off_cpu.h"
#include "profile/profile.h"

/* The last number stands for "not known" and all above. */
#define COUNTER_CPUS PROFILE_CPU_UNKNOWN

struct counter_cpu {
	struct ledger_cpu_builder ledger;
	bool seen;
	VEC(uint32_t) sequences; /* by event: index into profile.sequences, + 1 */
};

struct profile_counter {
	struct profile *profile;
	const struct recording *recording;
	uint32_t recording_index;
	uint16_t main_attr;
	VEC(struct counter_cpu) cpus;
	uint32_t sequence_room; /* items that may still be kept */
	struct off_cpu off;
	struct ledger_threads threads;
	uint64_t first_ns;
	uint64_t start_ns; /* of sampling, 0: not known yet */
	bool of_cpus;      /* the main event may be the whole machine's */
	bool machine_wide, switches, no_sequences;
	bool cut; /* windows were taken out of it: the account is of more than is left */
	uint64_t hashes[UPDATE_BATCH]; /* of the rows of the batch at hand */
};

void profile_counter_init(struct profile_counter *c, struct profile *p);
void profile_counter_done(struct profile_counter *c);

void profile_counter_begin(struct profile_counter *c, const struct recording *r,
                           uint32_t recording_index);
/* At most UPDATE_BATCH of them. */
void profile_counter_take(struct profile_counter *c, const struct counter_update *notes,
                          size_t count);

/* For streams without an end: sampling is on since then. */
void profile_counter_start(struct profile_counter *c, uint64_t start_ns);
/* All accounts up to then go into the profile's ledger, and begin anew. */
void profile_counter_cut(struct profile_counter *c, uint64_t to_ns);

/* `last_ns`: the last time that was seen. The recording's counters are filled by now. */
void profile_counter_end(struct profile_counter *c, uint64_t last_ns);

#endif
