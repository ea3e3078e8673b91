/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * method_costs: what the methods of assay cost on a machine: additional CPU time of the measured
 * programs, for one event.
 *
 * Zeroed, nothing is known. The texts are owned; method_costs_done() frees them. Uses: base.
 */
#ifndef ASSAY_EVENT_METHOD_COSTS_H
#define ASSAY_EVENT_METHOD_COSTS_H

#include "base/statistics/on_off.h"

#include <stdbool.h>
#include <stdint.h>

enum method_cost_kind {
	COST_SAMPLE,       /* a sample of the default clock */
	COST_SAMPLE_CHAIN, /* a sample with a call chain by frame pointers */
	COST_SAMPLE_STACK, /* a sample with a copy of the stack, for unwinding */
	COST_SWITCH,       /* the records of a context switch */
	COST_CALL,         /* a counted call */
	COST_TAG,          /* an event tag: a call has two */
	COST_COUNT
};

struct method_cost {
	double ns, low_ns, high_ns; /* median and quartiles; ns 0: not known */
	char *why;                  /* the reason why it is not known; NULL: none */
};

struct method_costs {
	uint64_t wall_ns; /* when it was measured, since 1970; 0: nothing was measured */
	char *host, *kernel;
	char *clock; /* the event that was sampled, "cpu-clock" */
	struct method_cost items[COST_COUNT];
};

void method_costs_done(struct method_costs *c);

void method_cost_set(struct method_cost *cost, const struct on_off_figure *figure);

/* The name of a cost in files and for programs: "sample", "sample_stack". */
const char *method_cost_key(enum method_cost_kind kind);

#endif
