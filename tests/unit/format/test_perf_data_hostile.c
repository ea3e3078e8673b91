/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Damaged and hostile files: whole records are delivered, and damage is reported with its place
 * (run this with sanitizers).
 */
#include "perf_data_fixture.h"

static const uint64_t chain[] = {CHAIN_CONTEXT_USER, 0x400100, 0x400200};

/* A file of two events and 20 records, with the ids, no features. */
static void make_file(struct buf *file)
{
	struct perf_event_attr attrs[2] = {fixture_clock(), fixture_clock()};
	struct event comm = {.kind = EVENT_COMM, .pid = 1, .tid = 1, .comm = {.name = "name"}};
	struct buf records = {0};

	attrs[1].config = PERF_COUNT_SW_DUMMY;
	fixture_encode(&records, &comm);
	for (uint64_t i = 1; i < 20; i++) {
		struct event e = fixture_sample(i * 10, 0, chain, i % 4);

		fixture_encode(&records, &e);
		if (i % 5 == 0)
			perf_record_finished_round(&records);
	}
	fixture_file(file, attrs, 2, &records);
	buf_done(&records);
}

static void any_length_is_read_within_bounds(void)
{
	struct fixture_read whole;
	struct buf file = {0};
	size_t read = 0, last = 0;

	make_file(&file);
	fixture_read(&whole, file.data, file.size);
	CHECK_EQ(whole.r.samples, 19);
	for (size_t size = 0; size < file.size; size++) {
		struct fixture_read got;

		fixture_read(&got, file.data, size);
		if (got.rc) {
			CHECK(got.err.text[0] && strstr(got.err.text, "test.data"));
			CHECK_EQ(got.begun, 0);
		} else {
			CHECK(got.r.truncated && got.r.warnings.count);
			CHECK(!strncmp(buf_text(&got.text), buf_text(&whole.text), got.text.size));
			CHECK(got.r.samples >= last);
			last = got.r.samples;
			read++;
		}
		fixture_done(&got);
	}
	CHECK_EQ(last, 18); /* all except the truncated record */
	CHECK(read > 100);
	fixture_done(&whole);
	buf_done(&file);
}

static void any_byte_may_be_wrong(void)
{
	static const uint8_t wrong[] = {0x00, 0xff, 0x80, 0x01};
	struct buf file = {0};
	size_t read = 0, refused = 0;

	make_file(&file);
	for (size_t at = 0; at < file.size; at++) {
		for (size_t k = 0; k < sizeof(wrong); k++) {
			char right = file.data[at];
			struct fixture_read got;

			file.data[at] = (char)(wrong[k] == 0x01 ? right ^ 1 : (char)wrong[k]);
			fixture_read(&got, file.data, file.size);
			CHECK(!got.rc || got.err.text[0]);
			read += !got.rc;
			refused += got.rc != 0;
			fixture_done(&got);
			file.data[at] = right;
		}
	}
	CHECK(refused > 0 && read > refused);
	buf_done(&file);
}

static void check_refused(const void *bytes, size_t size, const char *words)
{
	struct fixture_read got;

	fixture_read(&got, bytes, size);
	CHECK(got.rc < 0);
	CHECK_EQ(got.begun + got.ended, 0);
	if (!strstr(got.err.text, words) || !strstr(got.err.text, "test.data")) {
		printf("# \"%s\" lacks \"%s\"\n", got.err.text, words);
		CHECK(!"the sentence does not describe the error");
	}
	fixture_done(&got);
}

static void unreadable_files_are_refused_with_the_reason(void)
{
	struct buf file = {0};
	struct perf_data_header *h;

	check_refused("", 0, "empty");
	check_refused("#!/bin/sh\nexit 0\n", 17, "not a perf.data");
	check_refused("2ELIFREP\0\0\0\0\0\0\0\150", 16, "byte order");
	check_refused("PERFFILE\0\0\0\0\0\0\0\0", 16, "first format");
	check_refused("PERFILE2\150\0\0\0\0\0\0\0", 16, "within its header");
	check_refused("PERFILE2\20\0\0\0\0\0\0\0", 16, "contains no event");
	make_file(&file);
	h = (struct perf_data_header *)(void *)file.data;
	h->attrs.offset = UINT64_MAX - 8;
	check_refused(file.data, file.size, "list of events");
	h->attrs.offset = 0;
	h->attr_size = 8;
	check_refused(file.data, file.size, "list of events");
	buf_done(&file);
}

/* The size of the fifth sample is wrong. */
static void a_record_of_impossible_size_ends_the_reading(void)
{
	static const uint16_t sizes[] = {0, 7, 12, 65535};
	struct perf_event_attr attr = fixture_clock();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct event e = fixture_sample(10, 0, chain, 3);
		struct buf records = {0};
		struct fixture_read got;
		char place[32];
		size_t bad;

		for (int k = 0; k < 4; k++)
			fixture_encode(&records, &e);
		bad = records.size;
		fixture_encode(&records, &e);
		memcpy(records.data + bad + 6, &sizes[i], sizeof(sizes[i]));
		fixture_read_records(&got, &attr, &records);
		CHECK_EQ(got.rc, 0);
		CHECK_EQ(got.r.samples, 4);
		CHECK(got.r.truncated);
		CHECK_EQ(got.ended, 1);
		snprintf(place, sizeof(place), "at offset %zu", got.r.bytes - records.size + bad);
		CHECK(fixture_warned(&got, place) && fixture_warned(&got, "test.data"));
		buf_done(&records);
		fixture_done(&got);
	}
}

static void fields_past_the_end_are_not_read(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct event e = fixture_sample(10, 0, chain, 3);
	struct buf records = {0};
	struct fixture_read got;
	uint64_t deep = UINT64_MAX / 8;

	fixture_encode(&records, &e);
	memcpy(records.data + records.size - 4 * sizeof(deep), &deep, sizeof(deep));
	fixture_record(&records, PERF_RECORD_SAMPLE, 0, NULL, 0);
	fixture_record(&records, PERF_RECORD_MMAP2, 0, NULL, 0);
	fixture_encode(&records, &e);
	fixture_read_records(&got, &attr, &records);
	CHECK_EQ(got.r.samples, 1);
	CHECK_EQ(got.r.unknown_records, 3);
	CHECK(fixture_warned(&got, "has invalid contents"));
	CHECK_EQ(got.r.warnings.count, 2); /* only the first record, and the missing end */
	buf_done(&records);
	fixture_done(&got);
}

/* Few bytes that declare very many ids: each section covers the whole file. */
static void sections_may_overlap_but_not_multiply(void)
{
	struct perf_event_attr attrs[64];
	struct buf records = {0}, file = {0};
	struct fixture_read got;
	struct perf_data_header h;

	for (size_t i = 0; i < 64; i++)
		attrs[i] = fixture_clock();
	fixture_file(&file, attrs, 64, &records);
	memcpy(&h, file.data, sizeof(h));
	for (size_t i = 0; i < 64; i++) {
		struct perf_data_section all = {0, file.size};

		memcpy(file.data + h.attrs.offset + (i + 1) * h.attr_size - sizeof(all), &all,
		       sizeof(all));
	}
	fixture_read(&got, file.data, file.size);
	CHECK_EQ(got.rc, 0);
	CHECK_EQ(got.r.attrs.count, 64);
	CHECK(fixture_warned(&got, "ids of the event"));
	buf_done(&file);
	fixture_done(&got);
}

static void a_damaged_pack_ends_the_reading(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct event e = fixture_sample(10, 0, chain, 3);
	struct buf records = {0};
	struct fixture_read got;

	fixture_encode(&records, &e);
	fixture_record(&records, PERF_USER_COMPRESSED, 0, "no zstd stream!!", 16);
	fixture_encode(&records, &e);
	fixture_read_records(&got, &attr, &records);
	CHECK_EQ(got.rc, 0);
	CHECK_EQ(got.r.samples, 1);
	CHECK(got.r.truncated);
	CHECK_EQ(got.r.warnings.count, 2);
	buf_done(&records);
	fixture_done(&got);
}

static int refuse_event(void *ctx, const struct event *e, struct error *err)
{
	return error_set(err, 5, "enough");
}

static void a_sink_can_end_the_reading(void)
{
	struct fixture_read got = {0};
	struct event_sink sink = {&got, fixture_begin, refuse_event, fixture_end};
	struct recording r;
	struct error err = {0};
	struct buf file = {0};

	make_file(&file);
	recording_init(&r);
	CHECK_EQ(perf_data_read_memory("a", file.data, file.size, NULL, &r, &sink, &err), -5);
	CHECK_STR(err.text, "enough");
	CHECK_EQ(got.begun, 1);
	CHECK_EQ(got.ended, 0);
	recording_done(&r);
	buf_done(&file);
}

static void files_that_cannot_be_recordings(void)
{
	struct fixture_read got;

	fixture_read_file(&got, "/nonexistent/perf.data");
	CHECK_EQ(got.rc, -2);
	CHECK(strstr(got.err.text, "/nonexistent/perf.data"));
	fixture_done(&got);
	fixture_read_file(&got, "/tmp");
	CHECK(got.rc < 0);
	CHECK(strstr(got.err.text, "--threads"));
	fixture_done(&got);
	fixture_read_file(&got, "/dev/zero"); /* must not be read completely */
	CHECK(strstr(got.err.text, "it is a device"));
	fixture_done(&got);
}

int main(void)
{
	RUN(any_length_is_read_within_bounds);
	RUN(any_byte_may_be_wrong);
	RUN(unreadable_files_are_refused_with_the_reason);
	RUN(a_record_of_impossible_size_ends_the_reading);
	RUN(fields_past_the_end_are_not_read);
	RUN(sections_may_overlap_but_not_multiply);
	RUN(a_damaged_pack_ends_the_reading);
	RUN(a_sink_can_end_the_reading);
	RUN(files_that_cannot_be_recordings);
	return check_end();
}
