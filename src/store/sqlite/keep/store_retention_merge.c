/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges windows into longer ones, and deletes windows. Rows of samples are moved or deleted first.
 */
#include "store/sqlite/keep/store_retention.h"

#include "store/sqlite/store_waits.h"

static const uint64_t lengths[KEEP_LEVELS] = {
        600 * UINT64_C(1000000000), 7200 * UINT64_C(1000000000), 86400 * UINT64_C(1000000000)};

#define KEY "thread, stack, cpu, mode, event, region, stack_end"
#define KEY_PLACES "?2, ?3, ?4, ?5, ?6, ?7, ?8"
#define KEY_COUNT 7

#define ADD_UP                                                                                     \
	" ON CONFLICT DO UPDATE SET samples = samples + excluded.samples,"                         \
	" weight = weight + excluded.weight, runnable_ns = runnable_ns + excluded.runnable_ns,"    \
	" blocked_ns = blocked_ns + excluded.blocked_ns"
#define MOVE(into)                                                                                 \
	"INSERT INTO sample SELECT " into ", " KEY ", samples, weight, runnable_ns, blocked_ns"    \
	" FROM sample WHERE window = ?1"
static const char move_sql[] = MOVE("?9") " AND (" KEY ") < (" KEY_PLACES ")" ADD_UP;
static const char move_all_sql[] = MOVE("?2") " AND 1" ADD_UP;
/*
 * A merge into a day: stacks with at most RARE samples in two hours become [other]; thread, CPU
 * and mode stay. Most rows are of this kind, with a small part of the samples.
 */
#define RARE "3"
#define MOVE_DAY(into, other)                                                                      \
	"INSERT INTO sample SELECT " into ", thread, CASE WHEN samples BETWEEN 1 AND " RARE        \
	" AND stack THEN " other " ELSE stack END, cpu, mode, event, CASE WHEN samples <= " RARE   \
	" THEN 0 ELSE region END, stack_end, samples, weight, runnable_ns, blocked_ns"             \
	" FROM sample WHERE window = ?1"
static const char move_day_sql[] = MOVE_DAY("?9", "?10") " AND (" KEY ") < (" KEY_PLACES ")" ADD_UP;
static const char move_day_all_sql[] = MOVE_DAY("?2", "?3") " AND 1" ADD_UP;
static const char delete_sql[] =
        "DELETE FROM sample WHERE window = ?1 AND (" KEY ") < (" KEY_PLACES ")";
static const char delete_all_sql[] = "DELETE FROM sample WHERE window = ?1";
/* The key of the first row after this step. */
static const char bound_sql[] =
        "SELECT " KEY " FROM sample WHERE window = ?1 ORDER BY " KEY " LIMIT 1 OFFSET ?2";

/* 1: key[] is the end of the step; 0: the step takes all remaining rows. */
static int find_bound(struct sqlite_store *s, int64_t window, int64_t key[KEY_COUNT],
                      struct error *err)
{
	sqlite3_stmt *find;
	int status = keep_row(s, bound_sql, &find, err, "ii", window, (int64_t)KEEP_ROWS);

	for (int i = 0; status == 1 && i < KEY_COUNT; i++)
		key[i] = sqlite3_column_int64(find, i);
	sqlite3_reset(find);
	return status;
}

static int put_bound(struct sqlite_store *s, const char *sql, int64_t window,
                     const int64_t key[KEY_COUNT], int64_t into, int64_t other, struct error *err)
{
	if (other)
		return keep_put(s, sql, err, "iiiiiiiiii", window, key[0], key[1], key[2], key[3],
		                key[4], key[5], key[6], into, other);
	if (into)
		return keep_put(s, sql, err, "iiiiiiiii", window, key[0], key[1], key[2], key[3],
		                key[4], key[5], key[6], into);
	return keep_put(s, sql, err, "iiiiiiii", window, key[0], key[1], key[2], key[3], key[4],
	                key[5], key[6]);
}

/* The stack whose only frame is named [other]; it is created at the first use. */
static int other_stack(struct sqlite_store *s, int64_t *id, struct error *err)
{
	static const char make_sql[] =
	        "INSERT OR IGNORE INTO name (text) VALUES ('[other]');"
	        "INSERT OR IGNORE INTO image (kind, path, build_id, major, minor, inode) SELECT 6,"
	        " id, x'', 0, 0, 0 FROM name WHERE text = '[other]';"
	        "INSERT OR IGNORE INTO function (image, name) SELECT i.id, i.path FROM image i"
	        " JOIN name n ON n.id = i.path WHERE i.kind = 6 AND n.text = '[other]';"
	        "INSERT OR IGNORE INTO frame (image, offset, flags, function) SELECT f.image,"
	        " f.name << 32, 0, f.id FROM function f JOIN name n ON n.id = f.name JOIN image i"
	        " ON i.id = f.image WHERE i.kind = 6 AND i.path = n.id AND n.text = '[other]';"
	        "INSERT OR IGNORE INTO stack (parent, frame, depth) SELECT 0, r.id, 1"
	        " FROM frame r JOIN function f ON f.id = r.function JOIN name n ON n.id = f.name"
	        " JOIN image i ON i.id = f.image WHERE i.kind = 6 AND i.path = n.id AND"
	        " n.text = '[other]'";
	static const char find_sql[] =
	        "SELECT k.id FROM name n JOIN image i ON i.path = n.id AND i.kind = 6"
	        " JOIN frame r ON r.image = i.id AND r.offset = n.id << 32 JOIN stack k ON"
	        " k.parent = 0 AND k.frame = r.id WHERE n.text = '[other]' AND r.flags = 0";
	int status;

	_Static_assert(IMAGE_NAME == 6, "kinds of images are stored in files");
	status = database_number(&s->db, find_sql, 0, id, err);
	if (!status && !*id)
		status = database_run(&s->db, make_sql, err);
	if (!status && !*id)
		status = database_number(&s->db, find_sql, 0, id, err);
	return status;
}

/*
 * Moves some rows of a window to window `into`, or deletes them (0). `other`: the stack for rare
 * samples; 0: each row keeps its stack. *left: more rows remain.
 */
static int rows_step(struct sqlite_store *s, int64_t window, int64_t into, int64_t other,
                     bool *left, struct error *err)
{
	int64_t key[KEY_COUNT];
	int status = find_bound(s, window, key, err);

	*left = status == 1;
	if (status < 0)
		return status;
	if (*left) {
		status = into ? put_bound(s, other ? move_day_sql : move_sql, window, key, into,
		                          other, err)
		              : 0;
		return status ? status : put_bound(s, delete_sql, window, key, 0, 0, err);
	}
	if (other)
		status = keep_put(s, move_day_all_sql, err, "iii", window, into, other);
	else
		status = into ? keep_put(s, move_all_sql, err, "ii", window, into) : 0;
	return status ? status : keep_put(s, delete_all_sql, err, "i", window);
}

static const char ledger_sql[] =
        "INSERT INTO ledger_cpu SELECT ?2, cpu, wall_ns, busy_ns, idle_ns, unknown_ns, switches,"
        " period_ns, due_busy, due_idle, seen_busy, seen_idle, weight_busy_ns, weight_idle_ns,"
        " lost, throttled, steal_ns, has_switches, has_steal FROM ledger_cpu WHERE window = ?1"
        " ON CONFLICT DO UPDATE SET wall_ns = wall_ns + excluded.wall_ns,"
        " busy_ns = busy_ns + excluded.busy_ns, idle_ns = idle_ns + excluded.idle_ns,"
        " unknown_ns = unknown_ns + excluded.unknown_ns,"
        " switches = switches + excluded.switches, due_busy = due_busy + excluded.due_busy,"
        " due_idle = due_idle + excluded.due_idle, seen_busy = seen_busy + excluded.seen_busy,"
        " seen_idle = seen_idle + excluded.seen_idle,"
        " weight_busy_ns = weight_busy_ns + excluded.weight_busy_ns,"
        " weight_idle_ns = weight_idle_ns + excluded.weight_idle_ns,"
        " lost = lost + excluded.lost, throttled = throttled + excluded.throttled,"
        " steal_ns = steal_ns + excluded.steal_ns,"
        " has_switches = min(has_switches, excluded.has_switches),"
        " has_steal = min(has_steal, excluded.has_steal)";

/* A weighted average: the weight of a window is the number of windows merged into it. */
static const char buffer_sql[] =
        "INSERT INTO buffer SELECT ?2, cpu, ring_bytes, used_max, used_average, lost_records"
        " FROM buffer WHERE window = ?1"
        " ON CONFLICT DO UPDATE SET ring_bytes = max(ring_bytes, excluded.ring_bytes),"
        " used_max = max(used_max, excluded.used_max), used_average ="
        " (used_average * (SELECT merged FROM window WHERE id = ?2) + excluded.used_average *"
        "  (SELECT merged FROM window WHERE id = ?1)) / ((SELECT merged FROM window WHERE"
        "  id = ?2) + (SELECT merged FROM window WHERE id = ?1)),"
        " lost_records = lost_records + excluded.lost_records";

static const char rate_sql[] =
        "INSERT INTO window_rate SELECT ?2, slowed_budget_ns, slowed_behind_ns, taken_ns,"
        " taken_of_ns, over_ns, most_ppm, sample_ns FROM window_rate WHERE window = ?1"
        " ON CONFLICT DO UPDATE SET slowed_budget_ns = slowed_budget_ns +"
        " excluded.slowed_budget_ns, slowed_behind_ns = slowed_behind_ns +"
        " excluded.slowed_behind_ns, taken_ns = taken_ns + excluded.taken_ns,"
        " taken_of_ns = taken_of_ns + excluded.taken_of_ns,"
        " over_ns = over_ns + excluded.over_ns, most_ppm = max(most_ppm, excluded.most_ppm),"
        " sample_ns = CASE WHEN excluded.sample_ns THEN excluded.sample_ns ELSE sample_ns END";

/*
 * The period of the mean rate over time. Lost time and weights of samples are in units of the
 * configured period at every rate. A new window of a day is empty (merged = 0).
 */
#define MEAN_PERIOD                                                                                \
	"CASE WHEN t.merged = 0 THEN w.period_ns WHEN t.period_ns = w.period_ns OR"                \
	" t.period_ns <= 0 OR w.period_ns <= 0 THEN t.period_ns ELSE"                              \
	" cast(round((t.end_ns - t.start_ns + w.end_ns - w.start_ns) /"                            \
	" ((t.end_ns - t.start_ns) * 1.0 / t.period_ns + (w.end_ns - w.start_ns) * 1.0 /"          \
	" w.period_ns)) AS INTEGER) END"

static const char window_sql[] =
        "UPDATE window AS t SET start_ns = min(t.start_ns, w.start_ns),"
        " end_ns = max(t.end_ns, w.end_ns), period_ns = coalesce(" MEAN_PERIOD
        ", t.period_ns), merged = t.merged + w.merged,"
        " samples = t.samples + w.samples, lost_records = t.lost_records + w.lost_records,"
        " observer_cpu_ns = t.observer_cpu_ns + w.observer_cpu_ns,"
        " unobserved_ns = t.unobserved_ns + w.unobserved_ns,"
        " process_first = min(coalesce(t.process_first, w.process_first),"
        "  coalesce(w.process_first, t.process_first)),"
        " process_last = max(coalesce(t.process_last, w.process_last),"
        "  coalesce(w.process_last, t.process_last)),"
        " thread_first = min(coalesce(t.thread_first, w.thread_first),"
        "  coalesce(w.thread_first, t.thread_first)),"
        " thread_last = max(coalesce(t.thread_last, w.thread_last),"
        "  coalesce(w.thread_last, t.thread_last))"
        " FROM window AS w WHERE w.id = ?1 AND t.id = ?2";

static int delete_window(struct sqlite_store *s, int64_t window, struct error *err)
{
	int status = keep_put(s, "DELETE FROM ledger_cpu WHERE window = ?", err, "i", window);

	if (!status)
		status = keep_put(s, "DELETE FROM buffer WHERE window = ?", err, "i", window);
	if (!status)
		status = keep_put(s, "DELETE FROM window_rate WHERE window = ?", err, "i", window);
	if (!status)
		status = store_waits_delete(&s->db, window, err);
	if (!status)
		status = keep_put(s, "DELETE FROM window WHERE id = ?", err, "i", window);
	return status;
}

static int move_books(struct sqlite_store *s, int64_t from, int64_t into, struct error *err)
{
	int status = keep_put(s, ledger_sql, err, "ii", from, into);

	if (!status)
		status = keep_put(s, buffer_sql, err, "ii", from, into);
	if (!status)
		status = keep_put(s, rate_sql, err, "ii", from, into);
	if (!status)
		status = store_waits_move(&s->db, from, into, err);
	if (!status)
		status = keep_put(s, window_sql, err, "ii", from, into);
	return status ? status : delete_window(s, from, err);
}

/* Reads the row that keep_row() found with KEEP_WINDOW_COLUMNS; 1: there is a row. */
static int taken(int status, sqlite3_stmt *statement, struct keep_window *w)
{
	if (status == 1)
		keep_window_take(statement, w);
	sqlite3_reset(statement);
	return status;
}

static const char due_sql[] =
        "SELECT " KEEP_WINDOW_COLUMNS " FROM window WHERE start_ns >= ?1 AND start_ns < ?2"
        " AND level = ?3 AND end_ns <= ?2 ORDER BY start_ns LIMIT 1";

/*
 * Windows of one session and one time range are merged, even if the sampling rate changed between
 * them: the ledger counts ticks of the configured period at every rate (ledger_cpu.h), and each
 * sample has a weight.
 */
static const char into_sql[] =
        "SELECT " KEEP_WINDOW_COLUMNS " FROM window WHERE start_ns >= ?1 AND start_ns < ?2"
        " AND session = ?3 AND level = ?4 ORDER BY start_ns LIMIT 1";

static const char by_id_sql[] = "SELECT " KEEP_WINDOW_COLUMNS " FROM window WHERE id = ?1";

/*
 * The window has reached its new level: processes that lived only in it are folded. If they are too
 * many for one step, the next steps and the next merge fold the rest.
 */
static int close_step(struct sqlite_store *s, int64_t window, struct error *err)
{
	struct keep_window w;
	sqlite3_stmt *find;
	bool left = false;
	int status = keep_row(s, by_id_sql, &find, err, "i", window);

	/* A window that is being sent stays as it is. */
	status = taken(status, find, &w);
	if (status == 1)
		status = w.level >= 8 ? 0 : keep_fold(s, &w, &left, err);
	s->keeper->folding = !status && left ? window : 0;
	if (!s->keeper->folding)
		s->keeper->fold_after = 0;
	return status;
}

/* Creates an empty window of a day; rows are then moved into it. */
static int begin_day(struct sqlite_store *s, const struct keep_window *w, struct keep_window *into,
                     struct error *err)
{
	static const char sql[] =
	        "INSERT INTO window (session, start_ns, end_ns, level, merged, samples,"
	        " lost_records, observer_cpu_ns, period_ns, unobserved_ns, wall_offset_ns) SELECT"
	        " session, start_ns, end_ns, level + 1, 0, 0, 0, 0, period_ns, 0, wall_offset_ns"
	        " FROM window WHERE id = ?";
	int status = keep_put(s, sql, err, "i", w->id);

	*into = (struct keep_window){.id = sqlite3_last_insert_rowid(s->db.handle)};
	return status ? status : 1;
}

static int merge_into(struct sqlite_store *s, const struct keep_window *w, int64_t into,
                      struct error *err)
{
	int64_t other = 0;
	bool left;
	int status = w->level == KEEP_LEVELS - 1 ? other_stack(s, &other, err) : 0;

	if (!status)
		status = rows_step(s, w->id, into, other, &left, err);
	if (status || left)
		return status;
	s->keeper->rows_gone += other != 0;
	status = move_books(s, w->id, into, err);
	return status ? status : close_step(s, into, err);
}

/* 1: the window has the level that was read. Another process may have taken it to send it. */
static int is_unchanged(struct sqlite_store *s, const struct keep_window *w, struct error *err)
{
	sqlite3_stmt *row;
	int status = keep_row(s, "SELECT 1 FROM window WHERE id = ? AND level = ?", &row, err, "ii",
	                      w->id, w->level);

	sqlite3_reset(row);
	return status;
}

static int merge(struct sqlite_store *s, const struct keep_window *w, struct error *err)
{
	uint64_t length = lengths[w->level], slot = w->start_ns - w->start_ns % length;
	struct keep_window into;
	sqlite3_stmt *find;
	bool left = false;
	int found, status = is_unchanged(s, w, err);

	if (status != 1)
		return status;
	status = w->level ? 0 : keep_coarsen(s, w->id, &left, err);
	if (status || left)
		return status;
	found = keep_row(s, into_sql, &find, err, "iiii", (int64_t)slot, (int64_t)(slot + length),
	                 w->session, w->level + 1);
	found = taken(found, find, &into);
	if (!found && w->level == KEEP_LEVELS - 1)
		found = begin_day(s, w, &into, err);
	if (found < 0)
		return found;
	if (found)
		return merge_into(s, w, into.id, err);
	status = keep_put(s, "UPDATE window SET level = level + 1 WHERE id = ?", err, "i", w->id);
	return status ? status : close_step(s, w->id, err);
}

/* Runs one step `fn` of a window in a transaction. */
static int in_one(struct sqlite_store *s,
                  int (*fn)(struct sqlite_store *s, const struct keep_window *w, struct error *err),
                  const struct keep_window *w, struct error *err)
{
	int status = store_write_begin(s, err);

	if (status)
		return status;
	status = fn(s, w, err);
	if (status)
		store_write_undo(s);
	else
		status = store_write_end(s, err);
	if (status)
		keep_coarse_forget(s);
	return status ? status : 1;
}

static int fold_more(struct sqlite_store *s, const struct keep_window *w, struct error *err)
{
	return close_step(s, w->id, err);
}

int keep_fold_step(struct sqlite_store *s, struct error *err)
{
	struct keep_window w = {.id = s->keeper->folding};

	return w.id ? in_one(s, fold_more, &w, err) : 0;
}

int keep_merge_step(struct sqlite_store *s, int level, uint64_t before_ns, struct error *err)
{
	uint64_t *from_ns = &s->keeper->from_ns[level];
	struct keep_window w;
	sqlite3_stmt *find;
	int status = keep_row(s, due_sql, &find, err, "iii", (int64_t)*from_ns, (int64_t)before_ns,
	                      (int64_t)level);

	status = taken(status, find, &w);
	if (status != 1)
		return status;
	/* This level has no older windows. The margin is for a clock that was set back. */
	*from_ns =
	        w.start_ns > lengths[KEEP_LEVELS - 1] ? w.start_ns - lengths[KEEP_LEVELS - 1] : 0;
	return in_one(s, merge, &w, err);
}

/* A window that is being sent (click_spool.h) stays. */
static const char oldest_sql[] = "SELECT " KEEP_WINDOW_COLUMNS " FROM window WHERE start_ns < ?1"
                                 " AND level < 8 ORDER BY start_ns LIMIT 1";

/* Processes without samples in the next window, which may contain late samples. */
static const char gone_processes_sql[] =
        "DELETE FROM process WHERE id BETWEEN ?1 AND ?2 AND coalesce(start_ns, 0) + life_ns <="
        " (SELECT start_ns FROM window ORDER BY start_ns LIMIT 1) AND id NOT IN (SELECT process"
        " FROM thread WHERE id IN (SELECT thread FROM sample WHERE window ="
        " (SELECT id FROM window ORDER BY start_ns LIMIT 1)))";
static const char gone_threads_sql[] =
        "DELETE FROM thread WHERE id BETWEEN ?1 AND ?2 AND process BETWEEN ?3 AND ?4 AND NOT"
        " EXISTS (SELECT 1 FROM process p WHERE p.id = thread.process)";

/*
 * Deletes processes that started and ended in a deleted window: on build machines most processes
 * do.
 */
static int delete_people(struct sqlite_store *s, const struct keep_window *w, struct error *err)
{
	int status = keep_put(s, gone_processes_sql, err, "ii", w->process_first, w->process_last);

	return status ? status
	              : keep_put(s, gone_threads_sql, err, "iiii", w->thread_first, w->thread_last,
	                         w->process_first, w->process_last);
}

/* True for a window that readers see, or that waits in a spool. */
static bool counts(const struct keep_window *w)
{
	return w->level >= 0 && w->level <= KEEP_LEVELS;
}

/* Adds to the counts of deleted windows; the time of the window becomes a gap. */
static int count_deleted(struct sqlite_store *s, const struct keep_window *w, struct error *err)
{
	sqlite3_stmt *row;
	int status = keep_row(s, "SELECT merged, samples FROM window WHERE id = ?", &row, err, "i",
	                      w->id);

	if (status == 1)
		sending_count(&s->deleted, (uint64_t)sqlite3_column_int64(row, 0),
		              (uint64_t)sqlite3_column_int64(row, 1));
	sqlite3_reset(row);
	if (status < 0 || !s->options.deleted_why)
		return status < 0 ? status : 0;
	return store_gap_row(s, w->start_ns, w->end_ns, s->options.deleted_why, err);
}

static int delete_some(struct sqlite_store *s, const struct keep_window *w, struct error *err)
{
	bool left;
	int status = is_unchanged(s, w, err);

	if (status != 1)
		return status;
	status = counts(w) ? count_deleted(s, w, err) : 0;
	if (!status)
		status = keep_put(s, "UPDATE window SET level = -1 WHERE id = ?", err, "i", w->id);
	if (!status)
		status = rows_step(s, w->id, 0, 0, &left, err);
	if (!status)
		s->keeper->rows_gone += (uint64_t)sqlite3_changes(s->db.handle);
	if (!status && !left)
		status = delete_window(s, w->id, err);
	return status || left ? status : delete_people(s, w, err);
}

int keep_delete_step(struct sqlite_store *s, uint64_t before_ns, struct error *err)
{
	struct send_count deleted = s->deleted;
	struct keep_window w;
	sqlite3_stmt *find;
	int status = keep_row(s, oldest_sql, &find, err, "i", (int64_t)before_ns);

	status = taken(status, find, &w);
	/* A deletion that has started is completed, even if the window is no longer due. */
	if (status != 1 || (w.end_ns > before_ns && w.level != KEEP_LEVEL_GOES))
		return status < 0 ? status : 0;
	s->keeper->rows_gone++;
	status = in_one(s, delete_some, &w, err);
	if (status != 1)
		s->deleted = deleted;
	return status;
}
