/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account: what a recording says about itself when it closes: the machine, the
 * events, and the terms of the ledger that only the recorder can measure.
 * Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_ACCOUNT_H
#define ASSAY_SESSION_ACCOUNT_H

#include "session/plan.h"
#include "source/perf/cpu_stat.h"

/* Taken when sampling begins, and again when it ends. */
struct account_mark {
	uint64_t time_ns, wall_ns; /* CLOCK_MONOTONIC, CLOCK_REALTIME */
	uint64_t cpu_ns;           /* of the recorder */
	struct cpu_stats stats;
};

void account_mark_take(struct account_mark *mark, const struct foreign *foreign);
void account_mark_done(struct account_mark *mark);

/* Host, events, clocks: known from the start. */
void account_describe(struct recording *r, const struct plan *plan,
                      const struct session_options *options);
/* The closing terms, up to `end`; of a source that is not disabled, for a snapshot. */
void account_close(struct recording *r, const struct plan *plan, const struct perf_source *source,
                   const struct account_mark *start, const struct account_mark *end);

#endif
