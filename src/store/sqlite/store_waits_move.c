/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits of windows that are merged or deleted. */
#include "store/sqlite/store_waits.h"

#include "base/memory/buf.h"
#include "store/store_wait_columns.h"

/* Causes of a merged window; more are summed up. */
#define MERGED_MAX 4000

/* wait_times_sum(a, b): the sum of two histograms. */
static void times_sum(sqlite3_context *out, int count, sqlite3_value **v)
{
	struct call_times t = {0};
	struct buf text = {0};

	bool whole = true;

	for (int i = 0; i < count; i++)
		whole &= store_wait_times_add((const char *)sqlite3_value_text(v[i]), &t);
	store_wait_times_put(&t, &text);
	if (!whole)
		buf_puts(&text, STORE_WAIT_TIMES_DAMAGED);
	sqlite3_result_text(out, buf_text(&text), -1, SQLITE_TRANSIENT);
	buf_done(&text);
	call_times_done(&t);
}

int store_waits_prepare(struct database *db, struct error *err)
{
	int code = sqlite3_create_function(db->handle, "wait_times_sum", 2,
	                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, times_sum,
	                                   NULL, NULL);

	return code ? database_error(db, code, "a function cannot be added", err) : 0;
}

#define ADD_WAITS                                                                                  \
	" ON CONFLICT DO UPDATE SET count = count + excluded.count,"                               \
	" blocked_ns = blocked_ns + excluded.blocked_ns,"                                          \
	" runnable_ns = runnable_ns + excluded.runnable_ns,"                                       \
	" preempted_ns = preempted_ns + excluded.preempted_ns,"                                    \
	" other_ns = other_ns + excluded.other_ns,"                                                \
	" no_stack_ns = no_stack_ns + excluded.no_stack_ns, lost_ns = lost_ns + excluded.lost_ns," \
	" no_waker_ns = no_waker_ns + excluded.no_waker_ns,"                                       \
	" max_ns = max(max_ns, excluded.max_ns), times = wait_times_sum(times, excluded.times)"
#define WAIT_SUMS                                                                                  \
	"count, blocked_ns, runnable_ns, preempted_ns, other_ns, no_stack_ns, lost_ns,"            \
	" no_waker_ns, max_ns, times"

static const char move_waits[] =
        "INSERT INTO wait SELECT ?2, cause, " WAIT_SUMS " FROM wait WHERE window = ?1" ADD_WAITS;
static const char move_times[] =
        "INSERT INTO wait_time SELECT ?2, cause, threads, wall_ns, oncpu_ns, unseen_ns, before_ns,"
        " wakings, beyond, coarse FROM wait_time WHERE window = ?1 ON CONFLICT DO UPDATE SET"
        " threads = max(threads, excluded.threads), wall_ns = wall_ns + excluded.wall_ns,"
        " oncpu_ns = oncpu_ns + excluded.oncpu_ns, unseen_ns = unseen_ns + excluded.unseen_ns,"
        " before_ns = before_ns + excluded.before_ns, wakings = wakings + excluded.wakings,"
        " beyond = beyond + excluded.beyond, coarse = coarse + excluded.coarse";

/* The causes of a window with at most ?2 ns, without those that are sums already. */
#define RARE                                                                                       \
	" FROM wait w JOIN wait_cause c ON c.id = w.cause WHERE w.window = ?1"                     \
	" AND w.blocked_ns + w.runnable_ns <= ?2 AND c.name <>"                                    \
	" (SELECT id FROM name WHERE text = '" STORE_WAIT_OTHERS "')"

static const char bound_sql[] = "SELECT blocked_ns + runnable_ns FROM wait WHERE window = ?1"
                                " ORDER BY 1 DESC LIMIT 1 OFFSET ?2";
static const char name_others[] =
        "INSERT OR IGNORE INTO name (text) VALUES ('" STORE_WAIT_OTHERS "')";
static const char make_others[] =
        "INSERT OR IGNORE INTO wait_cause (service, program, waiter, kind, name, function,"
        " released_by, holder, evidence, device, named) SELECT DISTINCT c.service, c.program, 0,"
        " c.kind, (SELECT id FROM name WHERE text = '" STORE_WAIT_OTHERS
        "'), 0, 0, 0, 0, 0, c.named" RARE;
static const char add_others[] =
        "INSERT INTO wait SELECT w.window, (SELECT o.id FROM wait_cause o WHERE o.service ="
        " c.service AND o.program = c.program AND o.waiter = 0 AND o.kind = c.kind AND o.name ="
        " (SELECT id FROM name WHERE text = '" STORE_WAIT_OTHERS
        "') AND o.function = 0 AND o.released_by = 0 AND o.holder = 0 AND o.evidence = 0 AND"
        " o.device = 0 AND o.named = c.named), w.count, w.blocked_ns, w.runnable_ns,"
        " w.preempted_ns, w.other_ns, w.no_stack_ns, w.lost_ns, w.no_waker_ns, w.max_ns, "
        "w.times" RARE ADD_WAITS;
static const char drop_rare[] =
        "DELETE FROM wait WHERE window = ?1 AND cause IN (SELECT w.cause" RARE ")";

static int put(struct database *db, const char *sql, int64_t first, int64_t second,
               struct error *err)
{
	sqlite3_stmt *statement;
	int status = database_kept(db, sql, &statement, err);

	return status ? status : database_put(db, statement, err, "ii", first, second);
}

static int limit(struct database *db, int64_t window, struct error *err)
{
	sqlite3_stmt *row = NULL;
	int64_t bound = 0;
	int status = database_find(db, bound_sql, &row, err, "ii", window, (int64_t)MERGED_MAX);

	if (status == 1)
		bound = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	if (status != 1)
		return status;
	status = database_run(db, name_others, err);
	if (!status)
		status = put(db, make_others, window, bound, err);
	if (!status)
		status = put(db, add_others, window, bound, err);
	return status ? status : put(db, drop_rare, window, bound, err);
}

int store_waits_move(struct database *db, int64_t from, int64_t into, struct error *err)
{
	int status = put(db, move_waits, from, into, err);

	if (!status)
		status = put(db, move_times, from, into, err);
	if (!status)
		status = limit(db, into, err);
	return status ? status : store_waits_delete(db, from, err);
}

static int delete_from(struct database *db, const char *sql, int64_t window, struct error *err)
{
	sqlite3_stmt *statement;
	int status = database_kept(db, sql, &statement, err);

	return status ? status : database_put(db, statement, err, "i", window);
}

int store_waits_delete(struct database *db, int64_t window, struct error *err)
{
	int status = delete_from(db, "DELETE FROM wait WHERE window = ?", window, err);

	return status ? status
	              : delete_from(db, "DELETE FROM wait_time WHERE window = ?", window, err);
}
