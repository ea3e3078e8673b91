/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_fixture: queries of tables over a model, and their answers as text. One thread. Uses: sql.
 */
#ifndef ASSAY_TESTS_SQL_FIXTURE_H
#define ASSAY_TESTS_SQL_FIXTURE_H

#include "base/buf.h"
#include "base/xalloc.h"
#include "check.h"
#include "sql/columns.h"
#include "sql/sql.h"

#include <inttypes.h>
#include <stdlib.h>

/* Rows as text: a|b|c, a line each. */
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
			buf_addf(out, "%.10g", values[i].real);
		else if (values[i].type != SQL_NULL)
			buf_puts(out, values[i].text);
	}
	if (row)
		buf_putc(out, '\n');
	return 0;
}

static inline void answer(struct sql *s, const char *query, const char *want)
{
	struct error err = {0};
	struct buf got = {0};

	CHECK(!sql_run(s, query, add_row, &got, &err));
	CHECK_STR(err.text, "");
	CHECK_STR(buf_text(&got), want);
	buf_done(&got);
}

static inline struct sql *opened(void)
{
	struct sql *s = NULL;

	CHECK(!sql_open(&s, NULL));
	return s;
}

/* Every value of every table can be had. */
static inline void look_at_all(struct sql *s)
{
	for (const struct sql_columns *c = sql_columns; c->name; c++) {
		char *query = xasprintf("SELECT * FROM %s", c->name);
		struct error err = {0};
		struct buf rows = {0};

		if (!c->function && sql_run(s, query, add_row, &rows, &err)) {
			printf("# %s: %s\n", query, err.text);
			CHECK(false);
		}
		buf_done(&rows);
		free(query);
	}
}

/* References lead somewhere: of calls, of stacks, of samples. */
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
