/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff: diff(a_from, a_to, b_from, b_to) compares functions in two time ranges. */
#include "sql/tables/columns.h"
#include "sql/tables/table.h"
#include "sql/views.h"

#include "base/memory/xalloc.h"
#include "symbol/symbolizer.h"
#include "view/diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A window belongs to the range in which it begins. Samples of idle time are counted too. */
static const char windows_question[] =
        "SELECT id, end_ns - start_ns FROM windows WHERE start_ns >= ?1 AND start_ns < ?2"
        " ORDER BY start_ns, id";
static const char samples_question[] =
        "WITH own AS (SELECT stack, window, sum(samples) AS samples, sum(weight) AS weight"
        " FROM samples WHERE time_ns >= ?1 AND time_ns < ?2"
        " AND event IN (SELECT event FROM sessions) GROUP BY stack, window), "
        "placed AS (SELECT f.function AS function,"
        " CASE WHEN f.function IS NULL THEN f.image END AS image, own.window AS window,"
        " sum(own.samples) AS samples, sum(own.weight) AS weight"
        " FROM own LEFT JOIN stacks s ON s.id = own.stack"
        " LEFT JOIN frames f ON f.id = s.frame GROUP BY 1, 2, 3) "
        "SELECT coalesce(n.name, '" SYMBOL_UNNAMED "'), i.name, window, samples, weight"
        " FROM placed LEFT JOIN functions n ON n.id = placed.function"
        " LEFT JOIN images i ON i.id = coalesce(n.image, placed.image)";

/* The parts of a range that are compared as runs. */
#define PARTS 8

struct diff_window {
	int64_t id;
	uint32_t run;
};

struct diff_cursor {
	sqlite3 *db;
	int64_t bounds[2 * DIFF_SIDES];
	VEC(struct diff_window) windows; /* windows of the range that is read, by id */
	struct diff_runs runs;
	struct diff *diff;
	const struct diff_change **changes; /* by row; NULL: the row was not tested alone */
	double (*samples)[DIFF_SIDES];      /* by row */
	double all[DIFF_SIDES];
	size_t row, next;
};

static int failed(struct diff_cursor *c, struct error *err)
{
	return error_set(err, EIO, "diff(): %s", sqlite3_errmsg(c->db));
}

static int prepare(struct diff_cursor *c, const char *question, int side, sqlite3_stmt **out,
                   struct error *err)
{
	if (sqlite3_prepare_v2(c->db, question, -1, out, NULL))
		return failed(c, err);
	sqlite3_bind_int64(*out, 1, c->bounds[2 * side]);
	sqlite3_bind_int64(*out, 2, c->bounds[2 * side + 1]);
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct diff_window *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Divides the windows of a range into runs. */
static int add_windows(struct diff_cursor *c, int side, struct error *err)
{
	VEC(double) lengths = {0};
	sqlite3_stmt *statement;
	size_t parts, each;
	int ret = prepare(c, windows_question, side, &statement, err), step = SQLITE_DONE;
	uint32_t first = (uint32_t)c->runs.runs.count;

	c->windows.count = 0;
	while (!ret && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		vec_push(&c->windows, (struct diff_window){sqlite3_column_int64(statement, 0), 0});
		vec_push(&lengths, sqlite3_column_double(statement, 1) / 1e9);
	}
	if (!ret && step != SQLITE_DONE)
		ret = failed(c, err);
	sqlite3_finalize(statement);
	each = c->windows.count / PARTS + (c->windows.count % PARTS != 0);
	parts = each ? c->windows.count / each : 0;
	for (size_t i = 0; i < parts; i++)
		diff_runs_add(&c->runs, (enum diff_side)side, "", 0);
	for (size_t i = 0; i < c->windows.count; i++) {
		size_t part = i / (c->windows.count / parts);

		c->windows.items[i].run = first + (uint32_t)(part < parts ? part : parts - 1);
		c->runs.runs.items[c->windows.items[i].run].work += lengths.items[i];
	}
	if (c->windows.count)
		qsort(c->windows.items, c->windows.count, sizeof(*c->windows.items), by_id);
	vec_done(&lengths);
	return ret;
}

static void add_samples(struct diff_cursor *c, sqlite3_stmt *statement)
{
	const char *function = (const char *)sqlite3_column_text(statement, 0);
	const char *image = (const char *)sqlite3_column_text(statement, 1);
	struct diff_window key = {sqlite3_column_int64(statement, 2), 0}, *window = NULL;
	double samples = sqlite3_column_double(statement, 3);
	double weight = sqlite3_column_double(statement, 4);
	bool kernel = image && *image == '[';
	uint32_t row = diff_runs_row(&c->runs, function, image ? image : "", "",
	                             kernel ? DIFF_KERNEL : DIFF_USER);

	if (c->windows.count)
		window = bsearch(&key, c->windows.items, c->windows.count, sizeof(key), by_id);
	if (window)
		diff_run_count(&c->runs, window->run, diff_runs_path(&c->runs, DIFF_NO_PATH, row),
		               samples, weight > 0 ? weight : samples);
}

static int add_range(struct diff_cursor *c, int side, struct error *err)
{
	sqlite3_stmt *statement;
	int ret = add_windows(c, side, err), step = SQLITE_DONE;

	if (!ret)
		ret = prepare(c, samples_question, side, &statement, err);
	if (ret)
		return ret;
	while ((step = sqlite3_step(statement)) == SQLITE_ROW)
		add_samples(c, statement);
	if (step != SQLITE_DONE)
		ret = failed(c, err);
	sqlite3_finalize(statement);
	return ret;
}

static void compare(struct diff_cursor *c)
{
	const struct diff_runs *t = &c->runs;

	vec_each (run, &c->runs.runs)
		if (!(run->work > 0))
			run->work = 1; /* a window without a length */
	c->diff = diff_new(t, NULL);
	c->changes = xcalloc(t->rows.count + 1, sizeof(*c->changes));
	c->samples = xcalloc(t->rows.count + 1, sizeof(*c->samples));
	vec_each (change, &c->diff->changes)
		if (change->row != ID_NONE)
			c->changes[change->row] = change;
	vec_each (run, &t->runs)
		for (size_t path = 1; path < run->paths.count; path++) {
			double samples = run->paths.items[path].count;

			c->samples[t->paths.items[path].row][run->side] += samples;
			c->all[run->side] += samples;
		}
}

static void diff_close(void *cursor)
{
	struct diff_cursor *c = cursor;

	diff_free(c->diff);
	diff_runs_done(&c->runs);
	vec_done(&c->windows);
	free(c->changes);
	free(c->samples);
	free(c);
}

static int diff_open(void *ctx, const struct sql_bound *bounds, size_t bound_count, void **cursor,
                     struct error *err)
{
	struct diff_cursor *c = xcalloc(1, sizeof(*c));
	int ret = 0;

	c->db = ctx;
	diff_runs_init(&c->runs);
	c->runs.parts = true;
	for (size_t i = 0; i < bound_count; i++)
		if (bounds[i].column >= DIFF_A_FROM)
			c->bounds[bounds[i].column - DIFF_A_FROM] = bounds[i].low;
	for (int side = 0; !ret && side < DIFF_SIDES; side++)
		ret = add_range(c, side, err);
	if (ret) {
		diff_close(c);
		return ret;
	}
	compare(c);
	*cursor = c;
	return 0;
}

static int diff_next(void *cursor, struct error *err)
{
	struct diff_cursor *c = cursor;

	c->row = c->next++;
	return c->row < c->runs.rows.count;
}

static void diff_value(void *cursor, int column, sqlite3_context *out)
{
	const struct diff_cursor *c = cursor;
	const struct diff_row *row = &c->runs.rows.items[c->row];
	const struct diff_change *change = c->changes[c->row];
	const double *samples = c->samples[c->row];
	bool shares = c->all[DIFF_A] > 0 && c->all[DIFF_B] > 0;
	double a = shares ? samples[DIFF_A] / c->all[DIFF_A] : 0;
	double b = shares ? samples[DIFF_B] / c->all[DIFF_B] : 0;

	if (column == DIFF_FUNCTION)
		sql_out_text(out, intern_text(&c->runs.texts, row->function));
	else if (column == DIFF_IMAGE && row->image)
		sql_out_text(out, intern_text(&c->runs.texts, row->image));
	else if (column == DIFF_A_SAMPLES || column == DIFF_B_SAMPLES)
		sqlite3_result_int64(out, (sqlite3_int64)samples[column == DIFF_B_SAMPLES]);
	else if (column == DIFF_BEYOND_CHANCE)
		sqlite3_result_int(out, shares && change && diff_is_change(&change->e));
	else if (shares && column >= DIFF_A_SHARE && column <= DIFF_CHANGE)
		sqlite3_result_double(out, column == DIFF_A_SHARE   ? a
		                           : column == DIFF_B_SHARE ? b
		                                                    : b - a);
	else if (shares && change && column >= DIFF_RATIO && column <= DIFF_Q)
		sql_out_double(out, column == DIFF_RATIO  ? change->e.ratio
		                    : column == DIFF_LOW  ? change->e.low
		                    : column == DIFF_HIGH ? change->e.high
		                                          : change->e.q);
}

int sql_diff_add(struct sql *s, sqlite3 *db, struct error *err)
{
	static const struct sql_stream stream = {diff_open, diff_next, diff_value, diff_close};
	const struct sql_table table = {.name = "diff", .stream = &stream, .arguments = 4};

	return sql_table_add(s, &table, db, err);
}
