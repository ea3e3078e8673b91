/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_window: one window on its way into the store: what its profile's ids are there.
 *
 * window_writer_init(), then in any order the parts, within one transaction;
 * window_writer_done(). Ids of the profile are looked up once each. What it makes in the
 * dictionaries of the store stays there. Errors are the database's. One thread. Uses: base,
 * image, process, profile, store.
 */
#ifndef ASSAY_STORE_STORE_WINDOW_H
#define ASSAY_STORE_STORE_WINDOW_H

#include "store/store_internal.h"

struct window_writer {
	struct store *s;
	const struct profile *p;
	const struct store_window *w;
	int64_t wall_less_ns;
	/* The store's ids by the profile's; 0: not looked up */
	int64_t *images, *frames, *paths, *events;
	VEC(int64_t) names;     /* by intern id of the process table */
	VEC(uint32_t) chain;    /* nodes of a path on the way up */
	VEC(uint32_t) nameless; /* frames whose functions are to be asked for */
	int64_t process_first, process_last, thread_first, thread_last; /* new ones; 0: none */
	uint64_t process_seen, thread_seen;
};

void window_writer_init(struct window_writer *w, struct store *s, const struct profile *p,
                        const struct store_window *window);
void window_writer_done(struct window_writer *w);

/* Ids in table stack and image; 0 for PATH_ROOT, REGION_NONE. */
int window_stack(struct window_writer *w, uint32_t path, int64_t *id, struct error *err);
int window_image(struct window_writer *w, uint32_t image, int64_t *id, struct error *err);
/* Asks for the names of frames that were met, and writes them. */
int window_name_frames(struct window_writer *w, struct error *err);

/* Rows of processes and threads that are new, changed, or had time. */
int window_processes(struct window_writer *w, struct error *err);

/* The id of an event's name and role in table event. */
int store_event_id(struct store *s, const char *name, int role, int64_t *id, struct error *err);

#endif
