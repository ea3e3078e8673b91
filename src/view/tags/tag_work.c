/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_work.h"

#include <math.h>

/* Ticks without triggers: the estimate and its bounds. */
struct ticks {
	double is, least, most;
};

/*
 * Between two events, work that takes longer than a trigger hides all of it except the least part;
 * of shorter work it is unknown how much.
 */
static struct ticks ticks_of(const struct tag_report *r, double net, double events)
{
	double tick_ps = 1e12 / (double)r->recording->clock.hz;
	double least = (double)r->recording->trigger.least_ps / tick_ps;
	double most = (double)r->recording->trigger.most_ps / tick_ps;
	double cost = net >= most * events ? least : (least + most) / 2;

	return (struct ticks){net - cost * events, net - most * events, net - least * events};
}

/* The events of rows that are no functions, by their net. */
static double events_of(const struct tag_report *r, const struct tag_row *row)
{
	const struct tag_summary *s = r->summary;
	double rest = (double)s->tags;

	if (!tag_row_is_part(row))
		return (double)row->events;
	vec_each (f, &s->functions)
		rest -= (double)f->events;
	return fmax(rest, 0) * (double)row->net / (double)(s->outside + s->unknown);
}

void tag_work_add(struct tag_report *r)
{
	struct ticks sum = {0};

	vec_each (row, &r->functions.rows)
		row->work = (struct tag_work){NAN, NAN, NAN};
	if (r->devices || !r->recording->trigger.most_ps)
		return;
	vec_each (row, &r->functions.rows) {
		struct ticks t = ticks_of(r, (double)row->net, events_of(r, row));

		sum.is += t.is;
		sum.least += fmax(t.least, 0);
		sum.most += fmax(t.most, 0);
	}
	vec_each (row, &r->functions.rows) {
		struct ticks t = ticks_of(r, (double)row->net, events_of(r, row));
		double others_least = sum.least - fmax(t.least, 0);
		double others_most = sum.most - fmax(t.most, 0);

		if (!(sum.is > 0 && t.least + others_most > 0 && t.most + others_least > 0))
			continue;
		row->work.share = t.is / sum.is;
		row->work.low = t.least / (t.least + others_most);
		row->work.high = t.most / (t.most + others_least);
	}
}

bool tag_work_is_wide(const struct tag_report *r)
{
	vec_each (row, &r->functions.rows)
		if (row->work.high - row->work.low > TAG_WORK_NARROW)
			return true;
	return false;
}

bool tag_work_is_unknown(const struct tag_report *r)
{
	if (r->devices || r->recording->trigger.most_ps)
		return false;
	vec_each (row, &r->functions.rows)
		if (tag_hundredths(row->net, r->run) >= 100 && row->events &&
		    tag_clock_ns(&r->recording->clock, row->net) / row->events < TAG_WORK_LONG_NS)
			return true;
	return false;
}
