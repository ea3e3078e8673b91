/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_names: names of frames of profiles that follow each other, each asked for once.
 *
 *	frame_names_new(name, ctx)
 *	frame_names_begin(n, p)		for each profile
 *	frame_names_want(n, path)	any number of times
 *	frame_names_find(n)		asks for the names that are not known yet
 *	frame_names_of(n, frame)
 *	frame_names_free(n)
 *
 * The same place of the same file has the same name in each profile; names of generated code belong
 * to their process. Memory is bounded: beyond 200,000 frames all are asked for again. Names are
 * valid until the next frame_names_begin(). Nothing fails. One thread. Uses: base, image, profile.
 */
#ifndef ASSAY_STORE_FRAME_NAMES_H
#define ASSAY_STORE_FRAME_NAMES_H

#include "store/store.h"

struct frame_names;

struct frame_names *frame_names_new(store_name_fn *name, void *ctx);
void frame_names_free(struct frame_names *n); /* NULL-safe */
void frame_names_begin(struct frame_names *n, const struct profile *p);
/* The frames of a path of the profile. */
void frame_names_want(struct frame_names *n, uint32_t path);
void frame_names_find(struct frame_names *n);
/* NULL: it has no name, or was not wanted. */
const char *frame_names_of(const struct frame_names *n, uint32_t frame);

#endif
