/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_output: rows of a query as they come, in the form that was asked for.
 *
 * table: columns that line up, numbers on the right; control characters, and bytes that are
 * no text, as \x1b. csv: RFC 4180, with a line of names; NULL is empty, a text that is empty
 * is "". json: an array of objects; a name that comes twice gets a number. Memory is bounded
 * but for rows themselves.
 *
 * sql_output_init(); sql_output_row() is a sql_row_fn of any number of statements;
 * sql_output_end() after the last row, or sql_output_break() after an error; then _done().
 * One thread. Uses: base, output, sql.
 */
#ifndef ASSAY_CMD_SQL_OUTPUT_H
#define ASSAY_CMD_SQL_OUTPUT_H

#include "base/json.h"
#include "base/spill.h"
#include "base/vec.h"
#include "output/table.h"
#include "sql/sql.h"

enum sql_format { SQL_TABLE, SQL_CSV, SQL_JSON };

struct sql_output {
	enum sql_format format;
	const struct text_style *style;
	struct spill *out;
	VEC(char *) names; /* of the statement's columns; empty: none is under way */
	struct json json;
	/* table: rows that are not printed yet */
	struct table table;
	VEC(char *) cells;
	VEC(bool) texts; /* by column: something else than a number came */
	size_t rows;
	bool aligned; /* the table has its columns */
};

#define SQL_FORMATS "table,csv,json"

/* NULL: table. False: there is no such form. */
bool sql_format_parse(const char *name, enum sql_format *format);

void sql_output_init(struct sql_output *o, enum sql_format format, const struct text_style *style,
                     struct spill *out);
void sql_output_done(struct sql_output *o);
int sql_output_row(void *output, uint64_t row, const struct sql_value *values, size_t count,
                   struct error *err);
/* command_fail() with the sentence; what a file's own names say in it moves no terminal. */
int sql_output_fail(const struct error *err);
void sql_output_end(struct sql_output *o);
/* Rows so far are printed; an array stays open: what is cut short is not to look whole. */
void sql_output_break(struct sql_output *o);

#endif
