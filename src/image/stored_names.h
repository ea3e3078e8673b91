/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_names: names of places in one image that were looked up while the image's file existed.
 *
 * A history lasts longer than the files that it refers to: files are replaced, kernels are booted
 * at other addresses, and generated code ends with its process. Therefore the name of each sampled
 * place is stored.
 *
 *	stored_names_new(); stored_names_add() in any order; stored_names_finish(); then look up;
 *	stored_names_free()
 *
 * Offsets are those of frames in the image. If an offset was added several times, the last name is
 * used. A lookup takes O(log n) and changes nothing. Uses: base.
 */
#ifndef ASSAY_IMAGE_STORED_NAMES_H
#define ASSAY_IMAGE_STORED_NAMES_H

#include "base/memory/intern.h"

struct stored_names;

struct stored_names *stored_names_new(void);
void stored_names_free(struct stored_names *k); /* NULL-safe */
void stored_names_add(struct stored_names *k, uint64_t offset, const char *name);
void stored_names_finish(struct stored_names *k);

/* A function of that name, as far as it is known: its places extend from start to end. */
struct kept_function {
	const char *name; /* owned by the stored_names */
	uint64_t start, end;
};

/* The number of the function at exactly that offset; ID_NONE: no name was stored. */
uint32_t stored_names_find(const struct stored_names *k, uint64_t offset);
struct kept_function stored_names_function(const struct stored_names *k, uint32_t number);
/* All function numbers are less than this. */
uint32_t stored_names_count(const struct stored_names *k);

#endif
