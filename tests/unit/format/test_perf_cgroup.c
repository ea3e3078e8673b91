/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup of samples, and the records with names of cgroups.
 */
#include "base/memory/buf.h"
#include "check.h"
#include "format/perf/perf_data.h"
#include "format/perf/perf_record.h"

#include <stdlib.h>

static struct perf_event_attr attr_of(uint64_t sample_type)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof(struct perf_event_attr),
	                                .sample_period = 1,
	                                .sample_type = sample_type,
	                                .sample_id_all = 1};
}

static void decoder_of(struct perf_decoder *d, const struct perf_event_attr *attr)
{
	uint64_t id = 5;

	perf_decoder_init(d);
	perf_decoder_add_attr(d, attr, &id, 1);
	perf_decoder_seal(d);
}

static void a_sample_keeps_its_cgroup_and_raw_bytes(void)
{
	struct perf_event_attr attr =
	        attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
	                PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_CGROUP);
	uint64_t chain[] = {CHAIN_CONTEXT_USER, 0x1000, 0x2000};
	struct event e = {.kind = EVENT_SAMPLE, .pid = 7, .tid = 8, .time_ns = 9}, got;
	struct perf_decoder d;
	struct buf out = {0};

	e.sample.ip = 0x1000;
	e.sample.chain = chain;
	e.sample.chain_count = 3;
	e.sample.stack_end = STACK_WHOLE;
	e.sample.raw = (const uint8_t *)"ten bytes";
	e.sample.raw_size = 10;
	e.sample.cgroup = 0x123456789abc;
	CHECK_EQ(perf_record_encode(&out, &attr, 5, &e, NULL), 0);
	decoder_of(&d, &attr);
	CHECK_EQ(perf_decoder_decode(&d, (const uint8_t *)out.data, out.size, &got), PERF_DECODED);
	CHECK_EQ(got.sample.cgroup, 0x123456789abc);
	CHECK_EQ(got.sample.stack_end, STACK_WHOLE);
	CHECK_EQ(got.sample.chain_count, 3);
	CHECK_EQ(got.sample.raw_size, 12); /* with the zeros that align the next field */
	CHECK_STR((const char *)got.sample.raw, "ten bytes");
	CHECK_EQ(got.tid, 8);
	perf_decoder_done(&d);
	buf_done(&out);
}

static void a_cgroup_keeps_its_name(void)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME);
	struct event e = {.kind = EVENT_CGROUP, .pid = -1, .tid = -1, .time_ns = 77}, got;
	struct perf_decoder d;
	struct buf out = {0};

	e.cgroup.id = 4711;
	e.cgroup.path = "/user.slice/a b";
	CHECK_EQ(perf_record_encode(&out, &attr, 5, &e, NULL), 0);
	decoder_of(&d, &attr);
	CHECK_EQ(perf_decoder_decode(&d, (const uint8_t *)out.data, out.size, &got), PERF_DECODED);
	CHECK_EQ(got.kind, EVENT_CGROUP);
	CHECK_EQ(got.cgroup.id, 4711);
	CHECK_STR(got.cgroup.path, "/user.slice/a b");
	CHECK_EQ(got.time_ns, 77);
	CHECK(!got.cgroup.member);
	perf_decoder_done(&d);
	buf_done(&out);
}

/* For a process that exists when the recording begins. */
static void a_process_in_a_cgroup_is_recorded(void)
{
	struct perf_event_attr attr =
	        attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	struct event e = {.kind = EVENT_CGROUP, .pid = 50, .tid = 50}, got;
	struct perf_decoder d;
	struct buf out = {0};

	e.cgroup.id = 4711;
	e.cgroup.path = "/a";
	e.cgroup.member = true;
	CHECK_EQ(perf_record_encode(&out, &attr, 5, &e, NULL), 0);
	decoder_of(&d, &attr);
	CHECK_EQ(perf_decoder_decode(&d, (const uint8_t *)out.data, out.size, &got), PERF_DECODED);
	CHECK_EQ(got.pid, 50);
	CHECK(got.cgroup.member);
	CHECK_STR(got.cgroup.path, "/a");
	perf_decoder_done(&d);
	buf_done(&out);
}

static void put(struct buf *b, uint64_t word)
{
	buf_add(b, &word, sizeof(word));
}

/* A sample of another recorder, with all fields between the chain and the cgroup. */
static struct buf full_sample(bool registers)
{
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE};
	struct buf b = {0};

	buf_add(&b, &h, sizeof(h));
	put(&b, 5);      /* identifier */
	put(&b, 0x1000); /* ip */
	put(&b, 0);      /* call chain */
	put(&b, 11);     /* weight */
	put(&b, 12);     /* data source */
	put(&b, 13);     /* transaction */
	put(&b, registers ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	for (uint64_t i = 0; registers && i < 3; i++)
		put(&b, 100 + i);
	put(&b, 14); /* physical address */
	put(&b, 4711);
	put(&b, 4096); /* page size */
	h.size = (uint16_t)b.size;
	memcpy(b.data, &h, sizeof(h));
	return b;
}

static void fields_before_the_cgroup_are_skipped(void)
{
	struct perf_event_attr attr =
	        attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
	                PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
	                PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
	                PERF_SAMPLE_DATA_PAGE_SIZE);
	struct perf_decoder d;
	struct event got;

	attr.sample_regs_intr = 0x25;
	decoder_of(&d, &attr);
	for (int registers = 0; registers < 2; registers++) {
		struct buf b = full_sample(registers);
		size_t cut = 0;

		CHECK_EQ(perf_decoder_decode(&d, (const uint8_t *)b.data, b.size, &got),
		         PERF_DECODED);
		CHECK_EQ(got.sample.cgroup, 4711);
		/* Truncated at any place, the record is damaged. */
		for (size_t size = 8; size < b.size - 8; size += 8) {
			uint8_t *part = malloc(size);

			memcpy(part, b.data, size);
			cut += perf_decoder_decode(&d, part, size, &got) == PERF_DECODED;
			free(part);
		}
		CHECK_EQ(cut, 0);
		buf_done(&b);
	}
	perf_decoder_done(&d);
}

static void cut_names_are_damaged_or_short(void)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IDENTIFIER);
	struct perf_decoder d;
	struct event got;

	decoder_of(&d, &attr);
	for (size_t size = 8; size < 40; size++) {
		uint8_t *record = calloc(1, size);
		struct perf_event_header h = {.type = PERF_RECORD_CGROUP, .size = (uint16_t)size};
		enum perf_decoded how;

		memset(record, 'x', size);
		memcpy(record, &h, sizeof(h));
		how = perf_decoder_decode(&d, record, size, &got);
		/* Header, number and trailer have 24 bytes. */
		CHECK_EQ(how, size < 24 ? PERF_DECODED_DAMAGED : PERF_DECODED);
		if (how == PERF_DECODED)
			CHECK_EQ(strlen(got.cgroup.path), size - 24);
		free(record);
	}
	perf_decoder_done(&d);
}

int main(void)
{
	RUN(a_sample_keeps_its_cgroup_and_raw_bytes);
	RUN(a_cgroup_keeps_its_name);
	RUN(a_process_in_a_cgroup_is_recorded);
	RUN(fields_before_the_cgroup_are_skipped);
	RUN(cut_names_are_damaged_or_short);
	return check_end();
}
