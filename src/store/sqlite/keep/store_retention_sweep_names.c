/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last part of a sweep deletes functions without a frame, images without a reference, and
 * names without a reference. References of frames and functions are found by an index. Many tables
 * refer to names, so used names are marked table by table. Names that the writer uses during
 * the marking are in its dictionary, which is empty when the marking begins, and each step checks
 * it. If the dictionary was dropped in between (after a rollback), the sweep ends and a later one
 * starts again. Names of frames (IMAGE_JIT, IMAGE_NAME) are also names of their functions.
 */
#include "store/sqlite/keep/store_retention.h"

/* Each query returns an id and up to two names. */
static const char *const name_tables[] = {
        "SELECT id, name, cgroup FROM process WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, version, labels FROM process WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, name, NULL FROM thread WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, path, NULL FROM image WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, name, NULL FROM function WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, name, NULL FROM event WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, service, program FROM wait_cause WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, waiter, kind FROM wait_cause WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, name, function FROM wait_cause WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, released_by, holder FROM wait_cause WHERE id > ?1 ORDER BY id LIMIT ?2",
        "SELECT id, evidence, device FROM wait_cause WHERE id > ?1 ORDER BY id LIMIT ?2",
};

/* Checks the next rows of a table, and deletes the unused rows with one statement. */
static int sweep_chunk(struct sqlite_store *s, const char *chunk, const char *sql, bool *end,
                       struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	sqlite3_stmt *row;
	int64_t last;
	int status = keep_row(s, chunk, &row, err, "ii", w->next, (int64_t)SWEEP_ROWS);

	last = status == 1 ? sqlite3_column_int64(row, 0) : INT64_MAX;
	sqlite3_reset(row);
	if (status >= 0)
		status = keep_put(s, sql, err, "ii", w->next, last);
	w->next = last;
	*end = !status && last == INT64_MAX;
	return status;
}

int keep_sweep_functions(struct sqlite_store *s, bool *end, struct error *err)
{
	return sweep_chunk(s, "SELECT id FROM function WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?",
	                   "DELETE FROM function WHERE id > ?1 AND id <= ?2 AND NOT EXISTS"
	                   " (SELECT 1 FROM frame f WHERE f.function = function.id)",
	                   end, err);
}

/* Causes of waits that no window has. */
int keep_sweep_causes(struct sqlite_store *s, bool *end, struct error *err)
{
	return sweep_chunk(s, "SELECT id FROM wait_cause WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?",
	                   "DELETE FROM wait_cause WHERE id > ?1 AND id <= ?2 AND NOT EXISTS"
	                   " (SELECT 1 FROM wait w WHERE w.cause = wait_cause.id) AND NOT EXISTS"
	                   " (SELECT 1 FROM wait_time t WHERE t.cause = wait_cause.id)",
	                   end, err);
}

/* Images used as regions of samples are marked; other references are queried. */
int keep_sweep_images(struct sqlite_store *s, bool *end, struct error *err)
{
	static const char delete_sql[] =
	        "DELETE FROM image WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM frame WHERE"
	        " frame.image = ?1) AND NOT EXISTS (SELECT 1 FROM function f WHERE f.image = ?1)";
	struct store_sweep *w = &s->keeper->sweep;
	VEC(int64_t) dead = {0};
	sqlite3_stmt *row;
	int64_t count = 0;
	int status = keep_row(s, "SELECT id FROM image WHERE id > ? ORDER BY id LIMIT ?", &row, err,
	                      "ii", w->next, (int64_t)SWEEP_ROWS);

	while (status == 1) {
		count++;
		w->next = sqlite3_column_int64(row, 0);
		if (!bits_has(&w->images, w->next))
			vec_push(&dead, w->next);
		status = database_step(&s->db, row, err);
	}
	vec_each (id, &dead)
		if (!status)
			status = keep_put(s, delete_sql, err, "i", *id);
	*end = !status && count < SWEEP_ROWS;
	vec_done(&dead);
	return status;
}

/* *id: the newest session. A session that began after the marking has another dictionary. */
static int newest_session(struct sqlite_store *s, int64_t *id, struct error *err)
{
	return database_number(&s->db, "SELECT max(id) FROM session", 0, id, err);
}

int keep_sweep_names_begin(struct sqlite_store *s, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	int64_t names;
	int status = newest_session(s, &w->session, err);

	if (!status)
		status = database_number(&s->db, "SELECT max(id) FROM name", 0, &names, err);
	if (status)
		return status;
	if (names > SWEEP_IDS_MAX) {
		keep_sweep_done(w);
		return 0;
	}
	bits_new(&w->names, names + 1);
	w->phase = SWEEP_NAME_MARK;
	w->name_table = 0;
	w->next = INT64_MIN;
	return 0;
}

int keep_sweep_names_mark(struct sqlite_store *s, bool *end, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	sqlite3_stmt *row;
	int64_t count = 0;
	int status = keep_row(s, name_tables[w->name_table], &row, err, "ii", w->next,
	                      (int64_t)SWEEP_ROWS);

	while (status == 1) {
		count++;
		w->next = sqlite3_column_int64(row, 0);
		bits_set(&w->names, sqlite3_column_int64(row, 1));
		bits_set(&w->names, sqlite3_column_int64(row, 2));
		status = database_step(&s->db, row, err);
	}
	if (status || count == SWEEP_ROWS)
		return status;
	w->next = INT64_MIN;
	*end = ++w->name_table == sizeof(name_tables) / sizeof(*name_tables);
	return 0;
}

/* The last instance number of a program is deleted with its name; numbering then restarts at 1. */
static int delete_name(struct sqlite_store *s, int64_t id, struct error *err)
{
	int status = keep_put(s,
	                      "DELETE FROM instance WHERE host IN (SELECT id FROM host) AND name"
	                      " = ?",
	                      err, "i", id);

	return status ? status : keep_put(s, "DELETE FROM name WHERE id = ?", err, "i", id);
}

int keep_sweep_names(struct sqlite_store *s, bool *end, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	VEC(int64_t) dead = {0};
	sqlite3_stmt *row;
	int64_t count = 0, session;
	int status = newest_session(s, &session, err);

	*end = !status && (w->forgotten != s->names.forgotten || session != w->session);
	if (status || *end)
		return status;
	vec_each (id, &s->names.texts.ids)
		bits_set(&w->names, *id);
	status = keep_row(s, "SELECT id FROM name WHERE id > ? ORDER BY id LIMIT ?", &row, err,
	                  "ii", w->next, (int64_t)SWEEP_ROWS);
	while (status == 1) {
		count++;
		w->next = sqlite3_column_int64(row, 0);
		if (!bits_has(&w->names, w->next))
			vec_push(&dead, w->next);
		status = database_step(&s->db, row, err);
	}
	vec_each (id, &dead)
		if (!status)
			status = delete_name(s, *id, err);
	*end = !status && count < SWEEP_ROWS;
	vec_done(&dead);
	return status;
}
