/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile: the aggregated model. Call paths x keys -> columns.
 *
 * A call path is a node of one tree, in which the outermost frame is nearest to the root. Frames
 * and nodes are interned, so a path is a 32-bit id. A row is a path with the thread, CPU, event and
 * mode of its samples; its columns are sums. A profile contains no names of functions: symbol/
 * looks up the names that a view shows.
 *
 * Life cycle: profile_new(); fill it through profile_builder.h, from any number of recordings;
 * profile_seal(); read the arrays, which do not change after that; profile_free(). Uses: base,
 * image, event, process.
 */
#ifndef ASSAY_PROFILE_PROFILE_H
#define ASSAY_PROFILE_PROFILE_H

#include "base/error.h"
#include "base/memory/hash.h"
#include "base/memory/path_tree.h"
#include "base/memory/vec.h"
#include "event/recording.h"
#include "image/image.h"
#include "process/process.h"
#include "profile/ledger/ledger.h"
#include "profile/ledger/switch_log.h"
#include "profile/sample_fields.h"
#include "profile/time_axis.h"
#include "profile/waits/system_calls.h"
#include "profile/waits/wait_log.h"

#define PROFILE_CPU_UNKNOWN UINT16_MAX /* not recorded, or above the limit */

/* The state of the CPU at the sample. */
enum profile_mode { PROFILE_USER, PROFILE_KERNEL, PROFILE_IDLE, PROFILE_GUEST, PROFILE_UNKNOWN };

#define PATH_ROOT 0 /* the empty path */

struct path_node {
	uint32_t parent; /* node; PATH_ROOT's is itself */
	uint32_t frame;  /* id in profile.frames */
};

/* A frame of a path, with the side of the system call on which it is. */
struct profile_frame {
	struct frame frame;
	bool kernel;
	bool caller; /* a return address: the call is the instruction before it */
};

#define REGION_NONE UINT32_MAX

struct profile_row {
	/* key */
	uint32_t path;     /* node of the innermost frame */
	uint32_t thread;   /* id in processes */
	uint32_t region;   /* image of the mapping that contains `addr` (-d), or REGION_NONE; of a
	                    * tracepoint, if `fields` were chosen: their values */
	uint32_t window;   /* in profile.windows; 0 if time is not divided */
	uint16_t cpu;      /* or PROFILE_CPU_UNKNOWN */
	uint8_t event;     /* index into events */
	uint8_t mode;      /* enum profile_mode */
	uint8_t stack_end; /* enum stack_end: how the path ends */
	/* columns: all merge by sum */
	uint64_t samples;
	uint64_t weight;      /* sum of periods: ns for clocks, events for others */
	uint64_t runnable_ns; /* off CPU and runnable (rows of ATTR_SWITCH events) */
	uint64_t blocked_ns;  /* off CPU and waiting */
};

struct profile_event {
	char *name;
	enum attr_role role;
	uint64_t period_ns;    /* of clocks with a timer's grid, else 0 */
	uint64_t frequency_hz; /* as requested, 0: fixed period */
	bool user_callchain, callchain;
	uint64_t samples, weight;
};

/* A part of the recording's time; each window has its own rows. */
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
	struct time_axis axis;              /* of all rows; empty if it was not asked for */
	VEC(struct profile_event) events;   /* of all recordings, merged by name */
	VEC(struct recording *) recordings; /* owned; one per file */
	VEC(struct profile_span) windows;   /* empty: time is not divided */
	struct ledger ledger;
	struct sample_fields fields;      /* of tracepoints; empty if none were chosen */
	struct switch_log switches;       /* empty if it was not asked for */
	struct wait_log waits;            /* the same */
	struct system_calls system_calls; /* the same */
	uint64_t unknown_marks; /* call chains that were cut at a mark of unknown meaning */
	struct id_table frame_index, row_index;
	struct path_tree path_index; /* by frame_hash() */
};

struct profile *profile_new(void);
void profile_free(struct profile *p);

uint32_t profile_frame_add(struct profile *p, const struct profile_frame *frame);
/*
 * Where the frame's code is looked up: a return address may be the first byte of the next function,
 * so it is the byte before.
 */
struct frame profile_frame_place(const struct profile *p, const struct profile_frame *frame);
/* The ids of all frames, sorted by image; the caller frees it. */
uint32_t *profile_frames_by_image(const struct profile *p);
uint32_t profile_path_add(struct profile *p, uint32_t parent, uint32_t frame);
/* As profile_path_add(), for a frame that may be unknown. */
uint32_t profile_path_step(struct profile *p, uint32_t parent, const struct profile_frame *frame);
/*
 * The row with the key fields of `key`; the columns of a new row are 0. Valid until the next add.
 */
struct profile_row *profile_row_add(struct profile *p, const struct profile_row *key);
/* The same in two steps, to prefetch the row between them. */
uint64_t profile_row_hash(const struct profile_row *key);
struct profile_row *profile_row_add_hashed(struct profile *p, const struct profile_row *key,
                                           uint64_t hash);

/*
 * Replaces the weight of idle rows (the sum of their samples' periods) by the time that switch
 * records measured. A halted CPU of a virtual machine gets fewer ticks than were due, so all other
 * shares would be too large. Called once after the last recording. CPUs without switch records are
 * unchanged.
 */
void profile_weigh_idle(struct profile *p);
/*
 * Adds a row without samples and weight for each CPU that was idle and got no tick while idle. A
 * store keeps these rows: its readers take their weight from the ledger.
 */
void profile_mark_unseen_idle(struct profile *p);

/*
 * For profiles that are filled several times: removes rows and ledger and keeps the rest.
 * profile_forget_paths() also removes frames and paths; the profile must have no rows.
 */
void profile_forget_rows(struct profile *p);
void profile_forget_paths(struct profile *p);

/* Nothing is added after this: frees the memory of the lookup tables. */
void profile_seal(struct profile *p);

/*
 * The default event of a report: the first clock that has samples, else the first other event that
 * has samples, else the first clock, else the first event.
 */
uint8_t profile_main_event(const struct profile *p);
/* The event of the ledger: the first clock that has samples, else the first clock. */
uint8_t profile_clock_event(const struct profile *p);
/* Finds an event by name; NULL: the main event. -ENOENT, with the names that exist. */
int profile_find_event(const struct profile *p, const char *name, uint8_t *event,
                       struct error *err);

/*
 * Places the times of a recording beside those of the others: ns to add, to get the time since
 * 1970. 0 for a single recording, whose own clock is used.
 */
uint64_t profile_offset_ns(const struct profile *p, uint32_t recording);
/* The time from the first recording's start to the end of the last one. */
void profile_span(const struct profile *p, uint64_t *from_ns, uint64_t *to_ns);

#endif
