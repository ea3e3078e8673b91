/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_output: what a query gives, on standard output, in the form that was asked for.
 *
 * table: columns that line up, numbers on the right; control characters, and bytes that are
 * no text, as \x1b. csv: RFC 4180 with LF, and a line of names; NULL is empty, a text that is empty
 * is "". json: an array of objects; a name that comes twice gets a number. Rows are written as
 * they come: memory is bounded but for rows themselves. Nothing is held. One thread. Uses:
 * base, output, sql.
 */
#ifndef ASSAY_CMD_SQL_SQL_OUTPUT_H
#define ASSAY_CMD_SQL_SQL_OUTPUT_H

#include "cmd/cli/style.h"
#include "sql/sql.h"

enum sql_format { SQL_TABLE, SQL_CSV, SQL_JSON };

#define SQL_FORMATS "table,csv,json"

/* NULL: table. False: there is no such form. */
bool sql_format_parse(const char *name, enum sql_format *format);

/* Asks, and writes; the exit status. After an error what came so far is written, and looks cut. */
int sql_output_ask(struct sql *s, const char *query, enum sql_format format,
                   const struct style_options *style);
/* command_fail() with the sentence; what a file's own names say in it moves no terminal. */
int sql_output_fail(const struct error *err);

#endif
