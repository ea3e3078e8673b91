/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_fixture: queries over the tables of a model, and their results as text. One thread. Uses:
 * sql.
 */
#ifndef ASSAY_TESTS_SQL_FIXTURE_H
#define ASSAY_TESTS_SQL_FIXTURE_H

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "check.h"
#include "sql/tables/columns.h"
#include "sql/sql.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The rows of the last query, and its error. */
static struct buf sql_rows;
static char sql_failure[1024];

/* Rows as text: a|b|c, one on each line; numbers with four decimals. */
static inline int add_row(void *ctx, uint64_t row, const struct sql_value *values, size_t count,
                          struct error *err)
{
	struct buf *out = ctx;

	for (size_t i = 0; row && i < count; i++) {
		if (i)
			buf_putc(out, '|');
		if (values[i].type == SQL_INTEGER)
			buf_addf(out, "%" PRId64, values[i].integer);
		else if (values[i].type == SQL_REAL)
			buf_addf(out, "%.10g", round(values[i].real * 1e4) / 1e4);
		else if (values[i].type != SQL_NULL)
			buf_puts(out, values[i].text);
	}
	if (row)
		buf_putc(out, '\n');
	return 0;
}

static inline const char *ask(struct sql *s, const char *question)
{
	struct error err = {0};
	int ret;

	buf_clear(&sql_rows);
	ret = sql_run(s, question, add_row, &sql_rows, &err);
	snprintf(sql_failure, sizeof(sql_failure), "%s", err.text);
	if (ret)
		printf("# %s: %s\n", question, err.text);
	return ret ? "failed" : buf_text(&sql_rows);
}

/* The error of a query; "" if it has none. */
static inline const char *refusal(struct sql *s, const char *question)
{
	struct error err = {0};

	buf_clear(&sql_rows);
	sql_failure[0] = '\0';
	if (sql_run(s, question, add_row, &sql_rows, &err))
		snprintf(sql_failure, sizeof(sql_failure), "%s", err.text);
	return sql_failure;
}

static inline void answer(struct sql *s, const char *question, const char *want)
{
	CHECK_STR(ask(s, question), want);
	CHECK_STR(sql_failure, "");
}

static inline struct sql *opened(void)
{
	struct sql *s = NULL;

	CHECK(!sql_open(&s, NULL));
	return s;
}

/* Reads each value of each table. */
static inline void look_at_all(struct sql *s)
{
	for (const struct sql_columns *c = sql_columns; c->name; c++) {
		char *query = xasprintf("SELECT * FROM %s", c->name);

		if (!c->function)
			CHECK(strcmp(ask(s, query), "failed") != 0);
		free(query);
	}
}

/* Checks that references of calls, stacks and samples refer to existing rows. */
static inline void hold_together(struct sql *s)
{
	answer(s, "SELECT count(*) FROM calls WHERE parent NOT IN (SELECT id FROM calls)", "0\n");
	answer(s, "SELECT count(*) FROM calls WHERE function NOT IN (SELECT id FROM functions)",
	       "0\n");
	answer(s, "SELECT count(*) FROM calls WHERE process NOT IN (SELECT id FROM processes)",
	       "0\n");
	answer(s,
	       "SELECT count(*) FROM stacks WHERE parent >= id OR frame NOT IN (SELECT id FROM "
	       "frames) OR (parent > 0 AND parent NOT IN (SELECT id FROM stacks))",
	       "0\n");
	answer(s,
	       "SELECT count(*) FROM samples WHERE stack NOT IN (SELECT id FROM stacks) OR process "
	       "NOT IN (SELECT id FROM processes) OR event NOT IN (SELECT event FROM sessions)",
	       "0\n");
	look_at_all(s);
}

#endif
