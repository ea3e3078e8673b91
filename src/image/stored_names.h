/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_names: names of places in one image that somebody looked up while its file was there.
 *
 * A history outlives what it tells of: files are replaced by newer ones, kernels are booted
 * at other addresses, generated code is gone with its process. What was called how is kept
 * place by place, for no more than was ever sampled.
 *
 *	stored_names_new(); stored_names_add() in any order; stored_names_finish(); then look up;
 *	stored_names_free()
 *
 * Offsets are those of frames in the image. Of one offset the name added last counts. Looking
 * up takes O(log n) and changes nothing. Uses: base.
 */
#ifndef ASSAY_IMAGE_STORED_NAMES_H
#define ASSAY_IMAGE_STORED_NAMES_H

#include "base/memory/intern.h"

struct stored_names;

struct stored_names *stored_names_new(void);
void stored_names_free(struct stored_names *k); /* NULL-safe */
void stored_names_add(struct stored_names *k, uint64_t offset, const char *name);
void stored_names_finish(struct stored_names *k);

/* A function by that name, as far as it is known: its places reach from start to end. */
struct kept_function {
	const char *name; /* owned by the kept names */
	uint64_t start, end;
};

/* The number of the function at exactly that offset; ID_NONE: nothing was kept of it. */
uint32_t stored_names_find(const struct stored_names *k, uint64_t offset);
struct kept_function stored_names_function(const struct stored_names *k, uint32_t number);
/* Numbers are below it. */
uint32_t stored_names_count(const struct stored_names *k);

#endif
