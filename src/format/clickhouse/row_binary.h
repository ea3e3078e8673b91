/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_binary: rows in ClickHouse's format RowBinary, from and to bytes.
 *
 * A row has no frame of its own: its values follow each other. The columns are given by one letter
 * each: q, d, w, b: a number of 8, 4, 2 or 1 bytes, little endian; s: a text, its length before it
 * as a varint; a: an array of numbers of 8 bytes, t: an array of texts, each with the count before
 * it.
 *
 *	struct row_reader r = row_reader_of(&answer);
 *	while (row_reader_next(&r, "qs", values) == 1) ...
 *
 * A reader checks all lengths against the bytes that are left. Texts and arrays point into the
 * bytes. Stateless otherwise. Any thread.
 *
 * Bytes that arrive in pieces are rows of a stream, which holds no more than the begin of one row:
 *
 *	struct row_stream s = {.letters = "qs", .row = take, .ctx = ctx, .held_max = bytes};
 *	row_stream_add(&s, piece, size, err), ..., row_stream_end(&s, err), row_stream_done(&s)
 *
 * Uses: base.
 */
#ifndef ASSAY_FORMAT_CLICKHOUSE_ROW_BINARY_H
#define ASSAY_FORMAT_CLICKHOUSE_ROW_BINARY_H

#include "base/error.h"
#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct row_value {
	uint64_t number;   /* count of an array, or the number, without its sign */
	const char *bytes; /* text, or the first item of an array; a text has no NUL at its end */
	size_t size;       /* bytes of the text, or of the whole array */
};

struct row_reader {
	const char *at, *end;
};

/* A reader of all bytes of an answer. */
struct row_reader row_reader_of(const struct buf *bytes);
/* 1: a row; 0: the bytes are at their end; -EPROTO: they end within a row, or a length is wrong. */
int row_reader_next(struct row_reader *r, const char *letters, struct row_value *values);

/* `values`: valid in the call. -errno with a sentence ends the stream. */
typedef int row_fn(void *ctx, const struct row_value *values, struct error *err);

enum { ROW_COLUMNS_MAX = 32, ROW_STREAM_BAD = 1 };

struct row_stream {
	const char *letters; /* at most ROW_COLUMNS_MAX */
	row_fn *row;
	void *ctx;
	size_t held_max;
	uint64_t rows;   /* so far */
	struct buf held; /* the begin of a row, which is decoded when it has `wanted` bytes */
	size_t wanted;
};

/* 0; what `row` returned; ROW_STREAM_BAD: a row and a piece are longer than held_max. */
int row_stream_add(struct row_stream *s, const void *bytes, size_t size, struct error *err);
/* After the last piece. ROW_STREAM_BAD: the bytes end within a row. */
int row_stream_end(struct row_stream *s, struct error *err);
void row_stream_done(struct row_stream *s);

/* The next text of an array of texts, from *at; false at its end. */
bool row_value_text(const struct row_value *array, size_t *at, const char **bytes, size_t *size);
/* Item `i` of an array of numbers. */
uint64_t row_value_number(const struct row_value *array, size_t i);
/* The number of a column w as a signed one. */
int64_t row_value_signed_16(const struct row_value *v);

/* Appends one row: numbers as uint64_t or int64_t, texts as const char * (NULL: empty). No a, t. */
void row_put(struct buf *out, const char *letters, ...);
void row_put_count(struct buf *out, size_t count); /* then the items of an array */
void row_put_bytes(struct buf *out, const void *bytes, size_t size); /* a text of any bytes */

#endif
