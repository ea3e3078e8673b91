/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rate_costs: what samples and other records cost on this machine, for the budget.
 *
 * Each cost is measured before the recording and again while it runs, each minute at first, and
 * less often while it stays the same. A doubted figure, or none, is measured again after seconds.
 * Costs that the kernel does not allow to measure keep their assumed values.
 *
 *	rate_costs_open()	measures for 16 ms and more of CPU time
 *	rate_costs_look()	measures if it is time
 *	rate_costs_close()	NULL-safe
 *
 * Times in ns. One thread. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_RATE_RATE_COSTS_H
#define ASSAY_SESSION_RATE_RATE_COSTS_H

#include "session/plan.h"
#include "session/rate/believed_cost.h"
#include "session/rate/sample_cost.h"

struct rate_costs {
	const struct plan *plan;
	struct sample_cost *probe; /* NULL: the kernel refused */
	struct believed_cost sample, mapping;
	struct believed_cost switched; /* one of the two records of a switch */
	struct believed_cost direct;   /* the same, between two threads of the recording */
	struct believed_cost wait;     /* a sample of --waits */
	uint64_t measured_ns, every_ns;
};

/* `clock`: the event whose samples are measured. */
void rate_costs_open(struct rate_costs *c, const struct plan *plan,
                     const struct perf_source_event *clock, uint64_t now_ns);
void rate_costs_look(struct rate_costs *c, uint64_t now_ns);
void rate_costs_close(struct rate_costs *c);

/* The kernel's records since a moment, by their costs. */
struct rate_records {
	uint64_t switches; /* records of switches, without those of the next row */
	uint64_t direct;   /* records of switches from a thread of the recording to another one */
	uint64_t others;   /* mappings, names, ... */
	uint64_t waits;    /* samples of --waits */
};
double rate_costs_of(const struct rate_costs *c, const struct rate_records *records);

#endif
