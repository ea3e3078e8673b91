/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of a hostile ClickHouse server: a range of a store is fetched and read. The input is a
 * byte (1: sums of several hosts, 2: a service is chosen), and then the answers in the order of the
 * questions, each with its length in two bytes. The version is always right.
 */
#include "store/clickhouse/click_fetch.h"
#include "store/sqlite/read/store_reader.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const uint8_t *at;
static size_t left;

static int answer_next(struct click_server *s, const char *sql, const struct click_map *set,
                       struct buf *answer, struct error *err)
{
	size_t size;

	buf_clear(answer);
	if (strstr(sql, "store_version")) {
		buf_add(answer, "\2\0\0", 4);
		return 0;
	}
	if (left < 2)
		return 0;
	size = at[0] | (size_t)at[1] << 8;
	at += 2;
	left -= 2;
	size = size < left ? size : left;
	buf_add(answer, at, size);
	at += size;
	left -= size;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct click_server server = {.name = (char *)(uintptr_t) "clickhouse://fuzz/db",
	                              .ask = answer_next};
	struct store_range range = {.host = "*"};
	struct database db = {0};
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
	if (!click_fetch(&server, &range, &db, &err)) {
		store_reader_database(&db, &range, range.sums || range.parts, p, &err);
		vec_each (row, &p->rows)
			if (row->path >= p->paths.count || row->event >= p->events.count)
				abort();
	}
	profile_free(p);
	database_close(&db);
	return 0;
}
