/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A natural merge sort: rings are read one after the other, so what is pushed
 * in a round is a few runs that are sorted already, after the run that the
 * round before left. Each pass merges neighbouring runs, so that r runs of n
 * items take n * log2(r) moves.
 */
#include "event/order.h"

#include <stdbool.h>
#include <string.h>

void order_init(struct order *o)
{
	memset(o, 0, sizeof(*o));
}

void order_done(struct order *o)
{
	vec_done(&o->items);
	vec_done(&o->spare);
	order_init(o);
}

void order_push(struct order *o, uint64_t time_ns, uint64_t position)
{
	if (time_ns > o->round_max_ns)
		o->round_max_ns = time_ns;
	if (time_ns < o->delivered_ns)
		o->late++;
	vec_push(&o->items, (struct order_item){time_ns, position});
}

/* The end of the sorted run that begins at `start`. */
static size_t run_end(const struct order_item *items, size_t count, size_t start)
{
	size_t i = start + 1;

	while (i < count && items[i - 1].time_ns <= items[i].time_ns)
		i++;
	return i < count ? i : count;
}

/* Merges [a, b) and [b, end) into `to`; equal times keep their order. */
static void merge(const struct order_item *from, size_t a, size_t b, size_t end,
                  struct order_item *to)
{
	size_t left = a, right = b;

	for (size_t i = a; i < end; i++) {
		bool take_left =
		        right == end || (left < b && from[left].time_ns <= from[right].time_ns);

		to[i] = take_left ? from[left++] : from[right++];
	}
}

/* One pass over all runs; true when one run was left before it. */
static bool merge_pass(struct order *o)
{
	struct order_item *from = o->items.items;
	size_t count = o->items.count;
	size_t middle = run_end(from, count, 0);

	if (middle == count)
		return true;
	vec_reserve(&o->spare, o->items.room);
	for (size_t start = 0; start < count;) {
		size_t end = middle < count ? run_end(from, count, middle) : count;

		merge(from, start, middle, end, o->spare.items);
		start = end;
		middle = start < count ? run_end(from, count, start) : count;
	}
	return false;
}

static void swap_with_spare(struct order *o)
{
	struct order_item *items = o->items.items;
	size_t room = o->items.room;

	o->items.items = o->spare.items;
	o->items.room = o->spare.room;
	o->spare.items = items;
	o->spare.room = room;
}

static void sort(struct order *o)
{
	if (!o->items.count)
		return;
	while (!merge_pass(o))
		swap_with_spare(o);
}

/* Delivers all that is no later than the limit, and keeps the rest, sorted. */
static int deliver_until(struct order *o, uint64_t limit_ns, order_deliver_fn *deliver, void *ctx,
                         struct error *err)
{
	size_t i = 0;
	int rc = 0;

	sort(o);
	for (; i < o->items.count && o->items.items[i].time_ns <= limit_ns && !rc; i++) {
		o->delivered_ns = o->items.items[i].time_ns > o->delivered_ns
		                          ? o->items.items[i].time_ns
		                          : o->delivered_ns;
		rc = deliver(ctx, o->items.items[i].position, err);
	}
	o->items.count -= i;
	if (i && o->items.count)
		memmove(o->items.items, o->items.items + i,
		        o->items.count * sizeof(*o->items.items));
	return rc;
}

int order_round(struct order *o, order_deliver_fn *deliver, void *ctx, struct error *err)
{
	int rc = deliver_until(o, o->limit_ns, deliver, ctx, err);

	o->limit_ns = o->round_max_ns;
	return rc;
}

int order_finish(struct order *o, order_deliver_fn *deliver, void *ctx, struct error *err)
{
	o->limit_ns = o->round_max_ns; /* what is pushed later and is older goes out next */
	return deliver_until(o, UINT64_MAX, deliver, ctx, err);
}
