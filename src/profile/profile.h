/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile: model one, aggregated. Call paths x keys -> columns.
 *
 * A call path is a node of one tree, outermost frame nearest to the root;
 * frames and nodes are interned, so a path is a 32-bit id. A row is a path
 * with the thread, CPU, event and mode in which it was seen; its columns add
 * up. Nothing in here is a name of a function: names are asked of symbol/ for
 * what a view shows.
 *
 * Life cycle: profile_new(); fill through profile_builder.h, from any number
 * of recordings; profile_seal(); read the arrays, which are const from then on;
 * profile_free().
 * Uses: base, image, event, process.
 */
#ifndef ASSAY_PROFILE_PROFILE_H
#define ASSAY_PROFILE_PROFILE_H

#include "base/error.h"
#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "event/recording.h"
#include "image/image.h"
#include "process/process.h"
#include "profile/ledger/ledger.h"

#define PROFILE_CPU_UNKNOWN UINT16_MAX /* not recorded, or beyond what is counted */

/* How the CPU was being used when the sample was taken. */
enum profile_mode { PROFILE_USER, PROFILE_KERNEL, PROFILE_IDLE, PROFILE_GUEST, PROFILE_UNKNOWN };

#define PATH_ROOT 0 /* the empty path */

struct path_node {
	uint32_t parent; /* node; PATH_ROOT's is itself */
	uint32_t frame;  /* id in profile.frames */
};

/* A frame of a path, and on which side of the system call it stands. */
struct profile_frame {
	struct frame frame;
	bool kernel;
	bool caller; /* a return address: the call is the instruction before */
};

#define REGION_NONE UINT32_MAX

struct profile_row {
	/* key */
	uint32_t path;     /* node of the innermost frame */
	uint32_t thread;   /* id in processes */
	uint32_t region;   /* image of the mapping that `addr` fell in (-d), or REGION_NONE */
	uint32_t window;   /* in profile.windows; 0 where time was not cut */
	uint16_t cpu;      /* or PROFILE_CPU_UNKNOWN */
	uint8_t event;     /* index into events */
	uint8_t mode;      /* enum profile_mode */
	uint8_t stack_end; /* enum stack_end: how the path ends */
	/* columns: all merge by sum */
	uint64_t samples;
	uint64_t weight;      /* sum of periods: ns for clocks, else events */
	uint64_t runnable_ns; /* off CPU, wanting to run (rows of ATTR_SWITCH events) */
	uint64_t blocked_ns;  /* off CPU, waiting */
};

/*
 * Which row each sample fell in, in time order, one sequence per CPU and
 * event: what confidence intervals are computed from. Cut off at
 * SEQUENCE_MAX items in all; `cut` says so.
 */
struct profile_sequence {
	uint32_t recording;
	uint16_t cpu;
	uint8_t event;
	VEC(uint32_t) rows;
};

#define SEQUENCE_MAX (1u << 22)

struct profile_event {
	char *name;
	enum attr_role role;
	uint64_t period_ns;    /* clocks with a timer's grid, else 0 */
	uint64_t frequency_hz; /* as asked for, 0 fixed period */
	bool user_callchain, callchain;
	uint64_t samples, weight;
};

/*
 * From a node's parent and frame to its id. The frame is known by 64 bits of
 * hash alone, so that a step of a path that is known looks into no other table;
 * two frames below one parent are taken for one once in 10^19 times.
 */
struct path_slot {
	uint64_t hash;       /* of what the frame is */
	uint32_t parent, id; /* id PATH_ROOT: free */
};

struct path_table {
	struct path_slot *slots;
	size_t mask, count;
};

/* A stretch of a recording's time that rows are told apart by, where that was asked for. */
struct profile_span {
	uint32_t recording;
	uint64_t start_ns, end_ns; /* recording's clock */
};

struct profile {
	struct image_table images;
	struct process_table *processes;
	VEC(struct profile_frame) frames;
	VEC(struct path_node) paths; /* [0] is PATH_ROOT */
	VEC(struct profile_row) rows;
	VEC(struct profile_sequence) sequences;
	bool sequences_cut;
	VEC(struct profile_event) events;   /* merged by name over the recordings */
	VEC(struct recording *) recordings; /* owned; one per file */
	VEC(struct profile_span) windows;   /* empty: time was not cut */
	struct ledger ledger;
	struct id_table frame_index, row_index;
	struct path_table path_index;
};

struct profile *profile_new(void);
void profile_free(struct profile *p);

uint32_t profile_frame_add(struct profile *p, const struct profile_frame *frame);
/* The numbers of all frames, image by image; the caller frees it. */
uint32_t *profile_frames_by_image(const struct profile *p);
uint32_t profile_path_add(struct profile *p, uint32_t parent, uint32_t frame);
/* The same with a frame that need not be known. */
uint32_t profile_path_step(struct profile *p, uint32_t parent, const struct profile_frame *frame);
/* The row with the key fields of `key`; columns of a new one are 0. Good until the next add. */
struct profile_row *profile_row_add(struct profile *p, const struct profile_row *key);
/* The same in two steps, for whoever knows the keys some time before. */
uint64_t profile_row_hash(const struct profile_row *key);
struct profile_row *profile_row_add_hashed(struct profile *p, const struct profile_row *key,
                                           uint64_t hash);

/*
 * Gives idle rows the time that switch records measured in place of their
 * samples' periods: a halted CPU of a virtual machine gets fewer ticks than were
 * due, and all other shares would be too large. Once, after the last recording;
 * not if only a part of the samples was read. CPUs without switch records stay.
 */
void profile_weigh_idle(struct profile *p);

/*
 * For profiles that are filled again and again: rows and ledger go, what they refer to stays;
 * and, when there are no rows, frames and paths go, too.
 */
void profile_forget_rows(struct profile *p);
void profile_forget_paths(struct profile *p);

/* Nothing more is added: gives back the memory that finding what is there takes. */
void profile_seal(struct profile *p);

/*
 * The event that a report is about without --event: the first clock that has samples, else the
 * first count of something that has, else the first clock, else the first event.
 */
uint8_t profile_main_event(const struct profile *p);
/* The event that the ledger is about: the first clock that has samples, else the first clock. */
uint8_t profile_clock_event(const struct profile *p);
/* The event of a name; NULL: that main one. -ENOENT, with the names that there are. */
int profile_find_event(const struct profile *p, const char *name, uint8_t *event,
                       struct error *err);

#endif
