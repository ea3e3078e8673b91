/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the batch about samples. */
#include "store/clickhouse/click_sender_internal.h"

#include "format/clickhouse/row_binary.h"
#include "store/sqlite/schema.h"

/*
 * The weight of idle rows as a time depends on the ledger of the window: idle_ns is the difference.
 * In this order, values that follow each other are alike, which the server compresses best: weights
 * are sent as the difference from that of samples at the rate of the window.
 */
static const char sample_sql[] =
        "SELECT thread, stack, cpu, mode, event, region, stack_end, samples, weight, runnable_ns,"
        " blocked_ns, " SCHEMA_WEIGHT(
                "(SELECT session FROM window WHERE id = s.window)") " FROM sample s WHERE window = "
                                                                    "?"
                                                                    " ORDER BY event, thread, "
                                                                    "mode, stack_end, stack";

static int put_sample(struct click_sender *s, struct click_window *w, sqlite3_stmt *row,
                      struct error *err)
{
	uint64_t period =
	        w->number[8] > 0 && w->number[8] <= UINT32_MAX ? (uint64_t)w->number[8] : 0;
	uint64_t samples = (uint64_t)sqlite3_column_int64(row, 7);
	uint64_t weight = (uint64_t)sqlite3_column_int64(row, 8);
	const struct click_thread *thread;
	uint64_t stack, event, region;
	int status = click_send_thread(s, w->session, sqlite3_column_int64(row, 0), &thread, err);

	if (!status)
		status = click_send_stack(s, sqlite3_column_int64(row, 1), &stack, err);
	if (!status)
		status = click_send_event(s, sqlite3_column_int64(row, 4), &event, err);
	if (!status)
		status = click_send_image(s, sqlite3_column_int64(row, 5), &region, err);
	if (status)
		return status;
	if (!w->has_samples)
		w->service = thread->service;
	w->has_samples = true;
	row_put(&s->rows[ROWS_SAMPLES], "qqdqqqqwbqqbqqqqqdqq", thread->service, w->session->host,
	        w->time_s, w->part, thread->program, thread->hash, stack,
	        sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3), event, region,
	        sqlite3_column_int64(row, 6), samples, weight - samples * period,
	        sqlite3_column_int64(row, 11) - (int64_t)weight, sqlite3_column_int64(row, 9),
	        sqlite3_column_int64(row, 10), period, thread->version, thread->labels);
	return 0;
}

int click_send_samples(struct click_sender *s, struct click_window *w, struct error *err)
{
	sqlite3_stmt *row;
	int status = click_sender_row(s, sample_sql, w->id, &row, err);

	while (status == 1) {
		status = put_sample(s, w, row, err);
		if (!status)
			status = database_step(s->db, row, err);
	}
	sqlite3_reset(row);
	return status;
}
