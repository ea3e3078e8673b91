/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff: diff(a_from, a_to, b_from, b_to) compares the shares of functions in two time ranges. */
#include "sql/tables/columns.h"
#include "sql/tables/table.h"
#include "sql/views.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A window belongs to the range in which it begins. Samples of idle time are counted too. */
static const char question[] =
        "WITH own AS (SELECT stack, sum(a) AS a, sum(b) AS b FROM ("
        "SELECT stack, samples AS a, 0 AS b FROM samples"
        " WHERE time_ns >= ?1 AND time_ns < ?2 AND event IN (SELECT event FROM sessions)"
        " UNION ALL "
        "SELECT stack, 0 AS a, samples AS b FROM samples"
        " WHERE time_ns >= ?3 AND time_ns < ?4 AND event IN (SELECT event FROM sessions)"
        ") GROUP BY stack), "
        "placed AS (SELECT f.function AS function,"
        " CASE WHEN f.function IS NULL THEN f.image END AS image, sum(a) AS a, sum(b) AS b"
        " FROM own LEFT JOIN stacks s ON s.id = own.stack"
        " LEFT JOIN frames f ON f.id = s.frame GROUP BY 1, 2) "
        "SELECT coalesce(n.name, '[no symbol]'), i.name, a, b, sum(a) OVER (), sum(b) OVER ()"
        " FROM placed LEFT JOIN functions n ON n.id = placed.function"
        " LEFT JOIN images i ON i.id = coalesce(n.image, placed.image)";

/* Level of significance, two-sided, as a probability and as a z value: an unchanged function is
 * reported once in 100 tests. */
#define CHANCE 0.01
#define Z_BEYOND 2.5758
/* Below this expected count the normal approximation is wrong: Fisher's exact test is used. */
#define EXPECTED_MIN 5

struct diff_row {
	double share_a, share_b, z;
	bool shares, tested, beyond;
};

struct diff_cursor {
	sqlite3_stmt *statement;
	struct diff_row row;
};

static double log_ways(double of, double take)
{
	return lgamma(of + 1) - lgamma(take + 1) - lgamma(of - take + 1);
}

/*
 * Fisher's exact test, two-sided: the probability, by chance alone, of a division of the
 * function's samples between the two ranges that is as unlikely as this one or more unlikely. The
 * number of steps is at most the smallest of the sums.
 */
static double chance_of(double a, double all_a, double b, double all_b)
{
	double in = a + b, all = all_a + all_b, most = fmin(in, all_a), sum = 0;
	double ways = log_ways(all, in), seen = log_ways(all_a, a) + log_ways(all_b, b);

	for (double i = fmax(0, in - all_b); i <= most; i++) {
		double here = log_ways(all_a, i) + log_ways(all_b, in - i);

		if (here <= seen + 1e-7)
			sum += exp(here - ways);
	}
	return sum;
}

/* Test of two proportions, a of all_a and b of all_b. Samples are taken as independent. */
static struct diff_row compare(double a, double all_a, double b, double all_b)
{
	struct diff_row row = {0};
	double both, spread;
	bool few;

	row.shares = all_a > 0 && all_b > 0;
	if (!row.shares)
		return row;
	row.share_a = a / all_a;
	row.share_b = b / all_b;
	both = (a + b) / (all_a + all_b);
	spread = sqrt(both * (1 - both) * (1 / all_a + 1 / all_b));
	row.tested = spread > 0;
	row.z = row.tested ? (row.share_b - row.share_a) / spread : 0;
	few = fmin(both, 1 - both) * fmin(all_a, all_b) < EXPECTED_MIN;
	row.beyond = few ? chance_of(a, all_a, b, all_b) <= CHANCE : fabs(row.z) >= Z_BEYOND;
	return row;
}

static int diff_open(void *ctx, const struct sql_bound *bounds, size_t bound_count, void **cursor,
                     struct error *err)
{
	sqlite3 *db = ctx;
	sqlite3_stmt *statement;
	struct diff_cursor *c;

	if (sqlite3_prepare_v2(db, question, -1, &statement, NULL))
		return error_set(err, EIO, "diff(): %s", sqlite3_errmsg(db));
	for (size_t i = 0; i < bound_count; i++)
		if (bounds[i].column >= DIFF_A_FROM)
			sqlite3_bind_int64(statement, bounds[i].column - DIFF_A_FROM + 1,
			                   bounds[i].low);
	c = xcalloc(1, sizeof(*c));
	c->statement = statement;
	*cursor = c;
	return 0;
}

static int diff_next(void *cursor, struct error *err)
{
	struct diff_cursor *c = cursor;
	int ret = sqlite3_step(c->statement);

	if (ret == SQLITE_DONE)
		return 0;
	if (ret != SQLITE_ROW)
		return error_set(err, EIO, "diff(): %s",
		                 sqlite3_errmsg(sqlite3_db_handle(c->statement)));
	c->row = compare(
	        sqlite3_column_double(c->statement, 2), sqlite3_column_double(c->statement, 4),
	        sqlite3_column_double(c->statement, 3), sqlite3_column_double(c->statement, 5));
	return 1;
}

static void diff_value(void *cursor, int column, sqlite3_context *out)
{
	const struct diff_cursor *c = cursor;
	const struct diff_row *row = &c->row;

	if (column < DIFF_A_SHARE)
		sqlite3_result_value(out, sqlite3_column_value(c->statement, column));
	else if (column == DIFF_BEYOND_CHANCE)
		sqlite3_result_int(out, row->beyond);
	else if (column == DIFF_Z ? row->tested : row->shares)
		sqlite3_result_double(out, column == DIFF_A_SHARE   ? row->share_a
		                           : column == DIFF_B_SHARE ? row->share_b
		                           : column == DIFF_CHANGE  ? row->share_b - row->share_a
		                                                    : row->z);
}

static void diff_close(void *cursor)
{
	struct diff_cursor *c = cursor;

	sqlite3_finalize(c->statement);
	free(c);
}

int sql_diff_add(struct sql *s, sqlite3 *db, struct error *err)
{
	static const struct sql_stream stream = {diff_open, diff_next, diff_value, diff_close};
	const struct sql_table table = {.name = "diff", .stream = &stream, .arguments = 4};

	return sql_table_add(s, &table, db, err);
}
