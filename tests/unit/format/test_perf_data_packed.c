/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressed records (perf record -z) are read as plain ones. */
#include "perf_data_fixture.h"

#include <zstd.h>

/* Packs all of `plain` as one stream, divided into records of `piece` bytes. */
static void pack(struct buf *out, const struct buf *plain, size_t piece, bool rounds)
{
	size_t room = ZSTD_compressBound(plain->size);
	char *packed = xmalloc(room);
	size_t size = ZSTD_compress(packed, room, plain->data, plain->size, 1);

	CHECK(!ZSTD_isError(size));
	for (size_t at = 0; at < size; at += piece) {
		fixture_record(out, PERF_USER_COMPRESSED, 0, packed + at,
		               size - at < piece ? size - at : piece);
		if (rounds)
			perf_record_finished_round(out);
	}
	free(packed);
}

static void packed_records_read_as_plain_ones(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf plain = {0};
	struct fixture_read want;

	srand(1);
	for (uint64_t i = 0; i < 20000; i++)
		fixture_add_sample(&plain, 1 + (uint64_t)rand() % 100000, (uint32_t)(i % 4));
	fixture_read_records(&want, &attr, &plain);
	for (size_t piece = 7; piece < 60000; piece *= 20) {
		struct buf packed = {0};
		struct fixture_read got;

		pack(&packed, &plain, piece, false);
		fixture_read_records(&got, &attr, &packed);
		CHECK_EQ(got.r.samples, 20000);
		CHECK(!strcmp(buf_text(&got.text), buf_text(&want.text)));
		buf_done(&packed);
		fixture_done(&got);
	}
	buf_done(&plain);
	fixture_done(&want);
}

/* Unpacked records must be kept until they are delivered, which may be rounds later. */
static void packed_rounds_read_as_plain_ones(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf plain = {0}, packed = {0};
	struct fixture_read want, got;

	srand(2);
	for (uint64_t i = 0; i < 20000; i++)
		fixture_add_sample(&plain, 1000 + i * 10 + (uint64_t)rand() % 500,
		                   (uint32_t)(i % 4));
	fixture_read_records(&want, &attr, &plain);
	pack(&packed, &plain, 4000, true);
	fixture_read_records(&got, &attr, &packed);
	CHECK_EQ(got.r.samples, 20000);
	CHECK_EQ(got.r.out_of_order, 0);
	CHECK(!strcmp(buf_text(&got.text), buf_text(&want.text)));
	buf_done(&plain);
	buf_done(&packed);
	fixture_done(&got);
	fixture_done(&want);
}

/* perf -z writes without padding, so later records have odd addresses. */
static void records_at_odd_places(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0}, plain = {0}, empty = {0};
	struct fixture_read got, want;

	fixture_add_sample(&plain, 10, 1);
	fixture_read_records(&want, &attr, &plain);
	pack(&records, &empty, 100000, false);
	buf_add(&records, plain.data, plain.size);
	CHECK(records.size % 8 != 0);
	fixture_read_records(&got, &attr, &records);
	CHECK_STR(buf_text(&got.text), buf_text(&want.text));
	buf_done(&records);
	buf_done(&plain);
	fixture_done(&got);
	fixture_done(&want);
}

int main(void)
{
	RUN(packed_records_read_as_plain_ones);
	RUN(packed_rounds_read_as_plain_ones);
	RUN(records_at_odd_places);
	return check_end();
}
