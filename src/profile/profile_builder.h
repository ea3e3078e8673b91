/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_builder: events in, profile out.
 *
 * Give the sink of a builder to a reader. For each sample the path is walked
 * once, interned and counted; switch records feed the ledger and the off-CPU
 * columns. Samples that hold registers and a copy of the stack in place of the
 * user's call chain are walked here. One builder a recording, several builders one after the other
 * may fill the same profile: whoever reads pushes the struct recording to profile.recordings
 * before, and gives a new builder's sink to the reader. Memory is bounded by what is distinct in
 * the recording, and SEQUENCE_MAX. Not safe for several threads. Uses: base, event, process,
 * profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_BUILDER_H
#define ASSAY_PROFILE_PROFILE_BUILDER_H

#include "base/file/cache_dir.h"
#include "profile/profile.h"

struct profile_builder;

struct profile_builder_options {
	bool drop_chains;   /* only the sampled address: flat reports of large files */
	bool no_sequences;  /* confidence intervals are not wanted: an endless stream */
	uint64_t window_ns; /* rows are told apart by windows of that length; 0: they are not */
	/* For walking stacks that were copied: where files are looked for, and kept tables */
	const char *root;        /* NULL: as recorded */
	struct cache_dir *cache; /* NULL: none */
};

/*
 * For streams without an end (profile_windows.h), without sequences:
 * _start: sampling is on since then. _cut: the profile has all up to then; its ledger is that of
 * the time since the last cut. _renew, between a cut and the next event, with no rows in the
 * profile: what is not alive is forgotten, ids begin anew.
 */
struct profile_builder;
void profile_builder_start(struct profile_builder *b, uint64_t start_ns);
void profile_builder_cut(struct profile_builder *b, uint64_t to_ns);
void profile_builder_renew(struct profile_builder *b);

struct profile_builder *profile_builder_new(struct profile *p,
                                            const struct profile_builder_options *options);
void profile_builder_free(struct profile_builder *b);
struct event_sink profile_builder_sink(struct profile_builder *b);

#endif
