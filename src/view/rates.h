/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates: how fast a recording was sampled, and when; how full its buffers were.
 *
 * rates_of() turns the account's changes into stretches of time, side by side from the start
 * of sampling to its end; none where the rate was kept. rate_list is freed with vec_done().
 * Times in ns, since sampling began; shares are of the time sampled. Uses: base, event.
 */
#ifndef ASSAY_VIEW_RATES_H
#define ASSAY_VIEW_RATES_H

#include "event/recording.h"

enum rate_reason { RATE_ASKED, RATE_BUDGET, RATE_BEHIND };

struct rate_row {
	uint64_t from_ns, length_ns, period_ns;
	double hz, share;
	enum rate_reason reason;
};

typedef VEC(struct rate_row) rate_list;

void rates_of(const struct recording *r, rate_list *rows);
/* The rate was lowered for want of room in the buffers, not by the budget. */
bool rate_fell_behind(const struct recording *r, const struct account_rate *rate);
/* "budget" */
const char *rate_reason_name(enum rate_reason reason);

/* Of some CPU records were dropped, or its buffer was more than half full. */
bool buffers_were_short(const struct recording *r);
/* In use on average when it was read; 0 also where nobody counted. */
uint64_t buffer_average(const struct account_cpu *cpu);

#endif
