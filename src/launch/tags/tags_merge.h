/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_merge: switches of a thread, put in among its events.
 *
 * Switches come from the kernel, on its clock; converted to ticks they are good to
 * some ten nanoseconds. A thread writes nothing while it is switched out: where its own
 * event seems to lie between its switch out and its switch in, and is near to one of
 * them, that one is shifted to the event's time, to its other side. An event that is
 * near to none (a switch was lost) stays where it is.
 *
 *	tags_merge_done() frees what a struct of zeros was filled with
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

/* Words from `first` on, the first's whole time being `begin`: a packet of its own. */
struct tags_piece {
	size_t first;
	uint64_t begin;
};

struct tags_merged {
	VEC(uint64_t) words;
	VEC(struct tags_piece) pieces; /* more than one where the clock turned round meanwhile */
	uint64_t end;                  /* of the last word */
};

struct tags_merge {
	uint64_t begin, floor; /* of the packet; nothing is put before `floor` */
	const uint64_t *words;
	size_t count;
	const struct tags_switch *switches;
	size_t switch_count;
	uint64_t near; /* ticks that a switch is shifted at most */
};

/*
 * All words, and the switches up to the last one: how many of them were taken. `whole`: the
 * rest of the switches behind them, too.
 */
size_t tags_merge(const struct tags_merge *m, bool whole, struct tags_merged *into);
void tags_merge_done(struct tags_merged *merged);

#endif
