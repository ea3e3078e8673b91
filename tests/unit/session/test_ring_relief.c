/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that are copied out of full rings before they are read.
 */
#include "ring_fixture.h"

/* A sample with a copy of the stack: room for 256 bytes, of which the kernel filled `used`. */
static bool ring_put_stack(struct test_ring *r, uint64_t time_ns, uint64_t used)
{
	struct buf body = {0}, record = {0};
	bool good;

	put_head(&body, time_ns);
	put_registers(&body);
	put_stack(&body, 256, 256, used);
	fixture_record(&record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body.data, body.size);
	good = ring_put(r, &record);
	buf_done(&body);
	buf_done(&record);
	return good;
}

struct relief {
	struct perf_decoder d;
	struct test_ring rings[2];
	struct perf_ring_merge *m;
	uint64_t time, last, put, taken;
	bool puts;
	unsigned seed;
};

static unsigned dice(struct relief *t, unsigned sides)
{
	t->seed = t->seed * 1103515245 + 12345;
	return (t->seed >> 16) % sides;
}

static void put_some(struct relief *t)
{
	for (int i = 0; t->puts && i < 6; i++, t->time++)
		t->put += ring_put_stack(&t->rings[dice(t, 2)], t->time, 1 + t->time % 200);
}

/*
 * The record equals the one written at its time, even after its ring was emptied and filled again.
 */
static void check_record(struct relief *t, struct ring_record *record)
{
	struct event e;

	if (dice(t, 3) == 0) {
		record->bytes = perf_ring_merge_hold(t->m);
		perf_ring_merge_relieve(t->m);
	}
	for (unsigned i = dice(t, 3); i > 0; i--) {
		perf_ring_merge_relieve(t->m);
		put_some(t);
	}
	CHECK_EQ(perf_decoder_decode(&t->d, record->bytes, record->size, &e), PERF_DECODED);
	CHECK(e.time_ns > t->last);
	CHECK_EQ(record->time_ns, e.time_ns);
	CHECK_EQ(e.sample.chain[1], 0xffffffff81000000);
	CHECK_EQ(e.sample.regs[REGS_COUNT - 1], 1000 + REGS_COUNT - 1);
	CHECK_EQ(e.sample.stack_size, 1 + e.time_ns % 200);
	for (size_t i = 0; i < e.sample.stack_size; i++)
		if (e.sample.stack[i] != i)
			CHECK_EQ(e.sample.stack[i], i);
	t->last = e.time_ns;
	t->taken++;
}

/*
 * Whichever records are copied out of the rings, all records are delivered, in order and complete.
 */
static void relieved_rings_come_as_one_stream(void)
{
	struct perf_event_attr attr = stack_attr();
	struct relief t = {.time = 1, .puts = true, .seed = 1};
	struct ring_record record;

	decoder_for(&t.d, &attr);
	t.m = perf_ring_merge_new(&t.d);
	for (size_t i = 0; i < 2; i++) {
		ring_init(&t.rings[i]);
		perf_ring_merge_add(t.m, &t.rings[i].ring, i);
	}
	for (int round = 0; round < 2000; round++) {
		uint64_t until;

		put_some(&t);
		if (dice(&t, 2))
			perf_ring_merge_relieve(t.m);
		until = t.time - 1 - dice(&t, 5);
		perf_ring_merge_begin(t.m);
		for (int i = 0; i < 40 && perf_ring_merge_next(t.m, until, &record); i++)
			check_record(&t, &record);
		perf_ring_merge_end(t.m);
	}
	for (uint64_t until = t.time - 1; t.taken < t.put; until = t.time - 1) {
		perf_ring_merge_begin(t.m);
		while (perf_ring_merge_next(t.m, until, &record))
			check_record(&t, &record);
		perf_ring_merge_end(t.m);
		t.puts = false;
	}
	CHECK(t.put > 10000);
	CHECK_EQ(t.taken, t.put);
	perf_ring_merge_free(t.m);
	perf_decoder_done(&t.d);
}

/*
 * More data than the ring holds: records that are in use stay in the ring, and the others are
 * copied.
 */
static void a_relieved_ring_has_room(void)
{
	struct perf_event_attr attr = stack_attr();
	struct relief t = {.time = 1};
	struct ring_record record;

	decoder_for(&t.d, &attr);
	t.m = perf_ring_merge_new(&t.d);
	ring_init(&t.rings[0]);
	perf_ring_merge_add(t.m, &t.rings[0].ring, 0);
	for (; ring_put_stack(&t.rings[0], t.time, 8); t.time++)
		t.put++;
	perf_ring_merge_begin(t.m);
	CHECK(perf_ring_merge_next(t.m, UINT64_MAX, &record));
	perf_ring_merge_relieve(t.m);
	CHECK(!ring_put_stack(&t.rings[0], t.time, 8));
	perf_ring_merge_hold(t.m);
	perf_ring_merge_relieve(t.m);
	CHECK_EQ(t.rings[0].page.data_tail, t.rings[0].page.data_head);
	for (uint64_t first = t.put; t.put < 2 * first; t.put++)
		CHECK(ring_put_stack(&t.rings[0], t.time++, 8));
	for (t.taken = 1; perf_ring_merge_next(t.m, UINT64_MAX, &record); t.taken++)
		CHECK_EQ(record.time_ns, t.taken + 1);
	perf_ring_merge_end(t.m);
	perf_ring_merge_begin(t.m);
	while (perf_ring_merge_next(t.m, UINT64_MAX, &record))
		CHECK_EQ(record.time_ns, ++t.taken);
	perf_ring_merge_end(t.m);
	CHECK_EQ(t.taken, t.put);
	perf_ring_merge_free(t.m);
	perf_decoder_done(&t.d);
}

/* Old bytes in place of a time, at the end of a record that the kernel made too long. */
static void a_time_in_the_future_holds_up_no_record(void)
{
	static const uint64_t want[] = {10, 10, 15, 20, 30, 30};
	struct event e = {.kind = EVENT_COMM,
	                  .pid = 1,
	                  .tid = 1,
	                  .time_ns = UINT64_C(0x40000000000003),
	                  .comm = {.name = "a"}};
	struct perf_event_attr attr = stack_attr();
	struct relief t = {.time = 1};
	struct ring_record record;
	struct buf comm = {0};
	size_t count = 0;

	decoder_for(&t.d, &attr);
	t.m = perf_ring_merge_new(&t.d);
	for (size_t i = 0; i < 2; i++) {
		ring_init(&t.rings[i]);
		perf_ring_merge_add(t.m, &t.rings[i].ring, i);
	}
	fixture_encode(&comm, &e);
	ring_put_stack(&t.rings[0], 10, 8);
	ring_put(&t.rings[0], &comm);
	ring_put_stack(&t.rings[0], 20, 8);
	ring_put_stack(&t.rings[1], 15, 8);
	ring_put_stack(&t.rings[1], 30, 8);
	ring_put(&t.rings[1], &comm);
	perf_ring_merge_begin(t.m);
	for (; perf_ring_merge_next(t.m, 40, &record) && count < 6; count++)
		CHECK_EQ(record.time_ns, want[count]);
	perf_ring_merge_end(t.m);
	CHECK_EQ(count, 6);
	perf_ring_merge_free(t.m);
	perf_decoder_done(&t.d);
	buf_done(&comm);
}

int main(void)
{
	RUN(relieved_rings_come_as_one_stream);
	RUN(a_relieved_ring_has_room);
	RUN(a_time_in_the_future_holds_up_no_record);
	return check_end();
}
