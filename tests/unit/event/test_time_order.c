/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings are read as a recorder reads them, and the output is compared with a sort of the whole
 * input.
 */
#include "check.h"
#include "event/time_order.h"

#include <stdlib.h>

enum { CPUS = 7, ROUNDS = 40, RUNS = 50 };

struct item {
	uint64_t time_ns, position;
};

typedef VEC(struct item) item_list;

struct out {
	VEC(uint64_t) positions;
	item_list all;    /* pushed events, each at its index + 1 */
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

/* Events that were pushed with time 0 are not ordered. */
static uint64_t next(void *ctx, uint64_t position, uint64_t end, uint64_t *time_ns)
{
	const struct out *out = ctx;

	while (++position < end) {
		*time_ns = out->all.items[position - 1].time_ns;
		if (*time_ns)
			return position;
	}
	return 0;
}

static void begin(struct time_order *o, struct out *out)
{
	time_order_init(o,
	                &(struct time_order_source){.ctx = out, .deliver = collect, .next = next});
}

static int by_time_then_push(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

/* time 0: an event that is not ordered */
static void push(struct time_order *o, struct out *out, uint64_t time_ns)
{
	uint64_t position = out->all.count + 1;

	vec_push(&out->all, (struct item){time_ns, position});
	if (time_ns)
		time_order_push(o, time_ns, position, position + 1);
	else
		time_order_pass(o, position, position + 1);
}

/* Compares with the oracle; both are freed. */
static void check_sorted(struct out *out)
{
	size_t wrong = 0, untimed = 0;
	item_list *all = &out->all;

	qsort(all->items, all->count, sizeof(*all->items), by_time_then_push);
	while (untimed < all->count && !all->items[untimed].time_ns)
		untimed++;
	CHECK_EQ(out->positions.count, all->count - untimed);
	for (size_t i = untimed; i < all->count && i - untimed < out->positions.count; i++)
		wrong += all->items[i].position != out->positions.items[i - untimed];
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
	uint64_t ring[CPUS] = {0}, now = 1;
	struct time_order o;
	struct out out = {0};
	size_t most = 0;

	srand(seed);
	begin(&o, &out);
	for (int round = 0; round < ROUNDS; round++) {
		for (int cpu = 0; cpu < CPUS; cpu++) {
			now += rand() % 5;
			while (ring[cpu] <= now) {
				push(&o, &out, rand() % 9 ? ring[cpu] + 1 : 0);
				ring[cpu] += rand() % 3 == 0 ? 0 : rand() % 20;
			}
		}
		if (o.runs.count > most)
			most = o.runs.count;
		CHECK_EQ(time_order_round(&o, NULL), 0);
	}
	CHECK(most <= 2 * CPUS);
	CHECK(out.positions.count > 0 && out.positions.count < out.all.count);
	CHECK_EQ(time_order_finish(&o, NULL), 0);
	CHECK_EQ(o.late, 0);
	check_sorted(&out);
	time_order_done(&o);
}

static void recordings_come_out_in_order(void)
{
	for (unsigned seed = 1; seed <= RUNS; seed++)
		one_recording(seed);
}

static void without_rounds_all_is_sorted_at_the_end(void)
{
	struct time_order o;
	struct out out = {0};

	begin(&o, &out);
	srand(1);
	for (int i = 0; i < 5000; i++)
		push(&o, &out, (uint64_t)(rand() % 1000) + 1);
	CHECK_EQ(time_order_finish(&o, NULL), 0);
	check_sorted(&out);
	time_order_done(&o);
}

/* A million records of one ring without a single round: one run. */
static void records_in_order_need_no_memory(void)
{
	struct time_order o;
	struct out out = {0};

	begin(&o, &out);
	for (uint64_t i = 1; i <= 1000000; i++)
		push(&o, &out, i / 3 + 1);
	CHECK_EQ(o.runs.count, 0);
	CHECK_EQ(time_order_finish(&o, NULL), 0);
	CHECK_EQ(o.runs.room, 8);
	check_sorted(&out);
	time_order_done(&o);
}

/* Decreasing times create a run each: the oldest runs are delivered before there are too many. */
static void runs_are_bounded(void)
{
	enum { PUSHED = 2 * ORDER_RUNS };
	struct time_order o;
	struct out out = {0};
	uint64_t relieved = 0;

	begin(&o, &out);
	for (uint64_t i = 0; i < PUSHED; i++) {
		push(&o, &out, PUSHED - i);
		CHECK(o.runs.count <= ORDER_RUNS);
		if (!time_order_full(&o))
			continue;
		CHECK_EQ(time_order_relieve(&o, NULL), 0);
		relieved++;
	}
	CHECK(relieved > 0);
	CHECK(o.late > 0);
	CHECK_EQ(time_order_finish(&o, NULL), 0);
	CHECK_EQ(out.positions.count, PUSHED);
	vec_done(&out.positions);
	vec_done(&out.all);
	time_order_done(&o);
}

static void a_round_delays_records_that_others_may_precede(void)
{
	struct time_order o;
	struct out out = {0};

	begin(&o, &out);
	push(&o, &out, 10);
	push(&o, &out, 30);
	CHECK_EQ(time_order_round(&o, NULL), 0);
	CHECK_EQ(out.positions.count, 0);
	push(&o, &out, 20);
	push(&o, &out, 40);
	CHECK_EQ(time_order_round(&o, NULL), 0);
	CHECK_EQ(out.positions.count, 3);
	CHECK_EQ(out.positions.items[1], 3);
	CHECK_EQ(time_order_finish(&o, NULL), 0);
	CHECK_EQ(out.positions.count, 4);
	check_sorted(&out);
	time_order_done(&o);
}

static void records_that_are_too_late_are_counted_and_delivered(void)
{
	struct time_order o;
	struct out out = {0};

	begin(&o, &out);
	push(&o, &out, 100);
	CHECK_EQ(time_order_finish(&o, NULL), 0);
	push(&o, &out, 50);
	push(&o, &out, 100);
	CHECK_EQ(o.late, 1);
	CHECK_EQ(time_order_round(&o, NULL), 0);
	CHECK_EQ(out.positions.count, 3);
	CHECK_EQ(out.positions.items[1], 2);
	vec_done(&out.positions);
	vec_done(&out.all);
	time_order_done(&o);
}

/* Memory was short: older events that come later are delivered at once. */
static void the_oldest_record_may_be_delivered_early(void)
{
	struct time_order o;
	struct out out = {0};

	begin(&o, &out);
	push(&o, &out, 10);
	push(&o, &out, 40);
	push(&o, &out, 20);
	push(&o, &out, 30);
	CHECK_EQ(time_order_until(&o, 30, NULL), 0);
	CHECK_EQ(out.positions.count, 3);
	CHECK_EQ(o.delivered_ns, 30);
	push(&o, &out, 15);
	push(&o, &out, 30);
	push(&o, &out, 35);
	CHECK_EQ(o.late, 1);
	CHECK_EQ(time_order_round(&o, NULL), 0);
	CHECK_EQ(out.positions.count, 5);
	CHECK_EQ(out.positions.items[3], 5);
	CHECK_EQ(time_order_finish(&o, NULL), 0);
	CHECK_EQ(out.positions.count, 7);
	vec_done(&out.positions);
	vec_done(&out.all);
	time_order_done(&o);
}

static void a_failing_delivery_ends_it(void)
{
	struct error err = {0};
	struct out out = {.fail_at = 2};
	struct time_order o;

	begin(&o, &out);
	for (uint64_t i = 1; i <= 3; i++)
		push(&o, &out, i);
	CHECK_EQ(time_order_finish(&o, &err), -5);
	CHECK_STR(err.text, "stop");
	CHECK_EQ(out.positions.count, 1);
	vec_done(&out.positions);
	vec_done(&out.all);
	time_order_done(&o);
}

static void empty_input_gives_empty_output(void)
{
	struct time_order o;
	struct out out = {0};

	begin(&o, &out);
	CHECK_EQ(time_order_round(&o, NULL), 0);
	CHECK_EQ(time_order_finish(&o, NULL), 0);
	CHECK_EQ(out.positions.count, 0);
	time_order_done(&o);
}

int main(void)
{
	RUN(recordings_come_out_in_order);
	RUN(without_rounds_all_is_sorted_at_the_end);
	RUN(records_in_order_need_no_memory);
	RUN(runs_are_bounded);
	RUN(a_round_delays_records_that_others_may_precede);
	RUN(records_that_are_too_late_are_counted_and_delivered);
	RUN(the_oldest_record_may_be_delivered_early);
	RUN(a_failing_delivery_ends_it);
	RUN(empty_input_gives_empty_output);
	return check_end();
}
