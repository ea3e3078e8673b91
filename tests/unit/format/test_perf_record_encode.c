/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events as records: those that have no form or are too long, and what assay adds to records. */
#include "check.h"
#include "perf_data_fixture.h"

#include "format/perf/perf_record.h"

static void records_that_do_not_fit_are_not_encoded(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct event sample = fixture_sample(1, 0, NULL, 0);
	struct error err = {0};
	struct buf out = {0};
	uint64_t *deep = xcalloc(8200, sizeof(*deep));

	attr.sample_type |= PERF_SAMPLE_WEIGHT;
	CHECK_EQ(perf_record_encode(&out, &attr, 1, &sample, &err), -22);
	attr = fixture_clock();
	sample.sample.chain = deep;
	sample.sample.chain_count = 8200;
	CHECK_EQ(perf_record_encode(&out, &attr, 1, &sample, &err), -7);
	CHECK_EQ(out.size, 0);
	sample.kind = EVENT_READ;
	CHECK_EQ(perf_record_encode(&out, &attr, 1, &sample, &err), -22);
	CHECK_EQ(out.size, 0);
	buf_done(&out);
	free(deep);
}

/* Encodes and decodes an event. */
static struct event there_and_back(const struct perf_event_attr *attr, const struct event *e,
                                   struct perf_decoder *d, struct buf *out)
{
	struct error err = {0};
	uint64_t id = 1;
	struct event back;

	buf_clear(out);
	CHECK_EQ(perf_record_encode(out, attr, id, e, &err), 0);
	CHECK_EQ(out->size % 8, 0);
	perf_decoder_init(d);
	perf_decoder_add_attr(d, attr, &id, 1);
	perf_decoder_seal(d);
	CHECK_EQ(perf_decoder_decode(d, (const uint8_t *)out->data, out->size, &back),
	         PERF_DECODED);
	return back;
}

static void the_name_of_a_descriptor_is_in_a_record_that_names_the_thread(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct event e = {.kind = EVENT_DESCRIPTOR, .pid = 7, .tid = 8, .time_ns = 9}, back;
	struct perf_decoder d;
	struct buf out = {0};

	attr.sample_id_all = 1;
	e.descriptor = (struct event_descriptor){3, "/tmp/a b\n", "worker"};
	back = there_and_back(&attr, &e, &d, &out);
	CHECK_EQ(back.kind, EVENT_DESCRIPTOR);
	CHECK_EQ(back.type, PERF_RECORD_COMM);
	CHECK_EQ(back.pid, 7);
	CHECK_EQ(back.tid, 8);
	CHECK_EQ(back.time_ns, 9);
	CHECK_EQ(back.descriptor.number, 3);
	CHECK_STR(back.descriptor.name, "/tmp/a b\n");
	/* Another reader finds the thread's name after the ids. */
	CHECK_STR((const char *)out.data + 16, "worker");
	perf_decoder_done(&d);
	buf_done(&out);
}

static void labels_are_in_a_record_that_names_the_thread(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct event e = {.kind = EVENT_LABELS, .pid = 7, .tid = 7, .time_ns = 9}, back;
	struct perf_decoder d;
	struct buf out = {0};

	attr.sample_id_all = 1;
	e.labels = (struct event_labels){"a=1\nb=2", "worker", false};
	back = there_and_back(&attr, &e, &d, &out);
	CHECK_EQ(back.kind, EVENT_LABELS);
	CHECK_EQ(back.type, PERF_RECORD_COMM);
	CHECK_EQ(back.pid, 7);
	CHECK_STR(back.labels.text, "a=1\nb=2");
	CHECK(!back.labels.all);
	CHECK_STR((const char *)out.data + 16, "worker");
	perf_decoder_done(&d);
	e.pid = e.tid = 0;
	e.labels = (struct event_labels){"", NULL, true};
	back = there_and_back(&attr, &e, &d, &out);
	CHECK_STR(back.labels.text, "");
	CHECK(back.labels.all);
	CHECK_STR((const char *)out.data + 16, "swapper");
	perf_decoder_done(&d);
	buf_done(&out);
}

static void a_sample_keeps_the_registers_that_the_attr_requests(void)
{
	static const uint64_t regs[] = {10, 11, 12, 13};
	struct perf_event_attr attr = fixture_clock();
	struct event sample = fixture_sample(1, 0, NULL, 0), back;
	struct perf_decoder d;
	struct buf out = {0};

	attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_TRANSACTION;
	attr.sample_regs_user = 1 << 1 | 1 << 5 | 1 << 9;
	sample.sample.regs = regs;
	sample.sample.regs_mask = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 7;
	sample.sample.regs_abi = PERF_SAMPLE_REGS_ABI_64;
	sample.sample.stack_end = STACK_WHOLE;
	back = there_and_back(&attr, &sample, &d, &out);
	CHECK_EQ(back.sample.regs_mask, attr.sample_regs_user);
	CHECK_EQ(back.sample.regs[0], 11);
	CHECK_EQ(back.sample.regs[1], 12);
	CHECK_EQ(back.sample.regs[2], 0);
	CHECK_EQ(back.sample.stack_end, STACK_WHOLE);
	perf_decoder_done(&d);
	/* A kernel thread has none. */
	sample.sample.regs = NULL;
	back = there_and_back(&attr, &sample, &d, &out);
	CHECK(!back.sample.regs);
	CHECK_EQ(back.sample.stack_end, STACK_WHOLE);
	perf_decoder_done(&d);
	buf_done(&out);
}

int main(void)
{
	RUN(records_that_do_not_fit_are_not_encoded);
	RUN(the_name_of_a_descriptor_is_in_a_record_that_names_the_thread);
	RUN(labels_are_in_a_record_that_names_the_thread);
	RUN(a_sample_keeps_the_registers_that_the_attr_requests);
	return check_end();
}
