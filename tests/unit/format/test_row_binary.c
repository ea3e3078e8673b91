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

static int take_row(void *ctx, const struct row_value *v, struct error *err)
{
	struct buf *again = ctx;

	row_put(again, "qdwb", v[0].number, v[1].number, v[2].number, v[3].number);
	row_put_bytes(again, v[4].bytes, v[4].size);
	row_put_count(again, v[5].number);
	buf_add(again, v[5].bytes, v[5].size);
	row_put_count(again, v[6].number);
	buf_add(again, v[6].bytes, v[6].size);
	return again->size > 800 ? -ECANCELED : 0;
}

/* Pieces in memory of their own, likewise. */
static int pass_pieces(const struct buf *b, size_t size, size_t piece_bytes, struct row_stream *s)
{
	int status = 0;

	for (size_t at = 0; !status && at < size; at += piece_bytes) {
		size_t some = size - at < piece_bytes ? size - at : piece_bytes;
		char *piece = malloc(some);

		memcpy(piece, b->data + at, some);
		status = row_stream_add(s, piece, some, NULL);
		free(piece);
	}
	return status ? status : row_stream_end(s, NULL);
}

static void rows_are_the_same_in_pieces_of_any_size(void)
{
	struct buf b = {0}, again = {0};
	size_t one;

	put_row(&b);
	one = b.size;
	put_row(&b);
	put_row(&b);
	for (size_t piece = 1; piece <= b.size; piece++) {
		struct row_stream s = {letters, take_row, &again, .held_max = 4 * one};

		buf_clear(&again);
		CHECK_EQ(pass_pieces(&b, b.size, piece, &s), 0);
		CHECK_EQ(s.rows, 3);
		CHECK(again.size == b.size && !memcmp(again.data, b.data, b.size));
		row_stream_done(&s);
		/* Bytes that end within a row, and a row that stops the stream. */
		s = (struct row_stream){letters, take_row, &again, .held_max = 4 * one};
		buf_clear(&again);
		CHECK_EQ(pass_pieces(&b, b.size - 1, piece, &s), ROW_STREAM_BAD);
		CHECK_EQ(s.rows, 2);
		row_stream_done(&s);
		s = (struct row_stream){letters, take_row, &again, .held_max = 4 * one};
		buf_pad(&again, 'x', 800 - again.size);
		CHECK_EQ(pass_pieces(&b, b.size, piece, &s), -ECANCELED);
		CHECK_EQ(s.rows, 1);
		row_stream_done(&s);
	}
	buf_done(&again);
	buf_done(&b);
}

static void a_row_without_end_is_not_held(void)
{
	struct row_stream s = {"s", take_row, NULL, .held_max = 4096};
	char piece[512] = {(char)255, (char)255, (char)255, (char)255, 127};
	int status = 0;

	for (int i = 0; i < 100 && !status; i++)
		status = row_stream_add(&s, piece, sizeof(piece), NULL);
	CHECK_EQ(status, ROW_STREAM_BAD);
	CHECK(s.held.room <= 4096);
	row_stream_done(&s);
}

int main(void)
{
	RUN(rows_are_read_as_written);
	RUN(a_cut_row_is_an_error);
	RUN(lengths_beyond_the_end_are_errors);
	RUN(rows_are_the_same_in_pieces_of_any_size);
	RUN(a_row_without_end_is_not_held);
	return check_end();
}
