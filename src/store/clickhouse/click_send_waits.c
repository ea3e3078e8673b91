/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the batch about waits. */
#include "store/clickhouse/click_sender_internal.h"

#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_digest.h"
#include "store/store_wait_columns.h"

static const char cause_sql[] =
        "SELECT service, program, waiter, kind, name, function, released_by, holder, evidence,"
        " device, named FROM wait_cause WHERE id = ?";

static int add_cause(struct click_sender *s, sqlite3_stmt *row, uint64_t *hash, struct error *err)
{
	uint64_t texts[STORE_WAIT_TEXTS], named = (uint64_t)sqlite3_column_int(row, 10) & 1;
	int64_t ids[STORE_WAIT_TEXTS];
	struct buf *out = &s->rows[CLICK_WAIT_CAUSES];
	int status = 0;

	for (int i = 0; i < STORE_WAIT_TEXTS; i++)
		ids[i] = sqlite3_column_int64(row, i);
	for (int i = 0; !status && i < STORE_WAIT_TEXTS; i++)
		status = click_send_name(s, ids[i], &texts[i], err);
	if (status)
		return status;
	*hash = click_digest("cause", "bq", texts, sizeof(texts), named);
	if (!click_sender_is_new(s, *hash, 1))
		return 0;
	row_put(out, "q", *hash);
	for (int i = 0; i < STORE_WAIT_TEXTS; i++)
		row_put(out, "q", texts[i]);
	row_put(out, "b", named);
	return 0;
}

/* 1, and the hash of the cause; 0: there is none, or -errno. */
static int send_cause(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err)
{
	sqlite3_stmt *row;
	bool added;
	int status;

	*hash = click_map_get(&s->causes, (uint64_t)id);
	if (*hash)
		return 1;
	status = click_sender_row(s, cause_sql, id, &row, err);
	if (status == 1)
		status = add_cause(s, row, hash, err);
	sqlite3_reset(row);
	if (status || !*hash)
		return status;
	*click_map_place(&s->causes, (uint64_t)id, &added) = *hash;
	return 1;
}

/* The values in the key of a row: service, host, time, part, cause. */
static void put_key(struct buf *out, const struct click_window *w, uint64_t service, uint64_t cause)
{
	row_put(out, "qqdqq", service, w->session->host, w->time_s, w->part, cause);
}

/* A damaged histogram gets a bucket that does not exist, so that readers report it too. */
static void put_histogram(struct buf *out, const char *text)
{
	struct call_times t = {0};
	bool damaged = !store_wait_times_add(text, &t);

	row_put_count(out, t.buckets.count + damaged);
	vec_each (b, &t.buckets)
		row_put(out, "q", (uint64_t)b->bucket);
	if (damaged)
		row_put(out, "q", UINT64_MAX);
	row_put_count(out, t.buckets.count + damaged);
	vec_each (b, &t.buckets)
		row_put(out, "q", b->count);
	if (damaged)
		row_put(out, "q", UINT64_C(1));
	call_times_done(&t);
}

static const char wait_sql[] =
        "SELECT w.cause, c.service, w.count, w.blocked_ns, w.runnable_ns, w.preempted_ns,"
        " w.other_ns, w.no_stack_ns, w.lost_ns, w.no_waker_ns, w.max_ns, w.times FROM wait w"
        " JOIN wait_cause c ON c.id = w.cause WHERE w.window = ? ORDER BY c.service, w.cause";
static const char time_sql[] =
        "SELECT t.cause, c.service, t.threads, t.wall_ns, t.oncpu_ns, t.unseen_ns, t.before_ns,"
        " t.wakings, t.beyond, t.coarse FROM wait_time t JOIN wait_cause c ON c.id = t.cause"
        " WHERE t.window = ? ORDER BY c.service, t.cause";

static int send_rows(struct click_sender *s, const struct click_window *w, const char *sql,
                     struct buf *out, int sums, bool histogram, struct error *err)
{
	sqlite3_stmt *row;
	int status = click_sender_row(s, sql, w->id, &row, err);

	while (status == 1) {
		uint64_t cause, service;

		status = send_cause(s, sqlite3_column_int64(row, 0), &cause, err);
		if (status == 1)
			status = click_send_name(s, sqlite3_column_int64(row, 1), &service, err);
		if (status)
			break;
		put_key(out, w, service, cause);
		for (int i = 0; i < sums; i++)
			row_put(out, "q", sqlite3_column_int64(row, 2 + i));
		if (histogram)
			put_histogram(out, click_sender_text(row, 2 + sums));
		status = database_step(s->db, row, err);
	}
	sqlite3_reset(row);
	return status;
}

int click_send_waits(struct click_sender *s, struct click_window *w, struct error *err)
{
	struct buf *waits = &s->rows[CLICK_WAITS], *times = &s->rows[CLICK_WAIT_TIMES];
	size_t wait_bytes = waits->size, time_bytes = times->size;
	int status = send_rows(s, w, wait_sql, waits, STORE_WAIT_SUMS, true, err);

	if (!status)
		status = send_rows(s, w, time_sql, times, STORE_TIME_SUMS, false, err);
	w->has_waits = waits->size > wait_bytes;
	w->has_wait_times = times->size > time_bytes;
	return status;
}
