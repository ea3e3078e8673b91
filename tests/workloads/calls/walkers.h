/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walkers: ten functions that call each other, w0() to w9(). onward(DEPTH) runs all call paths
 * through them of this depth: 10, 110, 1110, ... different paths. Each function counts itself;
 * onward() is not counted. Any thread. Uses: truth.h.
 */
#ifndef WALKERS_H
#define WALKERS_H

#include "truth.h"

typedef void walker(unsigned depth);

static walker w0, w1, w2, w3, w4, w5, w6, w7, w8, w9;
static walker *const walkers[10] = {w0, w1, w2, w3, w4, w5, w6, w7, w8, w9};

UNSEEN static inline void onward(unsigned depth)
{
	if (depth)
		for (unsigned i = 0; i < 10; i++)
			walkers[i](depth - 1);
}

#define WALKER(x)                                                                                  \
	static void w##x(unsigned depth)                                                           \
	{                                                                                          \
		CALLED();                                                                          \
		onward(depth);                                                                     \
	}
WALKER(0)
WALKER(1)
WALKER(2)
WALKER(3)
WALKER(4)
WALKER(5)
WALKER(6)
WALKER(7)
WALKER(8)
WALKER(9)

#undef WALKER

#endif
