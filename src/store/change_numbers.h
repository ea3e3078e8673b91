/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * change_numbers: the figures of a change as the numbers of 64 bits that both engines keep, in the
 * order of the columns from before_ps to q_ppb. Stateless. Nothing fails. Any thread. Uses: base.
 */
#ifndef ASSAY_STORE_CHANGE_NUMBERS_H
#define ASSAY_STORE_CHANGE_NUMBERS_H

#include "store/store.h"

#include <math.h>

#define CHANGE_NUMBERS 6
#define CHANGE_UNKNOWN INT64_MIN /* NULL */

/* NAN and values that are too large are not known. */
static inline int64_t change_number(double value, double unit)
{
	value *= unit;
	return isfinite(value) && fabs(value) < 9e18 ? llrint(value) : CHANGE_UNKNOWN;
}

static inline void change_numbers(const struct store_change *c, int64_t out[CHANGE_NUMBERS])
{
	out[0] = change_number(c->before, 1e3);
	out[1] = change_number(c->after, 1e3);
	out[2] = change_number(c->ratio, 1e6);
	out[3] = change_number(c->low, 1e6);
	out[4] = change_number(c->high, 1e6);
	out[5] = change_number(c->q, 1e9);
	/* Levels and q are always known. */
	for (int i = 0; i < CHANGE_NUMBERS; i++)
		if ((i < 2 || i == 5) && out[i] == CHANGE_UNKNOWN)
			out[i] = 0;
}

#endif
