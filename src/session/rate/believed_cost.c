/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/believed_cost.h"

#include <math.h>

#define SAME 0.25    /* a difference that is none, as a part of the value */
#define DOUBTFUL 1.5 /* times the value in use */
/* Weight of a new figure, since a few ms are not representative. */
#define WEIGHT 0.5

enum believed_cost_news believed_cost_take(struct believed_cost *b,
                                           const struct on_off_figure *figure)
{
	double ns = figure->ns, before = b->ns, doubted = b->doubted_ns;
	bool first = !b->figure.pairs;

	b->doubted_ns = 0;
	if (ns > DOUBTFUL * before && !(doubted > 0)) {
		b->doubted_ns = ns;
		return BELIEVED_DOUBTED;
	}
	if (ns > DOUBTFUL * before)
		b->ns = fmin(ns, doubted);
	else
		b->ns += (first ? 1 : WEIGHT) * (ns - before);
	b->figure = *figure;
	return !first && fabs(ns - before) < SAME * before ? BELIEVED_SAME : BELIEVED_CHANGED;
}
