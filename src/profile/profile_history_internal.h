/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_history_internal: declarations shared by the files of profile_history.h.
 *
 * history_ids_init() begins to copy what a window's profile refers to; the other functions add it
 * to the common tables, if it is not there yet, and return its id there. Life cycle and threads are
 * those of profile_history.h. Uses: base, event, process, profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_HISTORY_INTERNAL_H
#define ASSAY_PROFILE_PROFILE_HISTORY_INTERNAL_H

#include "profile/profile_history.h"

struct history_sample {
	uint64_t time_ns, weight;
	uint64_t samples;
	uint32_t row; /* of the slice, or of the sum of all */
	uint16_t cpu;
	uint8_t event;
};

/* Waits of which a slice has only the sums. */
struct history_rest {
	uint32_t sum; /* of `waits` of the history */
	struct wait_sum sums;
};

/* One window. Ids are those of the common tables. */
struct history_slice {
	uint64_t from_ns, to_ns;
	VEC(struct profile_row) rows;
	VEC(struct history_sample) samples;
	struct ledger ledger;
	/* Waits that ended in it; their sums are those of `waits` of the history. */
	VEC(struct wait) waits;
	VEC(struct history_rest) rest;
	uint64_t wakings;
};

/* What a profile has beside its tables. */
struct history_sums {
	VEC(struct profile_row) rows;
	struct id_table row_index;
	struct time_axis axis;
	struct ledger ledger;
};

struct profile_history {
	struct profile *profile; /* the tables, and the sums that were selected */
	struct history_sums all;
	bool borrows; /* the profile's axis is that of `all` */
	uint64_t start_ns;
	VEC(struct history_slice) slices;
	VEC(uint64_t) serials; /* of the threads of the table, by id */
	VEC(uint64_t) process_serials;
	struct id_table threads, processes; /* by serial */
	struct wait_log waits;              /* since the start; names and addresses of all waits */
	VEC(struct wait) open;              /* at the end of the last slice */
	size_t single_waits;                /* in all slices */
	uint64_t ended_waits;               /* since the start */
};

/* Ids of a window's profile as ids of the common tables; ID_NONE: not known yet. */
struct history_ids {
	struct profile_history *h;
	const struct profile *from;
	uint32_t *images, *paths, *threads;
	uint8_t *events;
};

void history_ids_init(struct history_ids *ids, struct profile_history *h, const struct profile *p);
void history_ids_done(struct history_ids *ids);
/* REGION_NONE stays as it is. */
uint32_t history_image(struct history_ids *ids, uint32_t image);
uint32_t history_path(struct history_ids *ids, uint32_t path);
uint32_t history_process(struct history_ids *ids, uint32_t process);
uint32_t history_thread(struct history_ids *ids, uint32_t thread);
uint8_t history_event(struct profile *p, const struct profile_event *like);
/* profile_history_waits.c: the waits of a window, and of a selection from that time on. */
void history_waits_add(struct history_ids *ids, struct history_slice *s);
void history_waits_forget(struct profile_history *h, struct history_slice *s);
/* `all`: of the time since the start, else of the slices from `first` on. */
void history_waits_select(struct profile_history *h, size_t first, bool all);
/* The profile has no waits any more. */
void history_waits_give_back(struct profile_history *h);
void history_waits_done(struct profile_history *h);

/* Names of processes and threads in the tables that changed in the window. */
void history_names(struct history_ids *ids);

#endif
