/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The base of recording with stacks: registers and stack bytes in samples, also malicious ones;
 * assay's extensions of perf's format; the rings of several CPUs as one stream; and a ledger whose
 * clock changes its rate.
 */
#include "ring_fixture.h"
#include "format/perf/perf_data_feature.h"
#include "profile/ledger/ledger_cpu.h"
#include "session/rate/rate_control.h"
#include "source/perf/perf_events.h"

/* Decodes the body as a sample, in a block of its own at the given misalignment. */
static enum perf_decoded decode(struct perf_decoder *d, const struct buf *body, size_t shift,
                                struct event *e, char **block)
{
	struct buf record = {0};
	enum perf_decoded result;

	fixture_record(&record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body->data, body->size);
	*block = xmalloc(record.size + shift);
	memcpy(*block + shift, record.data, record.size);
	result = perf_decoder_decode(d, (const uint8_t *)*block + shift, record.size, e);
	buf_done(&record);
	return result;
}

static void registers_and_stack_are_found(void)
{
	struct perf_event_attr attr = stack_attr();

	for (size_t shift = 0; shift < 8; shift++) {
		struct perf_decoder d;
		struct buf body = {0};
		struct event e;
		char *block;

		decoder_for(&d, &attr);
		put_head(&body, 5);
		put_registers(&body);
		put_stack(&body, 256, 256, 40);
		CHECK_EQ(decode(&d, &body, shift, &e, &block), PERF_DECODED);
		CHECK_EQ(e.sample.chain_count, 2);
		CHECK_EQ(e.sample.chain[1], 0xffffffff81000000);
		CHECK_EQ(e.sample.regs_abi, PERF_SAMPLE_REGS_ABI_64);
		CHECK_EQ(e.sample.regs_mask, REGS_MASK);
		CHECK_EQ(e.sample.regs[0], 1000);
		CHECK_EQ(e.sample.regs[REGS_COUNT - 1], 1000 + REGS_COUNT - 1);
		CHECK_EQ(e.sample.stack_size, 40);
		CHECK_EQ(e.sample.stack[39], 39);
		free(block);
		buf_done(&body);
		perf_decoder_done(&d);
	}
}

/* A kernel thread: no registers, no stack. */
static void nothing_of_the_user(void)
{
	struct perf_event_attr attr = stack_attr();
	struct perf_decoder d;
	struct buf body = {0};
	struct event e;
	char *block;

	decoder_for(&d, &attr);
	put_head(&body, 5);
	fixture_u64(&body, PERF_SAMPLE_REGS_ABI_NONE);
	fixture_u64(&body, 0);
	CHECK_EQ(decode(&d, &body, 0, &e, &block), PERF_DECODED);
	CHECK(!e.sample.regs && !e.sample.stack && !e.sample.stack_size);
	free(block);
	buf_done(&body);
	perf_decoder_done(&d);
}

/* Fields between the chain and the registers, and after the stack, are skipped. */
static void fields_around_are_skipped(void)
{
	struct perf_event_attr attr = stack_attr();
	struct perf_decoder d;
	struct buf body = {0};
	struct event e;
	char *block;

	attr.sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT |
	                    PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | 1u << 17;
	decoder_for(&d, &attr);
	put_head(&body, 5);
	fixture_u32(&body, 12, 0); /* raw: 12 bytes after its size */
	fixture_u64(&body, 0);
	fixture_u64(&body, 2); /* branches, and where the newest stands */
	fixture_u64(&body, UINT64_MAX);
	for (int i = 0; i < 6; i++)
		fixture_u64(&body, 0xbad);
	put_registers(&body);
	put_stack(&body, 16, 16, 16);
	fixture_u64(&body, 1);
	fixture_u64(&body, 2);
	fixture_u64(&body, 77ull << 32 | PERF_STACK_WORD_MARK | STACK_STITCHED);
	CHECK_EQ(decode(&d, &body, 0, &e, &block), PERF_DECODED);
	CHECK_EQ(e.sample.regs[1], 1001);
	CHECK_EQ(e.sample.stack_size, 16);
	CHECK_EQ(e.sample.stack_end, STACK_STITCHED);
	CHECK_EQ(e.sample.outer, 77);
	free(block);
	buf_done(&body);
	perf_decoder_done(&d);
}

/* Unknown transaction flags, or an unknown end, are ignored. */
static void words_of_other_recorders_are_ignored(void)
{
	static const uint64_t theirs[] = {0, 0x1f, UINT64_MAX, 5ull << 32 | STACK_WHOLE,
	                                  5ull << 32 | PERF_STACK_WORD_MARK | STACK_ENDS};
	struct perf_event_attr attr = fixture_clock();

	attr.sample_type |= PERF_SAMPLE_TRANSACTION;
	for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++) {
		struct perf_decoder d;
		struct buf body = {0};
		struct event e;
		char *block;

		decoder_for(&d, &attr);
		put_head(&body, 5);
		fixture_u64(&body, theirs[i]);
		CHECK_EQ(decode(&d, &body, 0, &e, &block), PERF_DECODED);
		CHECK_EQ(e.sample.stack_end, STACK_END_UNKNOWN);
		CHECK_EQ(e.sample.outer, 0);
		free(block);
		buf_done(&body);
		perf_decoder_done(&d);
	}
}

/*
 * Truncated at any byte, and with sizes beyond the end: reported as damaged, with no access beyond
 * the end.
 */
static void sizes_that_lie(void)
{
	static const uint64_t rooms[] = {257, 1ull << 32, UINT64_MAX, UINT64_MAX - 7};
	struct perf_event_attr attr = stack_attr();
	struct perf_decoder d;
	struct buf body = {0};
	struct event e;
	char *block;
	size_t whole;

	decoder_for(&d, &attr);
	put_head(&body, 5);
	put_registers(&body);
	put_stack(&body, 256, 256, UINT64_MAX);
	whole = body.size;
	CHECK_EQ(decode(&d, &body, 0, &e, &block), PERF_DECODED);
	CHECK_EQ(e.sample.stack_size, 256); /* more than fits is missing */
	free(block);
	for (body.size = 0; body.size < whole; body.size++) {
		CHECK_EQ(decode(&d, &body, 0, &e, &block), PERF_DECODED_DAMAGED);
		free(block);
	}
	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
		buf_clear(&body);
		put_head(&body, 5);
		put_registers(&body);
		put_stack(&body, rooms[i], 256, 256);
		CHECK_EQ(decode(&d, &body, 0, &e, &block), PERF_DECODED_DAMAGED);
		free(block);
	}
	buf_done(&body);
	perf_decoder_done(&d);
}

/* Written records are read unchanged: words, outer stacks before their samples. */
static void own_records_are_read_as_they_were_written(void)
{
	static const uint64_t chain[] = {CHAIN_CONTEXT_USER, 0x400100}, outer[] = {0x1, 0x2, 0x3};
	struct perf_event_attr attr = fixture_clock();
	struct event e = fixture_sample(20, 1, chain, 2), o = e;
	struct fixture_read got;
	struct buf records = {0};
	struct error err = {0};

	attr.sample_type |= PERF_SAMPLE_TRANSACTION;
	o.kind = EVENT_OUTER_STACK;
	o.outer_stack = (struct event_outer_stack){
	        .id = 9, .parent = 4, .addresses = outer, .count = 3, .thread_name = "named"};
	e.sample.outer = 9;
	e.sample.stack_end = STACK_WHOLE;
	CHECK_EQ(perf_record_encode(&records, &attr, 1, &o, &err), 0);
	CHECK_EQ(perf_record_encode(&records, &attr, 1, &e, &err), 0);
	fixture_read_records(&got, &attr, &records);
	CHECK_EQ(got.rc, 0);
	CHECK_STR(buf_text(&got.text),
	          "20 100/101 cpu=1 mode=2 outer stack 9 of 4 1 2 3\n"
	          "20 100/101 cpu=1 mode=2 sample ip=400100 period=1000000 addr=0 "
	          "fffffffffffffe00 400100\n");
	fixture_done(&got);
	buf_done(&records);
}

/* The count of an outer stack may have any value. */
static void outer_stacks_that_lie(void)
{
	static const uint64_t addresses[] = {1, 2}, counts[] = {3, 1ull << 61, UINT64_MAX};
	struct perf_event_attr attr = fixture_clock();

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct event o = {.kind = EVENT_OUTER_STACK, .pid = 1, .tid = 1, .time_ns = 7};
		struct fixture_read got;
		struct buf records = {0};
		struct error err = {0};

		o.outer_stack = (struct event_outer_stack){
		        .id = 1, .addresses = addresses, .count = 2, .thread_name = "x"};
		CHECK_EQ(perf_record_encode(&records, &attr, 1, &o, &err), 0);
		/* Header, ids, the name, the mark and the numbers come before it. */
		memcpy(records.data + 8 + 8 + 8 + 16, &counts[i], sizeof(counts[i]));
		fixture_read_records(&got, &attr, &records);
		CHECK_EQ(got.r.unknown_records, 1);
		CHECK_STR(buf_text(&got.text), "");
		fixture_done(&got);
		buf_done(&records);
	}
}

static void accounts_keep_rates_and_unwinding(void)
{
	struct recording r, back;
	struct buf text = {0};
	uint16_t witness;

	recording_init(&r);
	recording_init(&back);
	r.account.unwind = (struct account_unwind){.samples = 3, .frames = 40, .cpu_ns = 5000};
	vec_push(&r.account.rates, (struct account_rate){.time_ns = 100, .period_ns = 2 * MS});
	vec_push(&r.account.rates, (struct account_rate){.time_ns = 200, .period_ns = MS});
	perf_data_account_encode(&text, &r);
	CHECK(perf_data_account_decode(text.data, text.size, &back.account, &witness));
	CHECK_EQ(back.account.unwind.frames, 40);
	CHECK_EQ(back.account.unwind.cpu_ns, 5000);
	CHECK_EQ(back.account.rates.count, 2);
	CHECK_EQ(back.account.rates.items[0].period_ns, 2 * MS);
	CHECK_EQ(back.account.rates.items[1].time_ns, 200);
	buf_clear(&text);
	buf_puts(&text, "rate time_ns=1 period\n");
	CHECK(!perf_data_account_decode(text.data, text.size, &back.account, &witness));
	buf_done(&text);
	recording_done(&r);
	recording_done(&back);
}

static bool ring_put_sample(struct test_ring *r, uint64_t time_ns, size_t extra)
{
	struct buf body = {0}, record = {0};
	bool good;

	put_head(&body, time_ns);
	buf_pad(&body, '\0', extra * 8);
	fixture_record(&record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body.data, body.size);
	good = ring_put(r, &record);
	buf_done(&body);
	buf_done(&record);
	return good;
}

/*
 * Three rings filled and read many times over: all records come, in order, except those that are
 * too new.
 */
static void rings_come_as_one_stream(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct test_ring rings[3];
	struct perf_decoder d;
	struct perf_ring_merge *m;
	uint64_t time = 1, last = 0, put = 0, taken = 0;
	unsigned seed = 1;

	decoder_for(&d, &attr);
	m = perf_ring_merge_new(&d);
	for (size_t i = 0; i < 3; i++) {
		ring_init(&rings[i]);
		perf_ring_merge_add(m, &rings[i].ring, i);
	}
	for (int round = 0; round < 400; round++) {
		uint64_t until = round < 399 ? time : UINT64_MAX;
		struct ring_record record;

		for (int i = 0; i < 40; i++) {
			seed = seed * 1103515245 + 12345;
			put += ring_put_sample(&rings[(seed >> 16) % 3], time, (seed >> 20) % 30);
			time += (seed >> 8) % 3;
		}
		perf_ring_merge_begin(m);
		while (perf_ring_merge_next(m, until, &record)) {
			uint64_t at = perf_decoder_time(&d, record.bytes, record.size);

			CHECK(at >= last && at <= until && record.time_ns == at);
			last = at;
			taken++;
		}
		perf_ring_merge_end(m);
	}
	CHECK(put > 4000);
	CHECK_EQ(taken, put);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(rings[i].page.data_tail, rings[i].page.data_head);
		CHECK(rings[i].page.data_head > 20 * RING_BYTES);
	}
	perf_ring_merge_free(m);
	perf_decoder_done(&d);
}

/* A record that has no time, or an older one, stays after the record before it. */
static void records_without_time_stay_in_their_place(void)
{
	static const uint64_t times[2][4] = {{10, UINT64_MAX, 7, 30}, {5, 9, 20, 0}};
	static const uint64_t expected[][2] = {{1, 5},  {1, 9},  {0, 10}, {0, 10},
	                                       {0, 10}, {1, 20}, {1, 20}, {0, 30}};
	struct perf_event_attr attr = fixture_clock();
	struct perf_decoder d;
	struct test_ring rings[2];
	struct perf_ring_merge *m;
	struct ring_record record;
	size_t count = 0;

	decoder_for(&d, &attr);
	m = perf_ring_merge_new(&d);
	for (size_t i = 0; i < 2; i++) {
		ring_init(&rings[i]);
		perf_ring_merge_add(m, &rings[i].ring, i);
		for (size_t j = 0; j < 4; j++)
			CHECK(ring_put_sample(&rings[i], times[i][j], 0));
	}
	perf_ring_merge_begin(m);
	for (; perf_ring_merge_next(m, 29, &record) && count < 8; count++) {
		CHECK_EQ(record.cpu, expected[count][0]);
		CHECK_EQ(record.time_ns, expected[count][1]);
	}
	CHECK_EQ(count, 7);
	CHECK(perf_ring_merge_next(m, 30, &record));
	CHECK_EQ(record.time_ns, 30);
	CHECK(!perf_ring_merge_next(m, UINT64_MAX, &record));
	perf_ring_merge_end(m);
	perf_ring_merge_free(m);
	perf_decoder_done(&d);
}

static void rings_report_their_fill_level(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct perf_decoder d;
	struct test_ring r;
	struct perf_ring_merge *m;
	struct ring_record record;

	decoder_for(&d, &attr);
	m = perf_ring_merge_new(&d);
	ring_init(&r);
	perf_ring_merge_add(m, &r.ring, 0);
	CHECK(perf_ring_merge_begin(m) == 0);
	CHECK(!perf_ring_merge_next(m, UINT64_MAX, &record));
	perf_ring_merge_end(m);
	while (ring_put_sample(&r, 5, 20))
		;
	CHECK(perf_ring_merge_begin(m) > 0.9);
	CHECK(!perf_ring_merge_next(m, 4, &record));
	perf_ring_merge_end(m);
	CHECK_EQ(r.page.data_tail, 0); /* no records were read, so none are released */
	CHECK_EQ(r.ring.used_max, r.page.data_head);
	perf_ring_merge_free(m);
	perf_decoder_done(&d);
}

/* A busy CPU at 1 ms, from 100 ms on at 4 ms, from 300 ms on at 1 ms again; 3 + 2 are missing. */
static void a_clock_that_changes_its_pace(void)
{
	struct ledger_cpu_builder b;
	uint64_t start = 1000 * MS;

	ledger_cpu_init(&b, MS, false, start, start + 400 * MS);
	ledger_cpu_switch(&b, start + 1, 7, false, 0);
	for (uint64_t t = 1; t <= 100; t++)
		if (t < 50 || t > 52)
			ledger_cpu_sample(&b, start + t * MS + 6000, false, MS);
	for (uint64_t t = 104; t <= 300; t += 4)
		if (t != 200 && t != 204)
			ledger_cpu_sample(&b, start + t * MS + 300000, false, 4 * MS);
	for (uint64_t t = 301; t < 400; t++)
		ledger_cpu_sample(&b, start + t * MS + 500000, false, MS);
	ledger_cpu_finish(&b, start + 400 * MS);
	CHECK_EQ(b.sums.ticks_seen_busy, 97 + 48 * 4 + 99);
	CHECK_EQ(b.sums.ticks_due_busy - b.sums.ticks_seen_busy, 3 + 2 * 4);
	CHECK_EQ(b.sums.weight_busy, (97 + 48 * 4 + 99) * MS);
	CHECK_EQ(b.sums.ticks_due_idle, 0);
	ledger_cpu_done(&b);
}

static uint64_t level_period(const struct rate_control *s)
{
	return rate_control_period(s, 0, 0, UINT64_MAX, 1);
}

struct rate_control_world {
	struct plan plan;
	struct perf_source *source;
	struct rate_control rate_control;
	uint64_t now;
};

static void world_close(struct rate_control_world *w)
{
	rate_control_done(&w->rate_control);
	perf_source_close(w->source);
	vec_each (event, &w->plan.events)
		vec_done(&event->ids);
	vec_done(&w->plan.events);
}

/* A clock of 1 kHz; false: this machine does not allow one. */
static bool world_open(struct rate_control_world *w)
{
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof(clock),
	                                .config = PERF_COUNT_SW_CPU_CLOCK,
	                                .freq = 1,
	                                .sample_freq = 1000,
	                                .sample_type = FIXTURE_SAMPLE_TYPE,
	                                .disabled = 1,
	                                .exclude_kernel = 1,
	                                .exclude_hv = 1};
	int32_t self = getpid();
	struct perf_source_options options = {
	        .event_count = 1, .tasks = &self, .task_count = 1, .ring_bytes = 4096};
	struct error err = {0};

	*w = (struct rate_control_world){.now = 1000000 * MS};
	vec_push(&w->plan.events,
	         (struct perf_source_event){.attr = clock, .name = "clock", .role = ATTR_CLOCK});
	options.events = w->plan.events.items;
	if (perf_source_open(&w->source, &options, &err)) {
		printf("# not tried: %s\n", err.text);
		vec_done(&w->plan.events);
		return false;
	}
	rate_control_init(&w->rate_control, &w->plan, w->source);
	return true;
}

/* The rate falls while the recorder is behind, but not below the minimum. */
static void check_shedding(struct rate_control_world *w)
{
	struct rate_control *s = &w->rate_control;
	uint64_t early;

	rate_control_look(s, 0.1, false, w->now);
	CHECK_EQ(s->changes.count, 0);
	CHECK_EQ(rate_control_period(s, 0, 0, w->now, 77),
	         77); /* the kernel's value, while it is correct */
	rate_control_look(s, 0.9, false, w->now);
	CHECK_EQ(level_period(s), 2 * MS);
	early = s->changes.items[0].done_ns[0];
	CHECK_EQ(rate_control_period(s, 0, 0, early, 1), MS);
	rate_control_look(s, 0.9, false, w->now + MS); /* records from before the change */
	CHECK_EQ(level_period(s), 2 * MS);
	for (int i = 1; i < 20; i++)
		rate_control_look(s, 0.1, true, w->now += 100 * MS);
	CHECK_EQ(level_period(s), 16 * MS); /* 62 Hz: half of it is below 49 */
}

/* The rate rises again after a quiet time. */
static void check_taking_up(struct rate_control_world *w)
{
	struct rate_control *s = &w->rate_control;

	rate_control_look(s, 0.1, false, w->now + 1000 * MS);
	CHECK_EQ(level_period(s), 16 * MS);
	rate_control_look(s, 0.1, false, w->now += 4000 * MS);
	CHECK_EQ(level_period(s), 8 * MS);
	rate_control_look(s, 0.9, false,
	                  w->now += 100 * MS); /* too early: the next raise comes later */
	CHECK_EQ(level_period(s), 16 * MS);
	rate_control_look(s, 0.1, false, w->now + 4000 * MS);
	CHECK_EQ(level_period(s), 16 * MS);
	for (int i = 0; i < 4; i++)
		rate_control_look(s, 0.1, false, w->now += 7000 * MS);
	CHECK_EQ(level_period(s), MS);
}

static void load_is_shed_and_taken_up_again(void)
{
	struct account account = {0};
	struct rate_control_world w;

	if (!world_open(&w))
		return;
	check_shedding(&w);
	check_taking_up(&w);
	rate_control_account(&w.rate_control, &account);
	CHECK_EQ(account.rates.count, w.rate_control.changes.count);
	CHECK_EQ(account.rates.items[0].period_ns, 2 * MS);
	CHECK_EQ(account.rates.items[0].time_ns, w.rate_control.changes.items[0].done_ns[0]);
	CHECK_EQ(vec_last(&account.rates)->period_ns, MS);
	vec_done(&account.rates);
	world_close(&w);
}

int main(void)
{
	RUN(registers_and_stack_are_found);
	RUN(nothing_of_the_user);
	RUN(fields_around_are_skipped);
	RUN(words_of_other_recorders_are_ignored);
	RUN(sizes_that_lie);
	RUN(own_records_are_read_as_they_were_written);
	RUN(outer_stacks_that_lie);
	RUN(accounts_keep_rates_and_unwinding);
	RUN(rings_come_as_one_stream);
	RUN(records_without_time_stay_in_their_place);
	RUN(rings_report_their_fill_level);
	RUN(load_is_shed_and_taken_up_again);
	RUN(a_clock_that_changes_its_pace);
	return check_end();
}
