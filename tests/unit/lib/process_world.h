/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_world: a process table, with the images of its mappings.
 */
#ifndef ASSAY_TESTS_PROCESS_WORLD_H
#define ASSAY_TESTS_PROCESS_WORLD_H

#include "process/process.h"

struct world {
	struct image_table images;
	struct process_table *t;
};

static inline void world_init(struct world *w)
{
	image_table_init(&w->images);
	w->t = process_table_new(&w->images);
}

static inline void world_done(struct world *w)
{
	process_table_free(w->t);
	image_table_done(&w->images);
}

#endif
