/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions: stack_text(), leaf(), kernel_entry(), ns_text(), time_text(). Stacks are read from the
 * public tables, so the functions work for recordings and for stores.
 */
#include "sql/views.h"

#include "base/memory/buf.h"
#include "base/memory/vec.h"
#include "base/memory/xalloc.h"
#include "symbol/symbolizer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH_MAX 65536 /* frames of one stack; a damaged file may contain more */

static const char step[] =
        "SELECT s.parent, coalesce(n.name, '" SYMBOL_UNNAMED "') FROM stacks s "
        "LEFT JOIN frames f ON f.id = s.frame LEFT JOIN functions n ON n.id = f.function "
        "WHERE s.id = ?1";

/* A frame of the cached stack, and the end of its text. */
struct told {
	sqlite3_int64 id;
	size_t end;
};

struct sql_functions {
	sqlite3_stmt *step; /* NULL: not prepared yet */
	/*
	 * The last stack, outermost first, with ascending ids. Most stacks begin like the previous
	 * one.
	 */
	VEC(struct told) line;
	struct buf text;
};

/* Prepared at the first call and kept, since a query may call a function for each row. */
static sqlite3_stmt *step_of(sqlite3_context *out)
{
	struct sql_functions *f = sqlite3_user_data(out);
	sqlite3 *db = sqlite3_context_db_handle(out);

	if (!f->step && sqlite3_prepare_v2(db, step, -1, &f->step, NULL))
		sqlite3_result_error(out, sqlite3_errmsg(db), -1);
	return f->step;
}

/* The name of the innermost function of a stack; NULL: the stack does not exist. *id becomes the
 * parent. */
static char *take_name(sqlite3_stmt *statement, sqlite3_int64 *id)
{
	sqlite3_int64 parent = 0;
	char *name = NULL;

	sqlite3_bind_int64(statement, 1, *id);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 1);

		name = xstrdup(text ? text : "");
		parent = sqlite3_column_int64(statement, 0);
	}
	sqlite3_reset(statement);
	/* A parent must have a smaller id than its child. Otherwise a cycle would never end. */
	*id = parent < *id ? parent : 0;
	return name;
}

static void leaf(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	sqlite3_int64 id = sqlite3_value_int64(argv[0]);
	sqlite3_stmt *statement = step_of(out);
	char *name = statement ? take_name(statement, &id) : NULL;

	if (name)
		sqlite3_result_text(out, name, -1, SQLITE_TRANSIENT);
	free(name);
}

void sql_functions_forget(struct sql_functions *f)
{
	f->line.count = 0;
	buf_clear(&f->text);
}

/* Number of frames of the cached stack up to `id`; 0: it does not contain `id`. */
static size_t line_to(const struct sql_functions *f, sqlite3_int64 id)
{
	size_t low = 0, high = f->line.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->line.items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->line.count && f->line.items[low].id == id ? low + 1 : 0;
}

struct step_up {
	sqlite3_int64 id;
	char *name;
};

static void add_step(struct sql_functions *f, const struct step_up *up)
{
	if (f->line.count)
		buf_putc(&f->text, ';');
	buf_puts(&f->text, up->name);
	vec_push(&f->line, (struct told){up->id, f->text.size});
}

/* Makes the stack the cached one. false: it has more than DEPTH_MAX frames, and is cut. */
static bool tell_stack(struct sql_functions *f, sqlite3_int64 id)
{
	VEC(struct step_up) steps = {0};
	size_t kept = 0;
	char *name;

	while (id > 0 && !(kept = line_to(f, id)) && steps.count < DEPTH_MAX) {
		sqlite3_int64 own = id;

		name = take_name(f->step, &id);
		if (!name)
			break;
		vec_push(&steps, (struct step_up){own, name});
	}
	f->line.count = kept;
	f->text.size = kept ? f->line.items[kept - 1].end : 0;
	while (steps.count) {
		add_step(f, &steps.items[--steps.count]);
		free(steps.items[steps.count].name);
	}
	vec_done(&steps);
	return f->line.count < DEPTH_MAX;
}

static void stack_text(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	struct sql_functions *f = sqlite3_user_data(out);
	sqlite3_int64 id = sqlite3_value_int64(argv[0]);
	bool whole;

	if (!step_of(out))
		return;
	whole = tell_stack(f, id);
	if (!whole) { /* keep the innermost frames; the cached frames do not apply */
		sql_functions_forget(f);
		tell_stack(f, id);
	}
	if (f->line.count)
		sqlite3_result_text64(out, buf_text(&f->text), f->text.size, SQLITE_TRANSIENT,
		                      SQLITE_UTF8);
	if (!whole)
		sql_functions_forget(f);
}

/* How a kernel function enters the kernel; NULL: it is no entry. */
static void kernel_entry(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	static const char *const names[] = {
	        [ENTRY_SYSCALL] = "syscall",     [ENTRY_FAULT] = "fault",
	        [ENTRY_INTERRUPT] = "interrupt", [ENTRY_SOFTIRQ] = "softirq",
	        [ENTRY_THREAD] = "thread",       [ENTRY_IDLE] = "idle"};
	const char *function = (const char *)sqlite3_value_text(argv[0]);
	enum kernel_entry entry = function ? kernel_entry_of(function) : ENTRY_NONE;

	if (entry != ENTRY_NONE)
		sqlite3_result_text(out, names[entry], -1, SQLITE_STATIC);
}

static bool is_number(sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void ns_text(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	static const struct {
		double ns;
		const char *name;
		int places;
		double half; /* half of the last printed digit, in the smaller unit */
	} units[] = {{1e9, "s", 3, 5e3}, {1e6, "ms", 2, 5}, {1e3, "us", 2, 0.5}, {1, "ns", 0, 0}};
	double ns = sqlite3_value_double(argv[0]), size = ns < 0 ? -ns : ns;
	char text[400]; /* a double has up to 309 digits before the point */
	size_t i = 0;

	if (!is_number(argv[0]))
		return;
	/* A value that would be rounded to 1000 of a unit is printed as 1 of the next unit. */
	while (i < 3 && size < units[i].ns - units[i].half)
		i++;
	snprintf(text, sizeof(text), "%.*f %s", units[i].places, ns / units[i].ns, units[i].name);
	sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

static void time_text(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	sqlite3_int64 ns = sqlite3_value_int64(argv[0]), rest = ns % 1000000000;
	time_t seconds = (time_t)(ns / 1000000000 - (rest < 0));
	struct tm tm;
	char text[64];
	size_t used;

	if (!is_number(argv[0]))
		return;
	rest += rest < 0 ? 1000000000 : 0;
	if (!localtime_r(&seconds, &tm))
		return;
	used = strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text + used, sizeof(text) - used, ".%03d", (int)(rest / 1000000));
	sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

void sql_functions_free(struct sql_functions *f)
{
	if (!f)
		return;
	sqlite3_finalize(f->step);
	vec_done(&f->line);
	buf_done(&f->text);
	free(f);
}

int sql_functions_add(struct sql_functions **out, sqlite3 *db, struct error *err)
{
	static const struct {
		const char *name;
		void (*function)(sqlite3_context *, int, sqlite3_value **);
	} functions[] = {{"stack_text", stack_text},
	                 {"leaf", leaf},
	                 {"kernel_entry", kernel_entry},
	                 {"ns_text", ns_text},
	                 {"time_text", time_text}};

	*out = xcalloc(1, sizeof(**out));
	/* DIRECTONLY: views and indexes of an untrusted file must not call them. */
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (sqlite3_create_function_v2(db, functions[i].name, 1,
		                               SQLITE_UTF8 | SQLITE_DIRECTONLY, *out,
		                               functions[i].function, NULL, NULL, NULL))
			return error_set(err, EIO, "cannot create the SQL functions: %s",
			                 sqlite3_errmsg(db));
	return 0;
}
