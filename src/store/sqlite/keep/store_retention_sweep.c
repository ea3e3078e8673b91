/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deletes rows without references: first processes and threads that ended before the oldest
 * window; then stacks and frames, after all stacks of samples were marked; then functions, images
 * and names (store_retention_sweep_names.c).
 *
 * A window may be added between two steps. Its samples are marked before the next deletion, and
 * the writer drops its cached ids after each deletion.
 */
#include "store/sqlite/keep/store_retention.h"

#include <string.h>

/* A thread that has ended may have late samples in the next window. */
#define SWEEP_LATE_NS INT64_C(10000000000)
/* Minimum time between two sweeps, since a sweep reads all rows of samples. */
#define SWEEP_EVERY_NS (12 * 3600 * UINT64_C(1000000000))

void bits_new(struct id_bits *b, int64_t end)
{
	free(b->bytes);
	b->bytes = xcalloc((size_t)end / 8 + 1, 1);
	b->end = end;
}

void bits_set(struct id_bits *b, int64_t id)
{
	if (id > 0 && id < b->end)
		b->bytes[id / 8] |= (uint8_t)(1 << id % 8);
}

/* Ids beyond the end were added later, and count as used. */
bool bits_has(const struct id_bits *b, int64_t id)
{
	return id >= b->end || b->bytes[id / 8] >> id % 8 & 1;
}

void keep_sweep_done(struct store_sweep *w)
{
	free(w->stacks.bytes);
	free(w->frames.bytes);
	free(w->images.bytes);
	free(w->names.bytes);
	*w = (struct store_sweep){0};
}

static void sweep_end(struct sqlite_store *s)
{
	keep_sweep_done(&s->keeper->sweep);
}

/* No sweep while another host writes to the file: its writer has cached ids of rows. */
static int may_begin(struct sqlite_store *s, bool *may, struct error *err)
{
	sqlite3_stmt *row;
	int status = keep_row(s, "SELECT count(*) FROM session WHERE ended IS NULL AND id <> ?",
	                      &row, err, "i", s->session);

	*may = status == 1 && !sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	return status < 0 ? status : 0;
}

static int begin(struct sqlite_store *s, uint64_t now_ns, struct error *err)
{
	struct store_retention_run *k = s->keeper;
	bool may;
	int status;

	if (!k->rows_gone || now_ns < k->sweep_after_ns)
		return 0;
	k->sweep_after_ns = now_ns + SWEEP_EVERY_NS;
	status = may_begin(s, &may, err);
	if (status || !may)
		return status;
	k->rows_gone = 0;
	k->sweep = (struct store_sweep){.phase = SWEEP_PROCESSES, .next = INT64_MIN};
	return 1;
}

static int oldest(struct sqlite_store *s, int64_t *start_ns, struct error *err)
{
	return database_number(&s->db, "SELECT start_ns FROM window ORDER BY start_ns LIMIT 1",
	                       INT64_MAX, start_ns, err);
}

/* *last: the last id of a step; INT64_MAX: it is the last step. */
static int chunk_end(struct sqlite_store *s, const char *sql, int64_t *last, struct error *err)
{
	sqlite3_stmt *row;
	int status = keep_row(s, sql, &row, err, "ii", s->keeper->sweep.next, (int64_t)SWEEP_ROWS);

	*last = status == 1 ? sqlite3_column_int64(row, 0) : INT64_MAX;
	sqlite3_reset(row);
	return status < 0 ? status : 0;
}

/*
 * Rows whose time is before ?3, or between ?4 and ?5. The second range is that of a spool: windows
 * that are being sent are kept, while later ones were deleted.
 */
#define SWEEP_IN(start, end) "(" end " < ?3 OR (" start " > ?4 AND " end " < ?5))"

static const char process_sql[] = "DELETE FROM process WHERE id > ?1 AND id <= ?2 AND " SWEEP_IN(
        "start_ns",
        "CASE WHEN life_ns IS NULL THEN"
        " coalesce((SELECT CASE WHEN ended IS NULL THEN 9223372036854775807 ELSE end_ns END"
        "  FROM session WHERE process_base <= process.id ORDER BY process_base DESC"
        "  LIMIT 1), 0) ELSE coalesce(start_ns, 0) + life_ns END");

static const char thread_sql[] =
        "DELETE FROM thread WHERE id > ?1 AND id <= ?2 AND (NOT EXISTS (SELECT 1 FROM process p"
        " WHERE p.id = thread.process) OR (tid IS NOT NULL AND life_ns IS NOT NULL AND" SWEEP_IN(
                "start_ns", "coalesce(start_ns, 0) + life_ns") "))";

static int sweep_rows(struct sqlite_store *s, const char *chunk, const char *sql, bool *end,
                      struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	int64_t last, oldest_ns, taken_ns, waiting_ns;
	int status = chunk_end(s, chunk, &last, err);

	if (!status)
		status = oldest(s, &oldest_ns, err);
	if (!status)
		status = database_number(&s->db, "SELECT max(end_ns) FROM window WHERE level >= 8",
		                         INT64_MAX - SWEEP_LATE_NS, &taken_ns, err);
	if (!status)
		status = database_number(&s->db, "SELECT min(start_ns) FROM window WHERE level < 8",
		                         INT64_MAX, &waiting_ns, err);
	if (!status)
		status = keep_put(s, sql, err, "iiiii", w->next, last, oldest_ns - SWEEP_LATE_NS,
		                  taken_ns + SWEEP_LATE_NS, waiting_ns - SWEEP_LATE_NS);
	w->next = last;
	*end = last == INT64_MAX;
	return status;
}

/* Deletes sessions without windows and their dependent rows. */
static int sweep_sessions(struct sqlite_store *s, struct error *err)
{
	int64_t oldest_ns;
	int status = keep_put(s,
	                      "DELETE FROM session WHERE ended IS NOT NULL AND NOT EXISTS"
	                      " (SELECT 1 FROM window w WHERE w.session = session.id)",
	                      err, "");

	if (!status)
		status = keep_put(s,
		                  "DELETE FROM session_event WHERE session NOT IN"
		                  " (SELECT id FROM session)",
		                  err, "");
	if (!status)
		status = keep_put(s,
		                  "DELETE FROM session_budget WHERE session NOT IN"
		                  " (SELECT id FROM session)",
		                  err, "");
	if (!status)
		status = keep_put(s,
		                  "DELETE FROM session_note WHERE session NOT IN"
		                  " (SELECT id FROM session)",
		                  err, "");
	if (!status)
		status = oldest(s, &oldest_ns, err);
	return status ? status
	              : keep_put(s, "DELETE FROM gap WHERE end_ns < ?", err, "i", oldest_ns);
}

static int begin_marks(struct sqlite_store *s, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	int64_t stacks, frames, images;
	int status = database_number(&s->db, "SELECT max(id) FROM stack", 0, &stacks, err);

	if (!status)
		status = database_number(&s->db, "SELECT max(id) FROM frame", 0, &frames, err);
	if (!status)
		status = database_number(&s->db, "SELECT max(id) FROM image", 0, &images, err);
	if (status)
		return status;
	if (stacks > SWEEP_IDS_MAX || frames > SWEEP_IDS_MAX || images > SWEEP_IDS_MAX) {
		sweep_end(s);
		return 0;
	}
	bits_new(&w->stacks, stacks + 1);
	bits_new(&w->frames, frames + 1);
	bits_new(&w->images, images + 1);
	w->phase = SWEEP_MARK;
	w->marked = INT64_MIN;
	w->marked_stack = stacks;
	return 0;
}

/* Marks the stacks of the next unmarked window; *end: there is no such window. */
static int mark_window(struct sqlite_store *s, bool *end, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	sqlite3_stmt *row;
	int status = keep_row(s, "SELECT id FROM window WHERE id > ? ORDER BY id LIMIT 1", &row,
	                      err, "i", w->marked);

	*end = status == 0;
	if (status == 1)
		w->marked = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	if (status != 1)
		return status;
	status = keep_row(s, "SELECT stack, region FROM sample WHERE window = ?", &row, err, "i",
	                  w->marked);
	while (status == 1) {
		bits_set(&w->stacks, sqlite3_column_int64(row, 0));
		bits_set(&w->images, sqlite3_column_int64(row, 1));
		status = database_step(&s->db, row, err);
	}
	return status;
}

/* Marks rows that the writer added since the last step. */
static int mark_new(struct sqlite_store *s, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	bool end = false;
	sqlite3_stmt *row;
	int status = 0;

	while (!status && !end)
		status = mark_window(s, &end, err);
	if (status)
		return status;
	status = keep_row(s, "SELECT id, parent, frame FROM stack WHERE id > ? ORDER BY id", &row,
	                  err, "i", w->marked_stack);
	while (status == 1) {
		w->marked_stack = sqlite3_column_int64(row, 0);
		bits_set(&w->stacks, sqlite3_column_int64(row, 1));
		bits_set(&w->frames, sqlite3_column_int64(row, 2));
		status = database_step(&s->db, row, err);
	}
	return status;
}

typedef VEC(int64_t) id_list;

static int delete_ids(struct sqlite_store *s, const char *sql, const id_list *ids,
                      struct error *err)
{
	int status = 0;

	vec_each (id, ids)
		if (!status)
			status = keep_put(s, sql, err, "i", *id);
	return status;
}

/*
 * In descending order: the id of a callee is larger than its parent's, so a used callee marks its
 * parent before the parent is checked.
 */
static int sweep_stacks(struct sqlite_store *s, bool *end, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	id_list dead = {0};
	sqlite3_stmt *row;
	int64_t count = 0;
	int status = keep_row(s,
	                      "SELECT id, parent, frame FROM stack WHERE id < ? ORDER BY id DESC"
	                      " LIMIT ?",
	                      &row, err, "ii", w->next, (int64_t)SWEEP_ROWS);

	while (status == 1) {
		count++;
		w->next = sqlite3_column_int64(row, 0);
		if (bits_has(&w->stacks, w->next)) {
			bits_set(&w->stacks, sqlite3_column_int64(row, 1));
			bits_set(&w->frames, sqlite3_column_int64(row, 2));
		} else {
			vec_push(&dead, w->next);
		}
		status = database_step(&s->db, row, err);
	}
	if (!status)
		status = delete_ids(s, "DELETE FROM stack WHERE id = ?", &dead, err);
	*end = count < SWEEP_ROWS;
	vec_done(&dead);
	return status;
}

static int sweep_frames(struct sqlite_store *s, bool *end, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	id_list dead = {0};
	sqlite3_stmt *row;
	int64_t count = 0;
	int status = keep_row(s, "SELECT id FROM frame WHERE id > ? ORDER BY id LIMIT ?", &row, err,
	                      "ii", w->next, (int64_t)SWEEP_ROWS);

	while (status == 1) {
		count++;
		w->next = sqlite3_column_int64(row, 0);
		if (!bits_has(&w->frames, w->next))
			vec_push(&dead, w->next);
		status = database_step(&s->db, row, err);
	}
	if (!status)
		status = delete_ids(s, "DELETE FROM frame WHERE id = ?", &dead, err);
	*end = count < SWEEP_ROWS;
	vec_done(&dead);
	return status;
}

static void go_on(struct store_sweep *w, enum sweep_phase phase, int64_t next)
{
	w->phase = phase;
	w->next = next;
}

/* The phases for functions, images and names, in the order of the references. */
static int name_phase_step(struct sqlite_store *s, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	bool end = false;
	int status;

	switch (w->phase) {
	case SWEEP_FUNCTIONS:
		status = keep_sweep_functions(s, &end, err);
		if (end)
			go_on(w, SWEEP_IMAGES, 0);
		return status;
	case SWEEP_IMAGES:
		status = mark_new(s, err);
		if (!status)
			status = keep_sweep_images(s, &end, err);
		if (!status && end)
			go_on(w, SWEEP_CAUSES, 0);
		return status;
	case SWEEP_CAUSES:
		status = keep_sweep_causes(s, &end, err);
		if (!status && end)
			status = keep_sweep_names_begin(s, err);
		return status;
	case SWEEP_NAME_MARK:
		status = keep_sweep_names_mark(s, &end, err);
		if (end)
			go_on(w, SWEEP_NAMES, 0);
		return status;
	default:
		status = keep_sweep_names(s, &end, err);
		if (end)
			sweep_end(s);
		return status;
	}
}

static int phase_step(struct sqlite_store *s, struct error *err)
{
	static const char process_chunk[] =
	        "SELECT id FROM process WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?";
	static const char thread_chunk[] =
	        "SELECT id FROM thread WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?";
	struct store_sweep *w = &s->keeper->sweep;
	bool end = false;
	int status = 0;

	switch (w->phase) {
	case SWEEP_PROCESSES:
		status = sweep_rows(s, process_chunk, process_sql, &end, err);
		if (end)
			go_on(w, SWEEP_THREADS, INT64_MIN);
		break;
	case SWEEP_THREADS:
		status = sweep_rows(s, thread_chunk, thread_sql, &end, err);
		if (!status && end)
			status = sweep_sessions(s, err);
		return !status && end ? begin_marks(s, err) : status;
	case SWEEP_MARK:
		status = mark_window(s, &end, err);
		if (end)
			go_on(w, SWEEP_STACKS, w->stacks.end);
		break;
	case SWEEP_STACKS:
		status = mark_new(s, err);
		if (!status)
			status = sweep_stacks(s, &end, err);
		if (end)
			go_on(w, SWEEP_FRAMES, 0);
		break;
	case SWEEP_FRAMES:
		status = mark_new(s, err);
		if (!status)
			status = sweep_frames(s, &end, err);
		if (end)
			go_on(w, SWEEP_FUNCTIONS, 0);
		break;
	case SWEEP_FUNCTIONS:
	case SWEEP_IMAGES:
	case SWEEP_CAUSES:
	case SWEEP_NAME_MARK:
	case SWEEP_NAMES:
		return name_phase_step(s, err);
	case SWEEP_NONE:
		break;
	}
	return status;
}

int keep_sweep_step(struct sqlite_store *s, uint64_t now_ns, struct error *err)
{
	struct store_sweep *w = &s->keeper->sweep;
	bool ids_go = w->phase >= SWEEP_STACKS && w->phase != SWEEP_NAME_MARK;
	int status;

	if (w->phase == SWEEP_NONE)
		return begin(s, now_ns, err);
	status = store_write_begin(s, err);
	if (status)
		return status;
	status = phase_step(s, err);
	/* For another process that keeps ids of the database (click_sender.h). */
	if (!status && ids_go)
		status = keep_put(s,
		                  "INSERT INTO property VALUES ('sweeps', 1) ON CONFLICT (key)"
		                  " DO UPDATE SET value = value + 1",
		                  err, "");
	if (status)
		store_write_undo(s);
	else
		status = store_write_end(s, err);
	if (status) {
		/* On a full disk: another sweep begins when there is room. */
		sweep_end(s);
		s->keeper->rows_gone++;
		return status;
	}
	if (ids_go) {
		store_forget(s);
		keep_coarse_forget(s);
		w->forgotten = s->names.forgotten;
	}
	return status ? status : 1;
}
