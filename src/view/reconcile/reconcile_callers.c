/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile.h"

#include "base/memory/xalloc.h"

#include <math.h>

/* The time of functions that the sampled program does not have is in their callers. */
static void add_absorbed(const struct reconcile_runs *t, struct reconcile_callers *callers)
{
	for (uint32_t id = 1; id < t->paths.count; id++) {
		uint32_t at = id;

		while (at &&
		       !t->functions.items[t->rows.items[t->paths.items[at].row].function].sampled)
			at = t->paths.items[at].parent;
		if (at && at != id)
			callers[t->paths.items[at].row].absorbed_ns +=
			        t->paths.items[id].cpu_ns / (double)t->count[RECONCILE_COUNTED];
	}
}

/* Compares each pair of caller and callee once. */
static void add_moved(const struct reconcile_runs *t, const double *differences,
                      struct reconcile_callers *callers)
{
	struct path_tree pairs = {0};
	uint32_t count = 0;

	for (uint32_t id = 1; id < t->paths.count; id++) {
		uint32_t parent = t->paths.items[id].parent, callee = t->paths.items[id].row;
		uint32_t caller = t->paths.items[parent].row;

		if (!parent || caller == callee ||
		    path_tree_step(&pairs, caller, callee, count + 1) != count + 1)
			continue;
		count++;
		callers[callee].above_ns += fmax(0, differences[caller]);
		callers[caller].below_ns += fmax(0, -differences[callee]);
	}
	path_tree_done(&pairs);
}

struct reconcile_callers *reconcile_callers_new(const struct reconcile_runs *t,
                                                const double *differences)
{
	struct reconcile_callers *callers = xcalloc(t->rows.count + 1, sizeof(*callers));

	add_absorbed(t, callers);
	add_moved(t, differences, callers);
	return callers;
}
