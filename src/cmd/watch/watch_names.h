/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_names: the series of the stacks of a store. The tables of stacks, functions and images are
 * read once; a series is created at its first sample.
 *
 *	watch_names_load(n, sql); watch_names_series(n, w, stack, mode) for each;
 * watch_names_done(n)
 *
 * Uses: base, sql, view.
 */
#ifndef ASSAY_CMD_WATCH_WATCH_NAMES_H
#define ASSAY_CMD_WATCH_WATCH_NAMES_H

#include "base/error.h"
#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "base/memory/vec.h"
#include "sql/sql.h"
#include "view/watch/watch.h"

#define WATCH_MODES 5 /* number of values of sample.mode: user, kernel, idle, guest, unknown */

/* A function, or all code of an image that belongs to no function. */
struct watch_place {
	int64_t function, image; /* 0: none */
	uint32_t name, file;     /* ids in texts */
	uint32_t series[WATCH_MODES];
};

struct watch_id {
	int64_t id;
	uint32_t value;
};

struct watch_names {
	struct intern texts;
	VEC(struct watch_place) places;
	struct id_table index;
	VEC(struct watch_id) stacks; /* places of the stacks, by id */
	VEC(struct watch_id) images; /* their texts */
};

int watch_names_load(struct watch_names *n, struct sql *sql, struct error *err);
void watch_names_done(struct watch_names *n);
uint32_t watch_names_series(struct watch_names *n, struct watch *w, int64_t stack, int64_t mode);

#endif
