/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_builder_internal: the builder, and its part that handles switches, wake-ups and
 * descriptors. Private to profile/profile_builder*.c. Uses: base, event, process, profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_BUILDER_INTERNAL_H
#define ASSAY_PROFILE_PROFILE_BUILDER_INTERNAL_H

#include "profile/counter_queue.h"
#include "profile/profile_builder.h"
#include "profile/profile_counter.h"
#include "profile/stack/path_cache.h"
#include "profile/stack/stack_walk.h"
#include "profile/waits/scheduling.h"

struct profile_builder {
	struct profile *profile;
	struct profile_builder_options options;
	const struct recording *recording;
	uint16_t main_attr;
	bool main_sampled;   /* it has a sample, so it remains the main clock */
	VEC(uint8_t) events; /* by attr: index into profile.events */
	struct path_cache *paths;
	struct stack_walk *walk; /* created when the first sample needs it */
	VEC(uint64_t) chain;     /* of a sample whose stack was walked */
	struct profile_counter counter;
	struct counter_queue *queue;
	struct kernel_tids tids;
	VEC(uint32_t) fault_files; /* by image: entry of waits.descriptors + 1; 0: none yet */
	uint16_t switch_attr;      /* its samples replace switch records; EVENT_NO_ATTR: none */
	bool is_arm64;
	uint64_t last_ns; /* of timed events */
	bool timed;       /* an update with a time was added */
	uint32_t recording_index, first_window;
	uint64_t windows_from_ns;
	bool before, after; /* the present event is before, or after, the part that is counted */
	uint64_t edge_ns;   /* the next edge of that part; UINT64_MAX: none */
};

/* Adds an update; it has no thread yet. */
struct counter_update *profile_builder_note(struct profile_builder *b, const struct event *e,
                                            enum counter_update_kind kind);

/* Prepares for the samples of switches and wake-ups of b->recording. */
void profile_builder_begin_scheduling(struct profile_builder *b);
/* A sample, after its own update: of a switch or a wake-up; others only name a thread. */
void profile_builder_scheduling(struct profile_builder *b, const struct event *e,
                                const struct recording_attr *a, const struct profile_row *key,
                                uint32_t process);
/* A major page fault, whose page is of a mapped file. */
void profile_builder_fault(struct profile_builder *b, const struct event *e,
                           const struct profile_row *key);
void profile_builder_descriptor(struct profile_builder *b, const struct event *e);

#endif
