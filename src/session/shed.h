/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shed: a recorder that falls behind samples more slowly for a while.
 *
 * Each step halves the rate of all clocks, down to a floor; each quiet while
 * doubles it again. Every change is kept with its time, for the account.
 * shed_init / shed_done; one thread. Times in ns on the recording's clock.
 * Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_SHED_H
#define ASSAY_SESSION_SHED_H

#include "event/recording.h"
#include "session/plan.h"
#include "source/perf_source.h"

struct shed_change {
	unsigned level;    /* the period is the first one times 2^level from then on */
	uint64_t *done_ns; /* by CPU of the source */
};

struct shed {
	const struct plan *plan;
	struct perf_source *source;
	unsigned level, most; /* most: of the floor; 0: the rate is never changed */
	VEC(struct shed_change) changes;
	uint64_t changed_ns, calm_since_ns, patience_ns;
};

void shed_init(struct shed *s, const struct plan *plan, struct perf_source *source);
void shed_done(struct shed *s);

/* After each look at the rings: the fullest one's share, and whether records were lost. */
void shed_look(struct shed *s, double fullest, bool lost, uint64_t now_ns);

/*
 * What a sample stands for that an event opened by us made: of a software clock
 * the kernel goes on saying the period that it was opened with.
 */
uint64_t shed_period(const struct shed *s, size_t event, size_t cpu, uint64_t time_ns,
                     uint64_t recorded);

void shed_account(const struct shed *s, struct account *account);

#endif
