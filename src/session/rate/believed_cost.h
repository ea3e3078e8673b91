/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * believed_cost: a cost that is measured repeatedly, and its value in use.
 *
 * A figure far above the value in use may be the load of a moment: it is doubted, and used only if
 * the next measurement confirms it, and then the lower of the two is used. So one bad figure lowers
 * no rate. Before the first figure the value is an assumption.
 *
 * Pure arithmetic; nothing to free. Uses: base.
 */
#ifndef ASSAY_SESSION_RATE_BELIEVED_COST_H
#define ASSAY_SESSION_RATE_BELIEVED_COST_H

#include "base/statistics/on_off.h"

#include <stdbool.h>

struct believed_cost {
	double ns;                   /* in use; set to the assumption at first */
	double doubted_ns;           /* the last figure, which was doubted; 0: none */
	struct on_off_figure figure; /* the last one that was not doubted; pairs 0: none */
};

enum believed_cost_news {
	BELIEVED_SAME,    /* about the value in use */
	BELIEVED_CHANGED, /* another value is in use */
	BELIEVED_DOUBTED, /* measure again soon */
};

enum believed_cost_news believed_cost_take(struct believed_cost *b,
                                           const struct on_off_figure *figure);

#endif
