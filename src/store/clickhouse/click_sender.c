/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_sender_internal.h"

#include "base/memory/xalloc.h"
#include "base/piece.h"
#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_arrival.h"
#include "store/clickhouse/click_digest.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_tables.h"

#include <stdlib.h>
#include <sys/random.h>

#define SECOND UINT64_C(1000000000)
/* Rows that are remembered as sent, and ids that are; 1 to 2 MB each. */
#define SENT_MAX 16384
#define IDS_MAX 32768
#define IDS_TIMES 4 /* ids that are remembered, if one batch of a large machine has more */
#define BATCH_BYTES PIECE_OF(16u << 20) /* of samples; more are sent in several batches */

static const char *const table_names[CLICK_TABLES] = {
        "names",       "images",         "frames",     "stacks",      "events",     "hosts",
        "sessions",    "session_events", "gaps",       "processes",   "threads",    "ledger",
        "wait_causes", "waits",          "wait_times", CLICK_SAMPLES, CLICK_WINDOWS};

struct click_sender *click_sender_new(struct click_server *server, struct database *db)
{
	struct click_sender *s = xcalloc(1, sizeof(*s));

	s->server = server;
	s->db = db;
	return s;
}

void click_sender_live(struct click_sender *s)
{
	s->live = true;
}

void click_sender_to(struct click_sender *s, struct click_server *server)
{
	s->server = server;
}

/* Ids of rows that do not change: they are only read again. */
static void forget_dictionaries(struct click_sender *s)
{
	struct click_map *const maps[] = {&s->names,  &s->images, &s->frames, &s->stacks,
	                                  &s->events, &s->hosts,  &s->causes};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		click_map_done(maps[i]);
	vec_done(&s->stack_list);
	s->ids_at_first = 0;
}

static void bound_memory(struct click_sender *s)
{
	size_t ids = s->frames.pairs.count + s->stacks.pairs.count + s->names.pairs.count;

	if (!s->ids_at_first)
		s->ids_at_first = ids;
	if (ids > IDS_MAX && ids > IDS_TIMES * s->ids_at_first)
		forget_dictionaries(s);
	if (s->sent.pairs.count <= SENT_MAX)
		return;
	/* What the last batch used stays known. */
	click_map_done(&s->sent_before);
	s->sent_before = s->sent;
	s->sent = (struct click_map){0};
}

static void forget_rows(struct click_sender *s)
{
	for (int i = 0; i < CLICK_TABLES; i++)
		buf_done(&s->rows[i]);
}

/* What may change between two batches is read again. */
static void begin_batch(struct click_sender *s)
{
	click_map_done(&s->threads);
	click_map_done(&s->sessions);
	click_map_done(&s->lower);
	s->thread_list.count = s->session_list.count = s->windows.count = 0;
	forget_rows(s);
	if (getrandom(&s->attempt, sizeof(s->attempt), 0) != sizeof(s->attempt))
		s->attempt++;
	bound_memory(s);
}

/* The database may be another one, or has used ids again. */
static void forget_ids(struct click_sender *s)
{
	forget_dictionaries(s);
	click_map_done(&s->threads);
	click_map_done(&s->sessions);
	s->session_list.count = s->thread_list.count = s->nameless.count = 0;
}

/* Ids of processes stay: rows of dictionaries alone have ids that are used again. */
void click_sender_forget(struct click_sender *s)
{
	forget_ids(s);
	click_map_done(&s->sent);
	click_map_done(&s->sent_before);
	click_map_done(&s->known);
	click_map_done(&s->asked);
}

void click_sender_free(struct click_sender *s)
{
	if (!s)
		return;
	click_sender_forget(s);
	click_map_done(&s->living);
	vec_done(&s->session_list);
	vec_done(&s->thread_list);
	vec_done(&s->chain);
	vec_done(&s->nameless);
	vec_done(&s->windows);
	click_map_done(&s->lower);
	forget_rows(s);
	free(s);
}

bool click_sender_is_new(struct click_sender *s, uint64_t hash, uint64_t contents)
{
	bool added;
	uint64_t *known = click_map_place(&s->sent, hash, &added);
	uint64_t last = added ? click_map_get(&s->sent_before, hash) : *known;

	*known = contents;
	return last != contents;
}

int click_sender_row(struct click_sender *s, const char *sql, int64_t id, sqlite3_stmt **statement,
                     struct error *err)
{
	*statement = NULL;
	return database_find(s->db, sql, statement, err, "i", id);
}

const char *click_sender_text(sqlite3_stmt *statement, int column)
{
	const unsigned char *text = sqlite3_column_text(statement, column);

	return text ? (const char *)text : "";
}

int64_t click_sender_or_null(sqlite3_stmt *statement, int column)
{
	return sqlite3_column_type(statement, column) == SQLITE_NULL
	               ? CLICK_NULL
	               : sqlite3_column_int64(statement, column);
}

/* Numbers of a window, from `session` on. */
static const char window_sql[] =
        "SELECT w.session, w.start_ns, w.end_ns, CASE WHEN w.level < 8 THEN w.level ELSE"
        " w.level - 8 END, w.merged, w.samples, w.lost_records,"
        " w.observer_cpu_ns, w.period_ns, w.unobserved_ns, w.wall_offset_ns,"
        " r.window IS NOT NULL, r.slowed_budget_ns, r.slowed_behind_ns, r.taken_ns,"
        " r.taken_of_ns, r.over_ns, r.most_ppm, r.sample_ns, w.process_first, w.process_last"
        " FROM window w LEFT JOIN window_rate r ON r.window = w.id WHERE w.id = ?";

/* The lower halves of the parts of a batch differ. */
static void choose_part(struct click_sender *s, struct click_window *w)
{
	bool added = false;

	while (!added) {
		w->part = click_digest("part", "qq", w->key, s->attempt++);
		click_map_place(&s->lower, click_arrival_lower(w->part), &added);
	}
}

static int read_window(struct click_sender *s, struct click_window *w, struct error *err)
{
	sqlite3_stmt *row;
	int status = click_sender_row(s, window_sql, w->id, &row, err);

	for (int i = 0; status == 1 && i < 21; i++)
		w->number[i] = sqlite3_column_int64(row, i);
	sqlite3_reset(row);
	if (status != 1)
		return status;
	if ((uint64_t)w->number[2] > s->changed)
		s->changed = (uint64_t)w->number[2];
	status = click_send_session(s, w->number[0], &w->session, err);
	w->key = click_digest("window", "qqqqq", w->session->key, w->number[1], w->number[2],
	                      w->number[3], w->number[4]);
	if (s->merged)
		w->key = s->merged->key;
	w->session_key = w->session->key;
	w->host = w->session->host;
	w->time_s = (uint64_t)w->number[1] / SECOND;
	choose_part(s, w);
	return status ? status : 1;
}

static void put_replaced(struct click_sender *s)
{
	struct buf *out = &s->rows[ROWS_WINDOWS];

	row_put_count(out, s->merged ? s->merged->replaces->pairs.count : 0);
	if (s->merged)
		vec_each (pair, &s->merged->replaces->pairs)
			row_put(out, "q", pair->key);
}

/* The tables whose rows have a part of their own, beside the samples. */
enum { ARRIVED_LEDGER, ARRIVED_WAITS, ARRIVED_WAIT_TIMES, ARRIVED };

static bool has_rows(const struct click_window *w, int table)
{
	return table == ARRIVED_LEDGER  ? w->has_ledger
	       : table == ARRIVED_WAITS ? w->has_waits
	                                : w->has_wait_times;
}

static void put_window(struct click_sender *s, const struct click_window *w, uint64_t part,
                       const struct click_arrivals *others)
{
	const int64_t *n = w->number;

	row_put(&s->rows[ROWS_WINDOWS], "qdqqqqqbdqqqqqqbqqqqqqq", w->host, w->time_s, w->key, part,
	        w->session_key, n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11],
	        n[12], n[13], n[14], n[15], n[16], n[17], n[18]);
	put_replaced(s);
	row_put_count(&s->rows[ROWS_WINDOWS],
	              (size_t)w->has_ledger + w->has_waits + w->has_wait_times);
	for (int i = 0; i < ARRIVED; i++)
		if (has_rows(w, i))
			row_put(&s->rows[ROWS_WINDOWS], "q",
			        click_arrivals_part(&others[i], w->part));
}

/* Of all CPUs that have a ledger or a buffer in the window. */
static const char ledger_sql[] =
        "SELECT c.cpu, l.window IS NOT NULL, l.wall_ns, l.busy_ns, l.idle_ns, l.unknown_ns,"
        " l.switches, l.period_ns, l.due_busy, l.due_idle, l.seen_busy, l.seen_idle,"
        " l.weight_busy_ns, l.weight_idle_ns, l.lost, l.throttled, l.steal_ns, l.has_switches,"
        " l.has_steal, b.window IS NOT NULL, b.ring_bytes, b.used_max, b.used_average,"
        " b.lost_records FROM (SELECT cpu FROM ledger_cpu WHERE window = ?1 UNION"
        " SELECT cpu FROM buffer WHERE window = ?1) c"
        " LEFT JOIN ledger_cpu l ON l.window = ?1 AND l.cpu = c.cpu"
        " LEFT JOIN buffer b ON b.window = ?1 AND b.cpu = c.cpu";

static int put_ledger(struct click_sender *s, struct click_window *w, struct error *err)
{
	struct buf *out = &s->rows[CLICK_LEDGER];
	sqlite3_stmt *row;
	int status = click_sender_row(s, ledger_sql, w->id, &row, err);

	while (status == 1) {
		w->has_ledger = true;
		row_put(out, "qdq", w->session->host, w->time_s, w->part);
		row_put(out, "db", sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
		for (int i = 2; i < 17; i++)
			row_put(out, "q", sqlite3_column_int64(row, i));
		row_put(out, "bbb", sqlite3_column_int64(row, 17), sqlite3_column_int64(row, 18),
		        sqlite3_column_int64(row, 19));
		for (int i = 20; i < 24; i++)
			row_put(out, "q", sqlite3_column_int64(row, i));
		status = database_step(s->db, row, err);
	}
	sqlite3_reset(row);
	return status;
}

static int take_known(void *ctx, const struct row_value *v, struct error *err)
{
	struct click_sender *s = ctx;

	click_map_place(&s->known, v[0].number, &(bool){false});
	return 0;
}

/* A window that was sent before, and whose answer was lost, is not sent again. */
static int ask_known(struct click_sender *s, uint64_t session, struct error *err)
{
	struct click_map one = {0};
	bool added;
	int status;

	click_map_place(&s->asked, session, &added);
	if (!added)
		return 0;
	click_map_place(&one, session, &added);
	status = click_server_rows(s->server,
	                           "SELECT DISTINCT key FROM " CLICK_WINDOWS
	                           " WHERE session IN keys FORMAT RowBinary",
	                           &one, "q", "the windows it has", take_known, s, err);
	click_map_done(&one);
	return status;
}

static int add_window(struct click_sender *s, int64_t id, struct error *err)
{
	struct click_window w = {.id = id};
	int status = read_window(s, &w, err);

	if (status != 1) /* 0: it was deleted */
		return status;
	status = s->merged ? 0 : ask_known(s, w.session->key, err);
	if (status || click_map_has(&s->known, w.key))
		return status;
	if (s->living_session != w.session->key)
		click_map_done(&s->living);
	s->living_session = w.session->key;
	if (!s->merged)
		status = click_send_processes(s, w.session, w.number[19], w.number[20], err);
	if (!status)
		status = click_send_samples(s, &w, err);
	if (!status)
		status = click_send_waits(s, &w, err);
	if (!status)
		status = put_ledger(s, &w, err);
	if (!status)
		vec_push(&s->windows, w);
	return status;
}

/* Makes the rows that commit the windows: they name the parts that arrived. */
static int put_windows(struct click_sender *s, struct error *err)
{
	static const char *const tables[ARRIVED] = {"ledger", "waits", "wait_times"};
	struct click_arrivals samples = {0}, others[ARRIVED] = {0};
	int status;

	vec_each (w, &s->windows) {
		if (w->has_samples) {
			click_arrivals_add(&samples, w->host, w->time_s, w->part);
			click_arrivals_service(&samples, w->service);
		}
		for (int i = 0; i < ARRIVED; i++)
			if (has_rows(w, i))
				click_arrivals_add(&others[i], w->host, w->time_s, w->part);
	}
	status = click_arrivals_find(&samples, s->server, CLICK_SAMPLES, err);
	for (int i = 0; !status && i < ARRIVED; i++)
		status = click_arrivals_find(&others[i], s->server, tables[i], err);
	vec_each (w, &s->windows)
		if (!status)
			put_window(s, w, click_arrivals_part(&samples, w->part), others);
	click_arrivals_done(&samples);
	for (int i = 0; i < ARRIVED; i++)
		click_arrivals_done(&others[i]);
	return status;
}

static int insert(struct click_sender *s, enum click_table table, struct error *err)
{
	struct buf target = {0};
	int status;

	if (table == CLICK_LEDGER || table == CLICK_WAITS || table == CLICK_WAIT_TIMES ||
	    table == ROWS_SAMPLES)
		return click_arrival_insert(s->server, table_names[table], &s->rows[table], err);
	click_table_target(table_names[table], &target);
	status = s->server->insert(s->server, buf_text(&target), &s->rows[table], err);
	buf_done(&target);
	return status;
}

static int flush(struct click_sender *s, struct error *err)
{
	int status = 0;

	for (int i = 0; !status && i < CLICK_TABLES; i++) {
		if (i == ROWS_WINDOWS)
			status = put_windows(s, err);
		if (!status && s->rows[i].size)
			status = insert(s, (enum click_table)i, err);
	}
	/* The next batch comes seconds later. */
	forget_rows(s);
	return status;
}

/*
 * A batch is read in one transaction, since another process may change the database. If that
 * deleted rows of dictionaries, their ids may have been used again.
 */
static int begin_reading(struct click_sender *s, struct error *err)
{
	int64_t sweeps;
	int status = database_run(s->db, "BEGIN", err);

	if (!status)
		status = database_number(s->db, "SELECT value FROM property WHERE key = 'sweeps'",
		                         0, &sweeps, err);
	if (!status && sweeps != s->sweeps) {
		click_sender_forget(s);
		s->sweeps = sweeps;
	}
	return status;
}

static int read_batch(struct click_sender *s, const int64_t *windows, size_t count, size_t *done,
                      struct error *err)
{
	bool begins = sqlite3_get_autocommit(s->db->handle);
	int status = begins ? begin_reading(s, err) : 0;

	begin_batch(s);
	if (!status)
		status = click_send_new_names(s, err);
	for (*done = 0; !status && *done < count && s->rows[ROWS_SAMPLES].size < BATCH_BYTES;
	     ++*done)
		status = add_window(s, windows[*done], err);
	if (!status)
		status = click_send_gaps(s, err);
	if (begins && !sqlite3_get_autocommit(s->db->handle))
		database_run(s->db, "COMMIT", NULL);
	return status;
}

static int send_batch(struct click_sender *s, const int64_t *windows, size_t count, size_t *done,
                      struct error *err)
{
	int status = read_batch(s, windows, count, done, err);

	return status ? status : flush(s, err);
}

int click_sender_windows(struct click_sender *s, const int64_t *windows, size_t count,
                         struct error *err)
{
	size_t done = 0;
	int status = click_sender_clock(s, err);

	for (size_t at = 0; !status && at < count; at += done)
		status = send_batch(s, windows + at, count - at, &done, err);
	if (status)
		click_sender_forget(s);
	return status;
}

int click_sender_merged(struct click_sender *s, struct database *db, int64_t window,
                        const struct click_merged *merged, struct error *err)
{
	int status;

	forget_ids(s);
	click_map_done(&s->living);
	s->db = db;
	s->merged = merged;
	status = click_sender_windows(s, &window, 1, err);
	s->merged = NULL;
	return status;
}

static int add_sessions(struct click_sender *s, struct error *err)
{
	const struct click_session *session;
	sqlite3_stmt *row;
	int status = database_kept(s->db, "SELECT id FROM session ORDER BY id", &row, err);

	while (!status && (status = database_step(s->db, row, err)) == 1)
		status = click_send_session(s, sqlite3_column_int64(row, 0), &session, err);
	sqlite3_reset(row);
	return status;
}

int click_sender_sessions(struct click_sender *s, struct error *err)
{
	int status;

	begin_batch(s);
	status = add_sessions(s, err);
	if (!status)
		status = click_send_gaps(s, err);
	if (!status)
		status = flush(s, err);
	if (status)
		click_sender_forget(s);
	return status;
}
