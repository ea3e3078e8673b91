/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_select: selects the rows of named call paths that a view is about, and the base of
 * shares.
 *
 * symbolized_select() / named_selection_done(). Only comm, pid, tid, image and function of the
 * filter apply, with the same meaning as for samples (filter.h): image and function are compared
 * with the innermost place. symbolized_select_without() is called after it, if at all. Uses: base,
 * profile, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_SELECT_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_SELECT_H

#include "profile/symbolized_profile.h"
#include "view/groups/without.h"

struct named_selection {
	const struct symbolized_profile *n;
	bool inlines;       /* inlined functions are counted separately */
	VEC(uint32_t) rows; /* in n->rows */
	int64_t all, value; /* sum of the main value over all rows, over the selected rows */
	int64_t base;       /* the denominator of shares */
	struct without without;
	bool *removed; /* per place, and last for paths without a place: true if the own values are
	                  removed; NULL: none are removed */
};

/* -EINVAL if a number is invalid, -ENOENT if the filter needs an attribute that no row has. */
int symbolized_select(struct named_selection *s, const struct symbolized_profile *n,
                      const struct filter *f, bool inlines, struct error *err);
/* Finds the functions and groups of q->without. -ENOENT: no function or group has a name. */
int symbolized_select_without(struct named_selection *s, const struct report_request *q,
                              struct error *err);
/* Whether the own values of a path are removed. */
bool named_is_removed(const struct named_selection *s, uint32_t path);
/* The group of a place's function `line`; *is_kernel as group_rules_name() needs it. Callers are
 * not considered. */
uint16_t named_group(const struct symbolized_profile *n, struct group_rules *rules, uint32_t place,
                     uint32_t line, bool *is_kernel);
/* The same of a function, by its own image. */
uint16_t named_function_group(const struct symbolized_profile *n, struct group_rules *rules,
                              const struct named_function *f, bool *is_kernel);
void named_selection_done(struct named_selection *s);

double named_share(const struct named_selection *s, int64_t value);

/* The line in n of a place's innermost function; without `inlines`, of its outermost function. */
uint32_t named_leaf(const struct named_selection *s, uint32_t place);

/* "[none]": the place has no image. */
const char *named_image_name(const struct symbolized_profile *n, uint32_t image, bool brief);
/* Without folders; names in brackets stay whole. */
const char *named_file_short(const char *path);

#endif
