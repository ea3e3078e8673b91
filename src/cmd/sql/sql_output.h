/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_output: writes the rows of a query to standard output in the selected format.
 *
 * table: aligned columns, numbers on the right; control characters, and bytes that are not text, as
 * \x1b. csv: RFC 4180 with LF, and a header line; NULL is empty, an empty text is "". json: an
 * array of objects; a repeated name gets a number. Rows are written as they arrive, so memory is
 * bounded except for the size of a row. Stateless. One thread. Uses: base, output, sql.
 */
#ifndef ASSAY_CMD_SQL_SQL_OUTPUT_H
#define ASSAY_CMD_SQL_SQL_OUTPUT_H

#include "cmd/cli/style.h"
#include "sql/sql.h"

enum sql_format { SQL_TABLE, SQL_CSV, SQL_JSON };

#define SQL_FORMATS "table,csv,json"

/* NULL: table. False: unknown format. */
bool sql_format_parse(const char *name, enum sql_format *format);

/* Runs a query and writes its rows. Returns the exit status. After an error the rows so far are
 * written, visibly truncated. */
int sql_output_ask(struct sql *s, const char *query, enum sql_format format,
                   const struct style_options *style);
/* command_fail() with the error; names from the file are escaped for a terminal. */
int sql_output_fail(const struct error *err);

#endif
