/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account: the closing record of a recording: the machine, the events, and the terms of the ledger
 * that only the recorder can measure. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_ACCOUNT_H
#define ASSAY_SESSION_ACCOUNT_H

#include "session/plan.h"
#include "session/targets.h"
#include "source/perf/cpu_stat.h"

/* The state of clocks and counters at the start or at the end of sampling. */
struct account_mark {
	uint64_t time_ns, wall_ns; /* CLOCK_MONOTONIC, CLOCK_REALTIME */
	uint64_t cpu_ns;           /* of the recorder */
	struct cpu_stats stats;
};

void account_mark_take(struct account_mark *mark, const struct foreign *foreign);
void account_mark_done(struct account_mark *mark);

/* Fills host, events and clocks, which are known at the start. */
void account_describe(struct recording *r, const struct plan *plan,
                      const struct session_options *options, const struct targets *targets);
/* Fills the closing terms up to `end`. For a snapshot the source is still enabled. */
void account_close(struct recording *r, const struct plan *plan, const struct perf_source *source,
                   const struct account_mark *start, const struct account_mark *end);

#endif
