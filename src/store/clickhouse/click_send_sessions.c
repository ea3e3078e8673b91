/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the batch about hosts, sessions and gaps. */
#include "store/clickhouse/click_sender_internal.h"

#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_digest.h"
#include "store/clickhouse/click_schema.h"

static int send_host(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err)
{
	static const char sql[] = "SELECT name, release, arch, cpu, cpus FROM host WHERE id = ?";
	const char *text[4];
	sqlite3_stmt *row;
	int status = click_sender_row(s, sql, id, &row, err);

	*hash = 0;
	if (status == 1) {
		uint64_t cpus = (uint64_t)sqlite3_column_int64(row, 4), contents;

		for (int i = 0; i < 4; i++)
			text[i] = click_sender_text(row, i);
		*hash = click_digest("host", "s", text[0]);
		contents = click_digest("contents", "sssq", text[1], text[2], text[3], cpus);
		if (click_sender_is_new(s, *hash, contents))
			row_put(&s->rows[CLICK_HOSTS], "qssssdq", *hash, text[0], text[1], text[2],
			        text[3], cpus, s->changed);
	}
	sqlite3_reset(row);
	return status < 0 ? status : 0;
}

static int add_notes(struct click_sender *s, int64_t session, struct buf *notes, size_t *count,
                     struct error *err)
{
	char note[256];
	sqlite3_stmt *row;
	int status = click_sender_row(
	        s, "SELECT note FROM session_note WHERE session = ? ORDER BY place", session, &row,
	        err);

	for (*count = 0; status == 1; ++*count) {
		row_put(notes, "s", click_sender_text(row, 0));
		status = database_step(s->db, row, err);
	}
	sqlite3_reset(row);
	if (!status && click_sender_clock_note(s, note, sizeof(note))) {
		row_put(notes, "s", note);
		++*count;
	}
	return status;
}

/* Values of the session's row from `boot` to `record_ns`. */
static void put_session(struct buf *out, sqlite3_stmt *row)
{
	row_put(out, "sqqssssbqqqqqqqq", click_sender_text(row, 1), sqlite3_column_int64(row, 2),
	        click_sender_or_null(row, 3), click_sender_text(row, 4), click_sender_text(row, 5),
	        click_sender_text(row, 6), click_sender_text(row, 7), sqlite3_column_int64(row, 8),
	        sqlite3_column_int64(row, 9), sqlite3_column_int64(row, 10),
	        sqlite3_column_int64(row, 11), sqlite3_column_int64(row, 14),
	        sqlite3_column_int64(row, 15), sqlite3_column_int64(row, 16),
	        sqlite3_column_int64(row, 17), sqlite3_column_int64(row, 18));
}

static int send_events(struct click_sender *s, int64_t session, uint64_t key, struct error *err)
{
	static const char sql[] = "SELECT place, event, type, config, sample_type, period,"
	                          " frequency_hz, period_ns, flags FROM session_event"
	                          " WHERE session = ? ORDER BY place";
	sqlite3_stmt *row;
	int status = click_sender_row(s, sql, session, &row, err);

	while (status == 1) {
		int64_t number[9];
		uint64_t event;

		for (int i = 0; i < 9; i++)
			number[i] = sqlite3_column_int64(row, i);
		status = click_send_event(s, number[1], &event, err);
		if (status)
			break;
		if (click_sender_is_new(s, click_digest("place", "qq", key, number[0]), event))
			row_put(&s->rows[CLICK_SESSION_EVENTS], "qwqqqqqqqq", key, number[0], event,
			        number[2], number[3], number[4], number[5], number[6], number[7],
			        number[8]);
		status = database_step(s->db, row, err);
	}
	sqlite3_reset(row);
	return status;
}

static const char session_sql[] =
        "SELECT s.host, s.boot, s.start_ns, s.end_ns, s.ended, s.version, s.command, s.release,"
        " s.machine_wide, s.clock, s.wall_offset_ns, s.writer, s.process_base, s.thread_base,"
        " b.share_ppm, b.cost_low_ns, b.cost_high_ns, b.cost_samples, b.record_ns"
        " FROM session s LEFT JOIN session_budget b ON b.session = s.id WHERE s.id = ?";

static int add_session(struct click_sender *s, int64_t id, sqlite3_stmt *row,
                       struct click_session *out, struct error *err)
{
	struct buf contents = {0}, notes = {0};
	uint64_t changed;
	size_t count;
	int status = send_host(s, sqlite3_column_int64(row, 0), &out->host, err);

	out->key = click_digest("session", "qsqs", out->host, click_sender_text(row, 1),
	                        sqlite3_column_int64(row, 2), click_sender_text(row, 6));
	out->process_base = sqlite3_column_int64(row, 12);
	out->thread_base = sqlite3_column_int64(row, 13);
	put_session(&contents, row);
	if (!status)
		status = add_notes(s, id, &notes, &count, err);
	if (!status) {
		row_put_count(&contents, count);
		if (notes.size)
			buf_add(&contents, notes.data, notes.size);
		changed = s->changed;
		if (sqlite3_column_int64(row, 3) > (int64_t)changed)
			changed = (uint64_t)sqlite3_column_int64(row, 3);
		if (click_sender_is_new(
		            s, out->key,
		            click_digest("contents", "b", contents.data, contents.size))) {
			row_put(&s->rows[CLICK_SESSIONS], "qq", out->host, out->key);
			buf_add(&s->rows[CLICK_SESSIONS], contents.data, contents.size);
			row_put(&s->rows[CLICK_SESSIONS], "q", changed);
		}
		status = send_events(s, id, out->key, err);
	}
	buf_done(&contents);
	buf_done(&notes);
	return status;
}

/* A session is read once for each batch. */
int click_send_session(struct click_sender *s, int64_t id, const struct click_session **session,
                       struct error *err)
{
	uint64_t place = click_map_get(&s->sessions, (uint64_t)id);
	struct click_session made = {0};
	sqlite3_stmt *row;
	bool added;
	int status = 0;

	if (!place) {
		status = click_sender_row(s, session_sql, id, &row, err);
		if (status == 1)
			status = add_session(s, id, row, &made, err);
		sqlite3_reset(row);
		vec_push(&s->session_list, made);
		place = s->session_list.count;
		*click_map_place(&s->sessions, (uint64_t)id, &added) = place;
	}
	*session = &s->session_list.items[place - 1];
	return status < 0 ? status : 0;
}

int click_send_gaps(struct click_sender *s, struct error *err)
{
	sqlite3_stmt *row;
	int status = database_kept(s->db, "SELECT host, start_ns, end_ns, why FROM gap ORDER BY id",
	                           &row, err);

	while (!status && (status = database_step(s->db, row, err)) == 1) {
		uint64_t start = (uint64_t)sqlite3_column_int64(row, 1);
		uint64_t end = (uint64_t)sqlite3_column_int64(row, 2), host;
		const char *why = click_sender_text(row, 3);

		status = send_host(s, sqlite3_column_int64(row, 0), &host, err);
		if (!status &&
		    click_sender_is_new(s, click_digest("gap", "qqs", host, start, why), end))
			row_put(&s->rows[CLICK_GAPS], "qqqs", host, start, end, why);
	}
	sqlite3_reset(row);
	return status;
}
