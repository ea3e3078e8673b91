/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits of a range. A reader of waits alone gets their sums, in the first window of each host; a
 * reader of the store gets those of each window.
 */
#include "store/clickhouse/click_fetch_internal.h"

#include "store/store_wait_columns.h"

#include <inttypes.h>

#define CAUSE_COLUMNS                                                                              \
	"id, service, program, waiter, kind, name, function, released_by, holder, evidence,"       \
	" device, named"

/* The id of a cause, numbered at its first use. */
static int64_t cause_of(struct click_fetch *f, uint64_t hash)
{
	return (int64_t)click_map_number(&f->causes, hash);
}

/* The window of a row; 0: it was not asked for. */
static int64_t window_of(const struct click_fetch *f, uint64_t place)
{
	return (int64_t)click_map_get(f->waits_alone ? &f->first_of_host : &f->more, place);
}

static void put_histogram(const struct row_value *buckets, const struct row_value *counts,
                          struct buf *out)
{
	struct call_times t = {0};
	bool whole = buckets->number == counts->number;

	for (uint64_t i = 0; i < buckets->number && i < counts->number; i++)
		whole &= store_wait_times_bucket(row_value_number(buckets, i),
		                                 row_value_number(counts, i), &t);
	store_wait_times_put(&t, out);
	if (!whole)
		buf_puts(out, STORE_WAIT_TIMES_DAMAGED);
	call_times_done(&t);
}

static int take_wait(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	int64_t window = window_of(f, v[0].number);
	struct row_value text = {0};
	struct buf times = {0};
	int status;

	if (!window)
		return 0;
	put_histogram(&v[11], &v[12], &times);
	text.bytes = buf_text(&times);
	text.size = times.size;
	status = click_fetch_put(
	        f, "INSERT OR REPLACE INTO wait VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", err,
	        "iinnnnnnnnnt", window, cause_of(f, v[1].number), &v[2], &v[3], &v[4], &v[5], &v[6],
	        &v[7], &v[8], &v[9], &v[10], &text);
	buf_done(&times);
	return status;
}

static int take_time(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	int64_t window = window_of(f, v[0].number);

	return window ? click_fetch_put(f,
	                                "INSERT OR REPLACE INTO wait_time VALUES"
	                                " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	                                err, "iinnnnnnnn", window, cause_of(f, v[1].number), &v[2],
	                                &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9])
	              : 0;
}

static int64_t named(struct click_fetch *f, const struct row_value *v)
{
	return v->number ? (int64_t)click_map_number(&f->names, v->number) : 0;
}

static int take_cause(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	return click_fetch_put(
	        f, "INSERT OR REPLACE INTO wait_cause VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	        err, "iiiiiiiiiiin", (int64_t)click_map_get(&f->causes, v[0].number),
	        named(f, &v[1]), named(f, &v[2]), named(f, &v[3]), named(f, &v[4]), named(f, &v[5]),
	        named(f, &v[6]), named(f, &v[7]), named(f, &v[8]), named(f, &v[9]),
	        named(f, &v[10]), &v[11]);
}

/* Columns of sums, each as an aggregate if the server adds up. */
static void put_sums(const struct click_fetch *f, const char *const *columns, size_t count,
                     size_t largest, struct buf *sql)
{
	for (size_t i = 0; i < count; i++)
		if (f->waits_alone)
			buf_addf(sql, ", %s(%s)", i == largest ? "max" : "sum", columns[i]);
		else
			buf_addf(sql, ", %s", columns[i]);
}

static void put_rows(const struct click_fetch *f, const char *table, struct buf *sql)
{
	buf_addf(sql, " FROM %s", table);
	click_fetch_where(f, sql);
	click_server_and_in(f->server, CLICK_OF_SERVICE, &f->chosen_services, sql);
	buf_addf(sql, " AND part GLOBAL IN keys%s", f->waits_alone ? " GROUP BY host, cause" : "");
}

/* The order numbers causes as they were numbered when they were sent first. */
static int fetch_rows(struct click_fetch *f, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_addf(&sql, "SELECT %s, cause", f->waits_alone ? "host" : "part");
	put_sums(f, store_wait_sum_columns, STORE_WAIT_SUMS, STORE_WAIT_MAX, &sql);
	if (f->waits_alone)
		buf_puts(&sql, ", tupleElement(sumMap(buckets, counts) AS m, 1),"
		               " tupleElement(m, 2)");
	else
		buf_puts(&sql, ", buckets, counts");
	put_rows(f, "waits", &sql);
	buf_puts(&sql, " ORDER BY cause FORMAT RowBinary");
	status = click_fetch_rows(f, buf_text(&sql), &f->more, "qqqqqqqqqqqaa", "waits", take_wait,
	                          err);
	buf_clear(&sql);
	buf_addf(&sql, "SELECT %s, cause", f->waits_alone ? "host" : "part");
	put_sums(f, store_wait_time_columns, STORE_TIME_SUMS, STORE_TIME_THREADS, &sql);
	put_rows(f, "wait_times", &sql);
	buf_puts(&sql, " ORDER BY cause FORMAT RowBinary");
	if (!status)
		status = click_fetch_rows(f, buf_text(&sql), &f->more, "qqqqqqqqqq", "wait times",
		                          take_time, err);
	buf_done(&sql);
	return status;
}

int click_fetch_waits(struct click_fetch *f, struct error *err)
{
	int status = fetch_rows(f, err);

	return status || !f->causes.pairs.count
	               ? status
	               : click_fetch_rows(f,
	                                  "SELECT " CAUSE_COLUMNS
	                                  " FROM wait_causes WHERE id GLOBAL IN keys FORMAT "
	                                  "RowBinary",
	                                  &f->causes, "qqqqqqqqqqqb", "causes of waits", take_cause,
	                                  err);
}
