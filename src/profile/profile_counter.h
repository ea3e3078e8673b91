/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_counter: adds updates up: rows, the time axis, ledgers, time off the CPU.
 *
 * The second half of profile_builder, which may run in its own thread. It owns these parts of the
 * profile: rows, the time axis, the ledger, and the counters of events. It does not access paths,
 * frames and the process table.
 *
 *	profile_counter_init(c, profile)
 *	profile_counter_begin(c, recording, ...)
 *	profile_counter_take(c, updates, count)     in time order
 *	profile_counter_end(c, last_ns)
 *	profile_counter_done(c)
 *
 * Not thread-safe. Uses: base, event, profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_COUNTER_H
#define ASSAY_PROFILE_PROFILE_COUNTER_H

#include "profile/ledger/ledger_cpu.h"
#include "profile/ledger/ledger_thread.h"
#include "profile/counter_update.h"
#include "profile/counter_queue.h"
#include "profile/ledger/off_cpu.h"
#include "profile/profile.h"
#include "profile/waits/latency.h"

/* The last index is for CPUs with an unknown or a larger number. */
#define COUNTER_CPUS PROFILE_CPU_UNKNOWN

struct counter_cpu {
	struct ledger_cpu_builder ledger;
	bool seen;
	VEC(uint32_t) tracks; /* by event: index into profile.axis.tracks, + 1 */
};

struct profile_counter {
	struct profile *profile;
	const struct recording *recording;
	uint32_t recording_index;
	uint16_t main_attr;
	VEC(struct counter_cpu) cpus;
	struct off_cpu off;
	struct ledger_threads threads;
	struct latency latency;
	uint8_t latency_event;
	uint64_t first_ns;
	uint64_t start_ns; /* of sampling, 0: unknown */
	bool of_cpus;      /* the main event may be of the whole machine */
	bool machine_wide, switches, time_axis;
	bool cut; /* a part of the time was removed, so the recorder's account covers more */
	uint64_t hashes[UPDATE_BATCH]; /* of the rows of the current batch */
};

void profile_counter_init(struct profile_counter *c, struct profile *p);
void profile_counter_done(struct profile_counter *c);

void profile_counter_begin(struct profile_counter *c, const struct recording *r,
                           uint32_t recording_index);
/* Counts at most UPDATE_BATCH updates. */
void profile_counter_take(struct profile_counter *c, const struct counter_update *notes,
                          size_t count);

/*
 * Only the time from `from_ns` on is counted: discards the accounts up to it, and keeps the state
 * of CPUs and threads.
 */
void profile_counter_discard(struct profile_counter *c, uint64_t from_ns);

/* For endless streams: sampling is enabled from that time on. */
/* When each CPU was sampled; end 0: it still is. Before the first window, and before the last ends.
 */
void profile_counter_cpus(struct profile_counter *c, const struct account *a);
void profile_counter_start(struct profile_counter *c, uint64_t start_ns);
/* Moves all accounts up to that time to the profile's ledger, and starts new ones. */
void profile_counter_cut(struct profile_counter *c, uint64_t to_ns);

/* `last_ns`: the last time in the recording, whose counters are complete now. */
void profile_counter_end(struct profile_counter *c, uint64_t last_ns);

#endif
