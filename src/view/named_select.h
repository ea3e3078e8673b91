/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_select: which rows of named call paths a view is about, and what shares are of.
 *
 * named_select() / named_selection_done(). Of the filter comm, pid, tid, image and function hold,
 * with the meaning that they have for samples (filter.h): image and function are of the innermost
 * place. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_NAMED_SELECT_H
#define ASSAY_VIEW_NAMED_SELECT_H

#include "profile/named_paths.h"
#include "view/filter.h"

struct named_selection {
	const struct named_paths *n;
	bool inlines;       /* inlined functions stand for themselves */
	VEC(uint32_t) rows; /* in n->rows */
	int64_t all, value; /* the main value of all rows, of those selected */
	int64_t base;       /* what shares are of */
};

/* -EINVAL where a number is none, -ENOENT where no row tells what is asked for. */
int named_select(struct named_selection *s, const struct named_paths *n, const struct filter *f,
                 bool inlines, struct error *err);
void named_selection_done(struct named_selection *s);

double named_share(const struct named_selection *s, int64_t value);

/* The line in n of a place's innermost function, without inlined ones its outermost. */
uint32_t named_leaf(const struct named_selection *s, uint32_t place);

/* "[none]": of none. */
const char *named_image_name(const struct named_paths *n, uint32_t image, bool brief);
/* Without folders; names in brackets stay whole. */
const char *named_file_short(const char *path);

#endif
