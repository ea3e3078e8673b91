/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_answers: a hostile ClickHouse server, for fuzz targets. Its answers are the input, in the
 * order of the questions, each with its length in two bytes, and arrive in pieces of `piece_bytes`.
 * Set `at` and `left` to the input, and `ask` of the server to answer_next().
 */
#ifndef ASSAY_TESTS_FUZZ_SERVER_ANSWERS_H
#define ASSAY_TESTS_FUZZ_SERVER_ANSWERS_H

#include "store/clickhouse/click_server.h"

static const uint8_t *at;
static size_t left, piece_bytes = 7;

static int answer_next(struct click_server *s, const char *sql, const struct click_map *set,
                       click_receive_fn *receive, void *ctx, struct error *err)
{
	size_t size, piece;
	int status = 0;

	if (left < 2)
		return 0;
	size = at[0] | (size_t)at[1] << 8;
	at += 2;
	left -= 2;
	size = size < left ? size : left;
	left -= size;
	for (; size && !status; at += piece, size -= piece) {
		piece = size < piece_bytes ? size : piece_bytes;
		status = receive ? receive(ctx, at, piece, err) : 0;
	}
	at += size;
	return status;
}

#endif
