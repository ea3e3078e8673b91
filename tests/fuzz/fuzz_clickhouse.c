/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of a hostile ClickHouse server: a range of a store is fetched and read. The input is a
 * byte (1: sums of several hosts, 2: a service is chosen), and then the answers in the order of the
 * questions, each with its length in two bytes. The version is always right.
 */
#include "server_answers.h"
#include "store/clickhouse/click_fetch.h"
#include "store/sqlite/read/store_reader.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int answer(struct click_server *s, const char *sql, const struct click_map *set,
                  click_receive_fn *receive, void *ctx, struct error *err)
{
	if (!strstr(sql, "store_version"))
		return answer_next(s, sql, set, receive, ctx, err);
	return receive(ctx, "\3\0\0", 4, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct click_server server = {.name = (char *)(uintptr_t) "clickhouse://fuzz/db",
	                              .ask = answer};
	struct store_range range = {.host = "*"};
	struct database db = {0};
	struct store_rows rows = {0};
	struct error err = {0};
	struct profile *p;

	if (!size)
		return 0;
	db.path = xstrdup("fuzz");
	p = profile_new();
	range.sums = bytes[0] & 1;
	range.service = bytes[0] & 2 ? "*" : NULL;
	range.parts = bytes[0] & 4 ? 8 : 0;
	range.version = bytes[0] & 8 ? "*" : NULL;
	at = bytes + 1;
	left = size - 1;
	if (sqlite3_open(":memory:", &db.handle) || schema_create(&db, &err))
		abort();
	if (!click_fetch(&server, &range, &db, &rows, false, &err)) {
		store_reader_database(&db, &range, &rows, range.sums || range.parts, p, &err);
		vec_each (row, &p->rows)
			if (row->path >= p->paths.count || row->event >= p->events.count)
				abort();
	}
	profile_free(p);
	store_rows_done(&rows);
	database_close(&db);
	return 0;
}
