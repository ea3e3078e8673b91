/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_select: selects the rows of named call paths that a view is about, and the base of
 * shares.
 *
 * symbolized_select() / named_selection_done(). Only comm, pid, tid, image and function of the
 * filter apply, with the same meaning as for samples (filter.h): image and function are compared
 * with the innermost place. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_SELECT_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_SELECT_H

#include "profile/symbolized_profile.h"
#include "view/filter.h"

struct named_selection {
	const struct symbolized_profile *n;
	bool inlines;       /* inlined functions are counted separately */
	VEC(uint32_t) rows; /* in n->rows */
	int64_t all, value; /* sum of the main value over all rows, over the selected rows */
	int64_t base;       /* the denominator of shares */
};

/* -EINVAL if a number is invalid, -ENOENT if the filter needs an attribute that no row has. */
int symbolized_select(struct named_selection *s, const struct symbolized_profile *n,
                      const struct filter *f, bool inlines, struct error *err);
void named_selection_done(struct named_selection *s);

double named_share(const struct named_selection *s, int64_t value);

/* The line in n of a place's innermost function; without `inlines`, of the outermost one. */
uint32_t named_leaf(const struct named_selection *s, uint32_t place);

/* "[none]": the place has no image. */
const char *named_image_name(const struct symbolized_profile *n, uint32_t image, bool brief);
/* Without folders; names in brackets stay whole. */
const char *named_file_short(const char *path);

#endif
