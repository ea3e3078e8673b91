/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_axis: the time and the row of each sample, compressed.
 *
 * The axis has one track for each recording, CPU and event. A track is a list of entries in the
 * order of time; an entry is a time, a row of the profile, and the samples and the weight that the
 * row has at that time. A new sample is one entry. docs/adr/0078 has the reasons for this form.
 *
 * Units: times are ns of the recording's clock, rounded down to a multiple of time_axis_step_ns(),
 * which is TIME_AXIS_STEP_NS at first. Entries are encoded in blocks as varints: ticks since the
 * entry before, the difference of the rows, and samples and weight if they are not those of one
 * more sample of the same weight. A sample of a timer takes 2 to 5 bytes.
 *
 * Limits: all blocks together have at most TIME_AXIS_BYTES. When they would exceed it, the step
 * becomes four times as long, and entries of one track, row and step become one entry, until a
 * quarter is free. Sums of samples and weights therefore remain exact for each row and each range
 * whose ends are multiples of the step; only the order within a step is lost. Only if a profile has
 * more rows than fit, the limit grows. A sample that arrives after a newer one of its track has the
 * time of the newer one.
 *
 *	time_axis_init(), time_axis_add() for each sample; then any number of cursors:
 *	time_axis_seek(), time_axis_next() until it returns false. time_axis_done() frees.
 *
 * Entries are added by one thread; after that any number of threads may read. Uses: base.
 */
#ifndef ASSAY_PROFILE_TIME_AXIS_H
#define ASSAY_PROFILE_TIME_AXIS_H

#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define TIME_AXIS_BYTES (64u << 20)
#define TIME_AXIS_STEP_NS 1024u

struct time_entry {
	uint64_t time_ns;
	uint32_t row;
	uint64_t samples, weight;
};

struct time_block;

/* The last encoded entry; the next entry is encoded as the difference to it. */
struct time_state {
	uint64_t tick, unit; /* unit: weight of one sample */
	uint32_t row;
};

struct time_track {
	uint32_t recording;
	uint16_t cpu;
	uint8_t event;
	VEC(struct time_block *) blocks;
	struct time_state last;
};

struct time_axis {
	VEC(struct time_track) tracks;
	uint64_t limit, bytes; /* bytes: of all blocks */
	uint64_t window_ns; /* entries are sums over windows of up to this length; 0: each entry is
	                       a sample */
	unsigned shift;     /* a tick is 2^shift ns */
};

/* `limit`: bytes of all blocks. */
void time_axis_init(struct time_axis *a, uint64_t limit);
void time_axis_done(struct time_axis *a);

/* Removes all entries; tracks keep their numbers. */
void time_axis_clear(struct time_axis *a);

/* The index of the track, which is created if it does not exist. */
uint32_t time_axis_track(struct time_axis *a, uint32_t recording, uint16_t cpu, uint8_t event);
/* `samples` may be more than one only if their order is not known. */
void time_axis_add(struct time_axis *a, uint32_t track, const struct time_entry *e);

/* The sums of a range that is shorter than this are not exact. */
uint64_t time_axis_step_ns(const struct time_axis *a);

struct time_cursor {
	const struct time_axis *axis;
	const struct time_track *track;
	size_t block, at; /* position of the next entry */
	uint64_t from_ns;
	struct time_state state;
};

/* The next entry that is read is the first entry at `from_ns` or later. */
void time_axis_seek(struct time_cursor *c, const struct time_axis *a, uint32_t track,
                    uint64_t from_ns);
/* The next entry of the track; false: there is none. */
bool time_axis_next(struct time_cursor *c, struct time_entry *e);

struct time_sum {
	uint64_t samples, weight;
};

/* Adds the samples of a recording in [from, to) to sums[row], which has an item for each row. */
void time_axis_rows(const struct time_axis *a, uint32_t recording, uint64_t from_ns, uint64_t to_ns,
                    struct time_sum *sums);

#endif
