/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_window: the writer of one window. It maps ids of the window's profile to ids of the store.
 *
 * Within one transaction: window_writer_init(), the parts in any order, window_writer_done(). Each
 * id of the profile is looked up once. Entries that it adds to the dictionaries of the store stay
 * there. Errors are those of the database. One thread. Uses: base, image, process, profile, store.
 */
#ifndef ASSAY_STORE_SQLITE_STORE_WINDOW_H
#define ASSAY_STORE_SQLITE_STORE_WINDOW_H

#include "store/sqlite/sqlite_store_internal.h"

struct window_writer {
	struct sqlite_store *s;
	const struct profile *p;
	const struct store_window *w;
	int64_t wall_offset_ns;
	/* Ids of the store, by id of the profile; 0: not looked up yet */
	int64_t *images, *frames, *paths, *events;
	VEC(int64_t) names;     /* by intern id of the process table */
	VEC(uint32_t) chain;    /* nodes of a path on the way up */
	VEC(uint32_t) nameless; /* frames whose function names must be requested */
	int64_t process_first, process_last, thread_first, thread_last; /* new ones; 0: none */
	uint64_t process_seen, thread_seen;
};

void window_writer_init(struct window_writer *w, struct sqlite_store *s, const struct profile *p,
                        const struct store_window *window);
void window_writer_done(struct window_writer *w);

/* Ids in table stack and image; 0 for PATH_ROOT, REGION_NONE. */
int window_stack(struct window_writer *w, uint32_t path, int64_t *id, struct error *err);
int window_image(struct window_writer *w, uint32_t image, int64_t *id, struct error *err);
/* Requests the names of the new frames of the window, and writes them. */
int window_name_frames(struct window_writer *w, struct error *err);

/* Writes the rows of processes and threads that are new, changed, or used time. */
int window_processes(struct window_writer *w, struct error *err);

/* The id of an event's name and role in table event. */
int store_event_id(struct sqlite_store *s, const char *name, int role, int64_t *id,
                   struct error *err);

#endif
