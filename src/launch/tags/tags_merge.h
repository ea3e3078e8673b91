/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_merge: merges the context switches of a thread into its events.
 *
 * Switches come from the kernel, with its clock; their time in ticks is exact to about ten
 * nanoseconds. A thread writes no events while it is switched out. If an event seems to be between
 * switch out and switch in, and is near one of them, that switch is shifted to the other side of
 * the event. An event that is near neither (a switch was lost) is not changed.
 *
 * tags_merge_done() frees the output, which must be zeroed at first.
 *
 * Times are ticks. One thread. Uses: base, include/assay.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_MERGE_H
#define ASSAY_LAUNCH_TAGS_TAGS_MERGE_H

#include "base/memory/vec.h"

#include "assay/tags_wire.h"

#include <stdbool.h>
#include <stdint.h>

struct tags_switch {
	uint64_t ticks;
	uint32_t tag; /* ASSAY_TAG_SWITCH_... */
};

/* A packet: the words from `first` on; `begin` is the complete time of the first word. */
struct tags_piece {
	size_t first;
	uint64_t begin;
};

struct tags_merged {
	VEC(uint64_t) words;
	VEC(struct tags_piece) pieces; /* several pieces if the clock of the words wrapped */
	uint64_t end;                  /* of the last word */
};

struct tags_merge {
	uint64_t begin, floor; /* of the packet; `floor`: minimum time of all words */
	const uint64_t *words;
	size_t count;
	const struct tags_switch *switches;
	size_t switch_count;
	uint64_t near; /* maximum shift of a switch in ticks */
};

/*
 * Merges all words with the switches up to the last word. Returns the number of used switches.
 * `whole`: also appends the remaining switches.
 */
size_t tags_merge(const struct tags_merge *m, bool whole, struct tags_merged *into);
void tags_merge_done(struct tags_merged *merged);

#endif
