/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_cost: measures the cost of the kernel's function tracer per call, on this machine,
 * immediately before it is used.
 *
 * graph_cost_native() runs before the tracer is enabled: it repeats a system call with almost no
 * work. graph_cost_measure() repeats it while this process is traced. The difference, divided by
 * the number of traced functions, is the cost of a call. The part between the two records of a
 * call is the time of the fastest function without callees (inner); the rest is added to its
 * caller (outer). Both are for warm caches: otherwise a call costs more, and the difference stays
 * in the results. Times are ns; 0 or -errno. Stateless. One thread, which is traced. Uses: base,
 * event, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_GRAPH_COST_H
#define ASSAY_LAUNCH_CALLS_GRAPH_COST_H

#include "source/tracefs/function_graph.h"

struct graph_cost {
	double inner_ns, outer_ns;
	double inner_error_ns, outer_error_ns; /* half of the range of repetitions; NAN: unknown */
	bool known;
};

/* The time of one call in ns. */
double graph_cost_native(void);

/* `known` is false if the system calls have too few traced functions, or records were lost. */
int graph_cost_measure(struct graph_cost *cost, struct function_graph *source, double native_ns,
                       struct error *err);

#endif
