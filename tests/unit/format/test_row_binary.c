/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "format/clickhouse/row_binary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "qdwbsat";

static void put_row(struct buf *out)
{
	char text[200];

	memset(text, 'x', sizeof(text));
	row_put(out, "qdwb", UINT64_C(0x1122334455667788), UINT64_C(0xffffffff), (int64_t)-1,
	        UINT64_C(7));
	row_put_bytes(out, text, sizeof(text));
	row_put_count(out, 2);
	row_put(out, "qq", UINT64_C(5), INT64_MIN);
	row_put_count(out, 2);
	row_put(out, "ss", "abc", NULL);
}

static void rows_are_read_as_written(void)
{
	struct buf b = {0};
	struct row_value v[7];
	struct row_reader r;
	const char *text;
	size_t at = 0, size;

	put_row(&b);
	put_row(&b);
	r = (struct row_reader){.at = b.data, .end = b.data + b.size};
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(row_reader_next(&r, letters, v), 1);
		CHECK_EQ(v[0].number, UINT64_C(0x1122334455667788));
		CHECK_EQ(v[1].number, UINT64_C(0xffffffff));
		CHECK_EQ(row_value_signed_16(&v[2]), -1);
		CHECK_EQ(v[3].number, 7);
		CHECK_EQ(v[4].size, 200);
		CHECK_EQ(v[5].number, 2);
		CHECK_EQ(row_value_number(&v[5], 0), 5);
		CHECK_EQ((int64_t)row_value_number(&v[5], 1), INT64_MIN);
	}
	CHECK(row_value_text(&v[6], &at, &text, &size));
	CHECK(size == 3 && !memcmp(text, "abc", 3));
	CHECK(row_value_text(&v[6], &at, &text, &size));
	CHECK_EQ(size, 0);
	CHECK(!row_value_text(&v[6], &at, &text, &size));
	CHECK_EQ(row_reader_next(&r, letters, v), 0);
	buf_done(&b);
}

/* In memory of their own, so that sanitizers see a read beyond the end. */
static void a_cut_row_is_an_error(void)
{
	struct buf b = {0};
	struct row_value v[7];

	put_row(&b);
	for (size_t size = 1; size < b.size; size++) {
		char *part = malloc(size);
		struct row_reader r = {.at = part, .end = part + size};

		memcpy(part, b.data, size);
		CHECK_EQ(row_reader_next(&r, letters, v), -EPROTO);
		free(part);
	}
	buf_done(&b);
}

static void lengths_beyond_the_end_are_errors(void)
{
	static const unsigned char huge[16] = {255, 255, 255, 255, 255, 255, 255, 255, 127},
	                           endless[12] = {255, 255, 255, 255, 255, 255,
	                                          255, 255, 255, 255, 255, 255};

	for (const char *letter = "sat"; *letter; letter++) {
		char one[2] = {*letter};
		struct row_value v;
		struct row_reader r = {.at = (const char *)huge,
		                       .end = (const char *)huge + sizeof(huge)};

		CHECK_EQ(row_reader_next(&r, one, &v), -EPROTO);
		r = (struct row_reader){.at = (const char *)endless,
		                        .end = (const char *)endless + sizeof(endless)};
		CHECK_EQ(row_reader_next(&r, one, &v), -EPROTO);
	}
}

int main(void)
{
	RUN(rows_are_read_as_written);
	RUN(a_cut_row_is_an_error);
	RUN(lengths_beyond_the_end_are_errors);
	return check_end();
}
