/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings are read as a recorder reads them, and what comes out is compared with
 * a plain sort of all that went in.
 */
#include "check.h"
#include "event/order.h"

#include <stdlib.h>

enum { CPUS = 7, ROUNDS = 40, RUNS = 50 };

struct out {
	VEC(uint64_t) positions;
	uint64_t fail_at; /* position at which delivery fails; 0: never */
};

static int collect(void *ctx, uint64_t position, struct error *err)
{
	struct out *out = ctx;

	if (out->fail_at && position == out->fail_at)
		return error_set(err, 5, "stop");
	vec_push(&out->positions, position);
	return 0;
}

typedef VEC(struct order_item) item_list;

static int by_time_then_push(const void *a, const void *b)
{
	const struct order_item *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static void push(struct order *o, item_list *all, uint64_t time_ns)
{
	uint64_t position = all->count + 1;

	vec_push(all, (struct order_item){time_ns, position});
	order_push(o, time_ns, position);
}

/* Compares with the oracle; both are freed. */
static void check_sorted(item_list *all, struct out *out)
{
	size_t wrong = 0;

	CHECK_EQ(out->positions.count, all->count);
	qsort(all->items, all->count, sizeof(*all->items), by_time_then_push);
	for (size_t i = 0; i < all->count && i < out->positions.count; i++)
		wrong += all->items[i].position != out->positions.items[i];
	CHECK_EQ(wrong, 0);
	vec_done(all);
	vec_done(&out->positions);
}

/*
 * Events happen at random times, many of them equal; each CPU's ring is read
 * at its own time, later than in the round before.
 */
static void one_recording(unsigned seed)
{
	uint64_t next[CPUS] = {0}, now = 1;
	size_t most = 0, round_most = 0;
	struct order o;
	struct out out = {0};
	item_list all = {0};

	srand(seed);
	order_init(&o);
	for (int round = 0; round < ROUNDS; round++) {
		size_t before = all.count;

		for (int cpu = 0; cpu < CPUS; cpu++) {
			now += rand() % 5;
			while (next[cpu] <= now) {
				push(&o, &all, next[cpu] + 1);
				next[cpu] += rand() % 3 == 0 ? 0 : rand() % 20;
			}
		}
		CHECK_EQ(order_round(&o, collect, &out, NULL), 0);
		if (all.count - before > round_most)
			round_most = all.count - before;
		if (o.items.count > most)
			most = o.items.count;
	}
	CHECK(most <= 2 * round_most);
	CHECK(out.positions.count > 0 && out.positions.count < all.count);
	CHECK_EQ(order_finish(&o, collect, &out, NULL), 0);
	CHECK_EQ(o.late, 0);
	check_sorted(&all, &out);
	order_done(&o);
}

static void recordings_come_out_in_order(void)
{
	for (unsigned seed = 1; seed <= RUNS; seed++)
		one_recording(seed);
}

static void without_rounds_all_is_sorted_at_the_end(void)
{
	struct order o;
	struct out out = {0};
	item_list all = {0};

	order_init(&o);
	srand(1);
	for (int i = 0; i < 5000; i++)
		push(&o, &all, (uint64_t)(rand() % 1000) + 1);
	CHECK_EQ(order_finish(&o, collect, &out, NULL), 0);
	check_sorted(&all, &out);
	order_done(&o);
}

static void a_round_holds_back_what_may_be_overtaken(void)
{
	struct order o;
	struct out out = {0};

	order_init(&o);
	order_push(&o, 10, 1);
	order_push(&o, 30, 2);
	CHECK_EQ(order_round(&o, collect, &out, NULL), 0);
	CHECK_EQ(out.positions.count, 0);
	order_push(&o, 20, 3);
	order_push(&o, 40, 4);
	CHECK_EQ(order_round(&o, collect, &out, NULL), 0);
	CHECK_EQ(out.positions.count, 3);
	CHECK_EQ(out.positions.items[1], 3);
	CHECK_EQ(order_finish(&o, collect, &out, NULL), 0);
	CHECK_EQ(out.positions.count, 4);
	vec_done(&out.positions);
	order_done(&o);
}

static void what_comes_too_late_is_counted_and_delivered(void)
{
	struct order o;
	struct out out = {0};

	order_init(&o);
	order_push(&o, 100, 1);
	CHECK_EQ(order_finish(&o, collect, &out, NULL), 0);
	order_push(&o, 50, 2);
	order_push(&o, 100, 3);
	CHECK_EQ(o.late, 1);
	CHECK_EQ(order_round(&o, collect, &out, NULL), 0);
	CHECK_EQ(out.positions.count, 3);
	CHECK_EQ(out.positions.items[1], 2);
	vec_done(&out.positions);
	order_done(&o);
}

static void a_failing_delivery_ends_it(void)
{
	struct error err = {0};
	struct out out = {.fail_at = 2};
	struct order o;

	order_init(&o);
	for (uint64_t i = 1; i <= 3; i++)
		order_push(&o, i, i);
	CHECK_EQ(order_finish(&o, collect, &out, &err), -5);
	CHECK_STR(err.text, "stop");
	CHECK_EQ(out.positions.count, 1);
	vec_done(&out.positions);
	order_done(&o);
}

static void nothing_in_nothing_out(void)
{
	struct order o;
	struct out out = {0};

	order_init(&o);
	CHECK_EQ(order_round(&o, collect, &out, NULL), 0);
	CHECK_EQ(order_finish(&o, collect, &out, NULL), 0);
	CHECK_EQ(out.positions.count, 0);
	order_done(&o);
}

int main(void)
{
	RUN(recordings_come_out_in_order);
	RUN(without_rounds_all_is_sorted_at_the_end);
	RUN(a_round_holds_back_what_may_be_overtaken);
	RUN(what_comes_too_late_is_counted_and_delivered);
	RUN(a_failing_delivery_ends_it);
	RUN(nothing_in_nothing_out);
	return check_end();
}
