/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/account/rates.h"

static uint64_t asked_ns(const struct recording *r)
{
	uint16_t main_attr = recording_main_attr(r);

	if (main_attr >= r->attrs.count)
		return 0;
	if (r->attrs.items[main_attr].period_ns)
		return r->attrs.items[main_attr].period_ns;
	/* A counter has a frequency: the period is about this long. */
	return r->attrs.items[main_attr].frequency_hz
	               ? UINT64_C(1000000000) / r->attrs.items[main_attr].frequency_hz
	               : 0;
}

static void add(rate_list *rows, uint64_t from_ns, uint64_t period_ns, enum rate_reason reason)
{
	/* If several changes come before the start or at the same time, the last one applies. */
	if (rows->count && vec_last(rows)->from_ns >= from_ns)
		*vec_last(rows) = (struct rate_row){.from_ns = vec_last(rows)->from_ns,
		                                    .period_ns = period_ns,
		                                    .reason = reason};
	else
		vec_push(rows, (struct rate_row){.from_ns = from_ns,
		                                 .period_ns = period_ns,
		                                 .reason = reason});
}

bool rate_fell_behind(const struct recording *r, const struct account_rate *rate)
{
	/* The recorder did not fall behind if its buffers were never more than half full. */
	return !rate->budget && (!rate->unknown || !r->account.cpus.count || buffers_were_short(r));
}

uint64_t rates_slowed(const struct recording *r, uint64_t *slowest_ns)
{
	uint16_t main_attr = recording_main_attr(r);
	uint64_t now_ns = main_attr < r->attrs.count ? r->attrs.items[main_attr].period_ns : 0;
	uint64_t slowed = 0;

	*slowest_ns = now_ns;
	vec_each (rate, &r->account.rates) {
		bool behind = rate->period_ns > now_ns && rate_fell_behind(r, rate);
		uint64_t longest_ns = rate->changes ? rate->slowest_ns
		                      : behind      ? rate->period_ns
		                                    : 0;

		slowed += rate->changes ? rate->slowed : behind;
		now_ns = rate->period_ns;
		if (longest_ns > *slowest_ns)
			*slowest_ns = longest_ns;
	}
	return slowed;
}

static enum rate_reason reason_of(const struct recording *r, const struct account_rate *rate,
                                  uint64_t asked)
{
	if (rate->period_ns <= asked)
		return RATE_ASKED;
	return rate_fell_behind(r, rate) ? RATE_BEHIND : RATE_BUDGET;
}

void rates_of(const struct recording *r, rate_list *rows)
{
	const struct account *a = &r->account;
	uint64_t asked = asked_ns(r), whole = a->end_ns > a->start_ns ? a->end_ns - a->start_ns : 0;

	if (!a->rates.count || !whole)
		return;
	add(rows, 0, asked, RATE_ASKED);
	vec_each (rate, &a->rates) {
		uint64_t from = rate->time_ns > a->start_ns ? rate->time_ns - a->start_ns : 0;

		if (from < whole)
			add(rows, from, rate->period_ns, reason_of(r, rate, asked));
	}
	for (size_t i = 0; i < rows->count; i++) {
		struct rate_row *row = &rows->items[i];

		row->length_ns = (i + 1 < rows->count ? row[1].from_ns : whole) - row->from_ns;
		row->share = (double)row->length_ns / (double)whole;
		row->hz = row->period_ns ? 1e9 / (double)row->period_ns : 0;
	}
}

const char *rate_reason_name(enum rate_reason reason)
{
	switch (reason) {
	case RATE_BUDGET:
		return "budget";
	case RATE_BEHIND:
		return "fell behind";
	default:
		return "as asked";
	}
}

bool buffers_were_short(const struct recording *r)
{
	vec_each (cpu, &r->account.cpus)
		if (cpu->lost_records || cpu->ring_used_max > cpu->ring_bytes / 2)
			return true;
	return false;
}

uint64_t buffer_average(const struct account_cpu *cpu)
{
	return cpu->ring_reads ? cpu->ring_used_sum / cpu->ring_reads : 0;
}
