/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_cost: what the kernel's function tracer costs a call, measured on the
 * very machine just before it is put to use.
 *
 * graph_cost_native() before the tracer is there: a system call that does next
 * to nothing, again and again. graph_cost_measure() once this process is
 * followed: the same, traced. What it takes longer, by the functions in it, is
 * the cost of a call; the part that falls between a call's own two records is
 * what the quickest function without callees takes (inner), the rest is its
 * caller's (outer). Both are those of warm caches: elsewhere a call costs more,
 * and that remains in the figures. Times are
 * ns; 0 or -errno. Nothing is held. One thread, the one that is traced. Uses:
 * base, event, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_GRAPH_COST_H
#define ASSAY_LAUNCH_CALLS_GRAPH_COST_H

#include "source/tracefs/function_graph.h"

struct graph_cost {
	double inner_ns, outer_ns;
	double inner_error_ns, outer_error_ns; /* halves of how far repetitions lie apart; NAN */
	bool known;
};

/* ns of one call. */
double graph_cost_native(void);

/* Not known where system calls of ours show too few functions, or their records were lost. */
int graph_cost_measure(struct graph_cost *cost, struct function_graph *source, double native_ns,
                       struct error *err);

#endif
