/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates: the sampling rate of a recording over time, and the fill level of its buffers.
 *
 * rates_of() converts the rate changes of the account to consecutive intervals from the start of
 * sampling to its end; the list is empty if the rate did not change. The caller frees a rate_list
 * with vec_done(). Times are in ns since the start of sampling; shares are of the sampled time.
 * Uses: base, event.
 */
#ifndef ASSAY_VIEW_ACCOUNT_RATES_H
#define ASSAY_VIEW_ACCOUNT_RATES_H

#include "event/recording.h"

enum rate_reason { RATE_ASKED, RATE_BUDGET, RATE_BEHIND };

struct rate_row {
	uint64_t from_ns, length_ns, period_ns;
	double hz, share;
	enum rate_reason reason;
};

typedef VEC(struct rate_row) rate_list;

void rates_of(const struct recording *r, rate_list *rows);
/*
 * How often the rate was lowered because the recorder fell behind, and the longest period that was
 * set for this reason; if there was none, the requested period.
 */
uint64_t rates_slowed(const struct recording *r, uint64_t *slowest_ns);
/* Whether the rate was lowered because the buffers were too full, not because of the budget. */
bool rate_fell_behind(const struct recording *r, const struct account_rate *rate);
/* "budget" */
const char *rate_reason_name(enum rate_reason reason);

/* Whether any CPU dropped records or had its buffer more than half full. */
bool buffers_were_short(const struct recording *r);
/* Average number of bytes in use at a read; 0: none, or not counted. */
uint64_t buffer_average(const struct account_cpu *cpu);

#endif
