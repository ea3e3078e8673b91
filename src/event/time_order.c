/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/time_order.h"

#include "base/memory/heap.h"

#include <string.h>

void time_order_init(struct time_order *o, const struct time_order_source *source)
{
	*o = (struct time_order){.source = *source};
}

void time_order_done(struct time_order *o)
{
	vec_done(&o->runs);
	memset(o, 0, sizeof(*o));
}

/* A macro, so that runs are not copied for the comparison. */
#define is_before(a, b)                                                                            \
	((a).time_ns < (b).time_ns || ((a).time_ns == (b).time_ns && (a).number < (b).number))

static void close_run(struct time_order *o)
{
	if (!o->open.position)
		return;
	heap_push(&o->runs, o->open, is_before);
	o->open.position = 0;
}

void time_order_push(struct time_order *o, uint64_t time_ns, uint64_t position, uint64_t end)
{
	if (time_ns > o->round_max_ns)
		o->round_max_ns = time_ns;
	if (time_ns < o->delivered_ns)
		o->late++;
	if (!o->open.position || o->open.end != position || time_ns < o->open_last_ns) {
		close_run(o);
		o->open = (struct time_order_run){time_ns, position, end, o->pushed_runs++};
	}
	o->open.end = end;
	o->open_last_ns = time_ns;
}

void time_order_pass(struct time_order *o, uint64_t position, uint64_t end)
{
	if (o->open.position && o->open.end == position)
		o->open.end = end;
}

/* Delivers the first run's first record, and advances to the run's next record. */
static int deliver_one(struct time_order *o, struct error *err)
{
	struct time_order_run *run = o->runs.items;
	int rc;

	if (run->time_ns > o->delivered_ns)
		o->delivered_ns = run->time_ns;
	rc = o->source.deliver(o->source.ctx, run->position, err);
	run->position = o->source.next(o->source.ctx, run->position, run->end, &run->time_ns);
	if (run->position)
		heap_settle(&o->runs, is_before);
	else
		heap_pop(&o->runs, is_before);
	return rc;
}

int time_order_until(struct time_order *o, uint64_t time_ns, struct error *err)
{
	int rc = 0;

	close_run(o);
	/* Records that come too late are delivered at once. */
	if (time_ns < o->delivered_ns)
		time_ns = o->delivered_ns;
	while (!rc && o->runs.count && o->runs.items[0].time_ns <= time_ns)
		rc = deliver_one(o, err);
	return rc;
}

bool time_order_full(const struct time_order *o)
{
	return o->runs.count >= ORDER_RUNS;
}

int time_order_relieve(struct time_order *o, struct error *err)
{
	int rc = 0;

	while (!rc && o->runs.count > ORDER_RUNS / 2)
		rc = deliver_one(o, err);
	return rc;
}

int time_order_round(struct time_order *o, struct error *err)
{
	int rc = time_order_until(o, o->limit_ns, err);

	o->limit_ns = o->round_max_ns;
	return rc;
}

int time_order_finish(struct time_order *o, struct error *err)
{
	o->limit_ns = o->round_max_ns; /* records pushed later with older times are delivered in the
	                                  next round */
	return time_order_until(o, UINT64_MAX, err);
}
