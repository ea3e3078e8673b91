/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/sql/sql_output.h"

#include "base/text/json.h"
#include "base/text/medium_text.h"
#include "base/text/plain_text.h"
#include "base/file/spill.h"
#include "base/memory/vec.h"
#include "base/memory/xalloc.h"
#include "cmd/cli/command.h"
#include "output/text/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLE_ROWS 2000 /* the first rows decide the widths of the columns */

struct sql_output {
	enum sql_format format;
	const struct text_style *style;
	struct spill *out;
	VEC(char *) names; /* names of the statement's columns; empty: no statement runs */
	struct json json;
	/* table: rows that are not printed yet */
	struct table table;
	VEC(char *) cells;
	VEC(bool) texts; /* by column: true if a value was not a number */
	size_t rows;
	bool aligned; /* the table has its columns */
};

bool sql_format_parse(const char *name, enum sql_format *format)
{
	static const char *const names[] = {"table", "csv", "json"};

	*format = SQL_TABLE;
	if (!name)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i])) {
			*format = (enum sql_format)i;
			return true;
		}
	return false;
}

/* Resets the state after a statement. */
static void forget(struct sql_output *o)
{
	if (o->aligned)
		table_done(&o->table);
	vec_each (name, &o->names)
		free(*name);
	vec_each (cell, &o->cells)
		free(*cell);
	o->names.count = o->cells.count = o->texts.count = o->rows = 0;
	o->aligned = false;
}

static void add_hex(struct buf *out, const struct sql_value *v)
{
	for (size_t i = 0; i < v->bytes; i++)
		buf_addf(out, "%02x", (unsigned char)v->text[i]);
}

/* Adds the shortest text that is read as the same number. */
static void add_real(struct buf *out, double value)
{
	char text[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_puts(out, text);
}

static void add_cell(struct sql_output *o, size_t column, const struct sql_value *v)
{
	struct buf text = {0};

	switch (v->type) {
	case SQL_NULL:
		buf_puts(&text, "NULL");
		break;
	case SQL_INTEGER:
		buf_addf(&text, "%" PRId64, v->integer);
		break;
	case SQL_REAL:
		/* Times in ns of 1 ms and more are printed without an exponent. */
		buf_addf(&text, fabs(v->real) >= 1e5 && fabs(v->real) < 1e15 ? "%.0f" : "%.6g",
		         v->real);
		break;
	case SQL_TEXT:
		plain_text_add(&text, v->text, v->bytes);
		break;
	case SQL_BLOB:
		buf_puts(&text, "x'");
		add_hex(&text, v);
		buf_putc(&text, '\'');
		break;
	}
	o->texts.items[column] |= v->type >= SQL_TEXT;
	vec_push(&o->cells, xstrdup(buf_text(&text)));
	buf_done(&text);
}

/* Prints the buffered rows. The first rows decide which columns are numbers. */
static void print_cells(struct sql_output *o)
{
	size_t columns = o->names.count;

	if (!o->aligned) {
		table_init(&o->table, o->style);
		o->table.squeezed = true;
		for (size_t i = 0; i < columns; i++)
			table_column(&o->table, o->names.items[i],
			             o->texts.items[i] || !o->rows ? TABLE_LEFT : TABLE_RIGHT);
		o->aligned = true;
	}
	for (size_t i = 0; i < o->cells.count; i++) {
		if (i % columns == 0)
			table_row(&o->table, TABLE_ROW);
		table_text(&o->table, o->cells.items[i]);
		free(o->cells.items[i]);
	}
	o->cells.count = 0;
	table_flush(&o->table, &o->out->buf);
	spill_some(o->out);
}

static void csv_row(struct buf *out, const struct sql_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct sql_value *v = &values[i];

		if (i)
			buf_putc(out, ',');
		if (v->type == SQL_INTEGER)
			buf_addf(out, "%" PRId64, v->integer);
		else if (v->type == SQL_REAL)
			add_real(out, v->real);
		else if (v->type == SQL_TEXT)
			medium_csv_field(out, v->text, v->bytes, false);
		else if (v->type == SQL_BLOB)
			add_hex(out, v);
	}
	buf_putc(out, '\n');
}

/* json_double() rounds as reports do; here each number is exactly SQLite's. */
static void json_real(struct json *j, double value)
{
	json_null(j);
	if (!isfinite(value))
		return;
	j->out->size -= strlen("null");
	add_real(j->out, value);
}

static void json_value(struct json *j, const struct sql_value *v)
{
	struct buf hex = {0};

	switch (v->type) {
	case SQL_NULL:
		json_null(j);
		break;
	case SQL_INTEGER:
		json_i64(j, v->integer);
		break;
	case SQL_REAL:
		json_real(j, v->real);
		break;
	case SQL_TEXT:
		json_text(j, v->text, v->bytes);
		break;
	case SQL_BLOB:
		add_hex(&hex, v);
		json_str(j, buf_text(&hex));
		buf_done(&hex);
		break;
	}
}

static bool is_known(const struct sql_output *o, const char *name)
{
	vec_each (known, &o->names)
		if (!strcmp(*known, name))
			return true;
	return false;
}

/* An object has each name once: a second `id` is `id_2`. */
static char *json_name(const struct sql_output *o, const char *name)
{
	char *own = xstrdup(name);

	for (int number = 2; is_known(o, own); number++) {
		free(own);
		own = xasprintf("%s_%d", name, number);
	}
	return own;
}

static void begin(struct sql_output *o, const struct sql_value *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct buf plain = {0};

		plain_text_add(&plain, names[i].text, names[i].bytes);
		vec_push(&o->names, o->format == SQL_JSON ? json_name(o, names[i].text)
		                                          : xstrdup(buf_text(&plain)));
		vec_push(&o->texts, false);
		buf_done(&plain);
	}
	if (o->format == SQL_CSV)
		csv_row(&o->out->buf, names, count);
	if (o->format == SQL_JSON)
		json_array(&o->json);
}

/* Ends the output after the last row. */
static void finish(struct sql_output *o)
{
	if (!o->names.count)
		return;
	if (o->format == SQL_TABLE) {
		print_cells(o);
	} else if (o->format == SQL_JSON) {
		json_end_array(&o->json);
		json_init(&o->json, &o->out->buf);
	}
	forget(o);
}

static int take_row(void *output, uint64_t row, const struct sql_value *values, size_t count,
                    struct error *err)
{
	struct sql_output *o = output;

	if (!row) {
		finish(o);
		begin(o, values, count);
		return 0;
	}
	if (o->format == SQL_CSV) {
		csv_row(&o->out->buf, values, count);
	} else if (o->format == SQL_JSON) {
		json_object(&o->json);
		for (size_t i = 0; i < count; i++) {
			json_key(&o->json, o->names.items[i]);
			json_value(&o->json, &values[i]);
		}
		json_end_object(&o->json);
	} else {
		for (size_t i = 0; i < count; i++)
			add_cell(o, i, &values[i]);
		if (++o->rows % TABLE_ROWS == 0)
			print_cells(o);
	}
	spill_some(o->out);
	return o->out->code ? error_set(err, o->out->code, "cannot write the rows: %s",
	                                strerror(o->out->code))
	                    : 0;
}

int sql_output_fail(const struct error *err)
{
	return command_fail(1, "sql: %s", err->text);
}

/* Prints the rows so far. A JSON array stays open, so that a truncated output does not look
 * complete. */
static void cut(struct sql_output *o)
{
	if (o->names.count && o->format == SQL_TABLE && o->rows)
		print_cells(o);
	if (o->names.count && o->format == SQL_JSON)
		buf_putc(&o->out->buf, '\n');
	json_init(&o->json, &o->out->buf);
	forget(o);
}

int sql_output_ask(struct sql *s, const char *query, enum sql_format format,
                   const struct style_options *style)
{
	struct text_style chosen;
	struct spill out;
	struct sql_output output = {.format = format, .style = &chosen, .out = &out};
	struct error err = {0};
	int ret;

	style_choose(style, &chosen);
	spill_to(&out, STDOUT_FILENO, "standard output");
	json_init(&output.json, &out.buf);
	ret = sql_run(s, query, take_row, &output, &err);
	if (ret)
		cut(&output);
	else
		finish(&output);
	vec_done(&output.names);
	vec_done(&output.cells);
	vec_done(&output.texts);
	if (spill_close(&out, true, ret ? NULL : &err) && !ret)
		ret = -1;
	return ret ? sql_output_fail(&err) : 0;
}
