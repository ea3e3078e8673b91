/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_builder: builds a profile from events.
 *
 * A reader sends events to the builder's sink. For each sample the path is walked once, interned
 * and counted. Switch records are used for the ledger and the off-CPU columns. If a sample contains
 * registers and a copy of the stack instead of the user's call chain, the stack is walked here.
 * Each recording has its own builder; several builders may fill the same profile one after the
 * other: the reader adds the struct recording to profile.recordings first, and then uses a new
 * builder's sink. Memory is bounded by the distinct contents of the recording, and by
 * TIME_AXIS_BYTES. A recording of the whole machine without switch records, but with all samples of
 * sched:sched_switch, is treated as if it had such records. Not thread-safe. Uses: base, event,
 * process, profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_BUILDER_H
#define ASSAY_PROFILE_PROFILE_BUILDER_H

#include "base/file/cache_dir.h"
#include "profile/profile.h"
#include "profile/waits/latency.h"

struct profile_builder;

/* The combination of the values of profile.fields in a sample (format/perf/tracepoint_fields.h). */
typedef uint32_t profile_fields_fn(struct sample_fields *f, const struct recording *r,
                                   const struct event *e);

struct profile_builder_options {
	bool drop_chains;          /* keep only the sampled address: flat reports of large files */
	bool time_axis;            /* fill profile.axis */
	bool switches;             /* fill profile.switches; only for a single recording */
	bool system_calls;         /* fill profile.system_calls; the same */
	bool waits;                /* fill profile.waits; only for a single recording */
	uint64_t waits_max;        /* single waits; 0: WAIT_LOG_MAX */
	profile_fields_fn *fields; /* reads the fields; NULL: none were chosen */
	bool endless;              /* an endless stream (profile_windows.h) */
	/*
	 * Adds an event with the name PROFILE_LATENCY_EVENT: the samples of the main clock, with
	 * their weights in the elapsed time (waits/latency.h). Without switch records it has no
	 * samples.
	 */
	enum latency_mode latency;
	uint64_t window_ns; /* rows are separated by windows of this length; 0: no windows */
	/* For walking copied stacks: where files are searched, and cached tables */
	const char *root;        /* NULL: as recorded */
	struct cache_dir *cache; /* NULL: none */
};

/*
 * For endless streams (profile_windows.h):
 * _start: sampling is enabled from that time on. _cpus: from when and until when each CPU is
 * sampled (0: it still is), after _start and before the last cut; if it is not called, that is the
 * same time for all. _cut: counts all up to that time; the ledger
 * covers the time since the last cut. _renew, between a cut and the next event, if the profile has
 * no rows: removes exited processes and unused data, and renumbers ids.
 */
struct profile_builder;
void profile_builder_start(struct profile_builder *b, uint64_t start_ns);
void profile_builder_cpus(struct profile_builder *b, const struct account *a);
void profile_builder_cut(struct profile_builder *b, uint64_t to_ns);
void profile_builder_renew(struct profile_builder *b);

struct profile_builder *profile_builder_new(struct profile *p,
                                            const struct profile_builder_options *options);
void profile_builder_free(struct profile_builder *b);
struct event_sink profile_builder_sink(struct profile_builder *b);

#endif
