/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot_functions: the functions with the most samples of a selection, whose instructions are worth
 * being shown. Idle time is left out, since the instruction that halts a CPU says nothing.
 *
 * hot_functions_find() fills `out`, largest first; the caller calls vec_done(). Nothing fails. One
 * thread. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_ANNOTATE_HOT_FUNCTIONS_H
#define ASSAY_VIEW_ANNOTATE_HOT_FUNCTIONS_H

#include "view/filter.h"

struct hot_function {
	const struct symbol *symbol;
	uint64_t samples; /* its own */
};

typedef VEC(struct hot_function) hot_functions;

/* At most `most` functions with at least this share of the samples that are not idle. */
void hot_functions_find(struct view *v, const struct selection *s, double share, size_t most,
                        hot_functions *out);

#endif
