/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sql/table.h"

#include "base/utf8.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "sql/columns.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MODULE "assay"
#define BOUNDS_MAX 16 /* constraints that are looked at; more are SQLite's */

struct added {
	struct sql_table table;
	void *ctx;
};

struct sql_tables {
	VEC(struct added) added;
};

/* What SQLite calls a virtual table, and a cursor of one. */
struct vtab {
	sqlite3_vtab base;
	const struct added *added; /* NULL: empty */
	int columns;
};

struct cursor {
	sqlite3_vtab_cursor base;
	uint64_t row, end; /* streams: end counts nothing */
	void *stream;
	bool more; /* streams */
	int64_t arguments[BOUNDS_MAX];
};

struct sql_tables *sql_tables_new(void)
{
	return xcalloc(1, sizeof(struct sql_tables));
}

void sql_tables_free(struct sql_tables *t)
{
	if (!t)
		return;
	vec_each (added, &t->added)
		if (added->table.done)
			added->table.done(added->ctx);
	vec_done(&t->added);
	free(t);
}

static const struct added *find(const struct sql_tables *t, const char *name)
{
	vec_each (added, &t->added)
		if (!strcmp(added->table.name, name))
			return added;
	return NULL;
}

int sql_tables_add(struct sql_tables *t, const struct sql_table *table, void *ctx)
{
	struct added added = {*table, ctx};

	if (!sql_columns_find(table->name) || find(t, table->name)) {
		if (table->done)
			table->done(ctx);
		return -EINVAL;
	}
	vec_push(&t->added, added);
	return 0;
}

void sql_out_u64(sqlite3_context *out, uint64_t value)
{
	sqlite3_result_int64(out, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void sql_out_known(sqlite3_context *out, uint64_t value)
{
	if (value)
		sql_out_u64(out, value);
}

void sql_out_double(sqlite3_context *out, double value)
{
	if (!isnan(value))
		sqlite3_result_double(out, value);
}

/* Of bytes that are UTF-8 the end; else where it stops to be. */
static const char *text_end(const char *text)
{
	int n;

	while (*text && (n = utf8_length((const unsigned char *)text)))
		text += n;
	return text;
}

static void out_mended(sqlite3_context *out, const char *text)
{
	struct sqlite3_str *str = sqlite3_str_new(NULL);
	char *mended;

	while (*text) {
		const char *end = text_end(text);

		sqlite3_str_append(str, text, (int)(end - text));
		if (*end)
			sqlite3_str_appendall(str, "\xef\xbf\xbd");
		text = end + (*end != '\0');
	}
	mended = sqlite3_str_finish(str);
	sqlite3_result_text(out, mended ? mended : "", -1, SQLITE_TRANSIENT);
	sqlite3_free(mended);
}

static void out_text(sqlite3_context *out, const char *text, sqlite3_destructor_type how)
{
	const char *end;

	if (!text)
		return;
	end = text_end(text);
	if (*end)
		out_mended(out, text);
	else
		sqlite3_result_text64(out, text, (sqlite3_uint64)(end - text), how, SQLITE_UTF8);
}

void sql_out_text(sqlite3_context *out, const char *text)
{
	out_text(out, text, SQLITE_STATIC);
}

void sql_out_copy(sqlite3_context *out, const char *text)
{
	out_text(out, text, SQLITE_TRANSIENT);
}

/* Columns are apart by commas; no type has one. */
static int count_columns(const char *columns)
{
	int count = 1;

	for (; *columns; columns++)
		count += *columns == ',';
	return count;
}

static int on_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                      char **message)
{
	const struct sql_columns *c = argc > 3 ? sql_columns_find(argv[3]) : NULL;
	struct vtab *v;
	char *text;
	int ret;

	if (!c) {
		*message = sqlite3_mprintf("there is no such table of assay's");
		return SQLITE_ERROR;
	}
	text = sqlite3_mprintf("CREATE TABLE x(%s)", c->columns);
	ret = sqlite3_declare_vtab(db, text);
	sqlite3_free(text);
	if (ret)
		return ret;
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	v = xcalloc(1, sizeof(*v));
	v->added = find(aux, c->name);
	v->columns = count_columns(c->columns);
	*out = &v->base;
	return SQLITE_OK;
}

static int on_disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

/* Which constraints are used is told to on_filter() in idxStr: a column and a kind each. */
static bool is_wanted(const struct vtab *v, const struct sqlite3_index_constraint *c)
{
	const struct sql_table *t = &v->added->table;

	if (!c->usable || c->iColumn < 0 || c->iColumn >= 64)
		return false;
	if (c->iColumn >= v->columns - t->arguments)
		return c->op == SQLITE_INDEX_CONSTRAINT_EQ;
	if (!(t->has_id && c->iColumn == 0) && !(t->ranged >> c->iColumn & 1))
		return false;
	return c->op == SQLITE_INDEX_CONSTRAINT_EQ || c->op == SQLITE_INDEX_CONSTRAINT_GT ||
	       c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_LT ||
	       c->op == SQLITE_INDEX_CONSTRAINT_LE;
}

static void estimate(const struct vtab *v, sqlite3_index_info *info, bool id, bool equal,
                     bool range)
{
	const struct sql_table *t = &v->added->table;
	double rows = t->count ? (double)t->count(v->added->ctx) : 1e6;

	if (id) {
		rows = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	} else if (equal) {
		rows = rows / 100 + 1;
	} else if (range) {
		rows = rows / 4 + 1;
	}
	info->estimatedRows = (sqlite3_int64)rows;
	/* A stream is read from its begin, whatever is wanted of it: best once. */
	info->estimatedCost = t->stream ? 1e6 + rows : rows + 1;
}

static int on_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct vtab *v = (const struct vtab *)base;
	char chosen[2 * BOUNDS_MAX + 1];
	bool id = false, equal = false, range = false;
	int used = 0, arguments = 0;

	info->estimatedCost = 1;
	info->estimatedRows = 1;
	if (!v->added)
		return SQLITE_OK;
	for (int i = 0; i < info->nConstraint && used < BOUNDS_MAX; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		bool is_equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ;

		if (!is_wanted(v, c))
			continue;
		if (c->iColumn >= v->columns - v->added->table.arguments) {
			arguments++;
			info->aConstraintUsage[i].omit = 1;
		} else {
			id |= is_equal && v->added->table.has_id && c->iColumn == 0;
			equal |= is_equal;
			range = true;
		}
		chosen[2 * used] = (char)(c->iColumn + 1);
		chosen[2 * used + 1] = (char)c->op;
		info->aConstraintUsage[i].argvIndex = ++used;
	}
	if (arguments < v->added->table.arguments)
		return SQLITE_CONSTRAINT;
	chosen[2 * used] = '\0';
	info->idxStr = sqlite3_mprintf("%s", chosen);
	info->needToFreeIdxStr = 1;
	info->idxNum = used;
	estimate(v, info, id, equal, range);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int on_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct cursor *c = xcalloc(1, sizeof(*c));

	*out = &c->base;
	return SQLITE_OK;
}

static void close_stream(struct cursor *c)
{
	const struct vtab *v = (const struct vtab *)c->base.pVtab;

	if (c->stream)
		v->added->table.stream->close(c->stream);
	c->stream = NULL;
}

static int on_close(sqlite3_vtab_cursor *base)
{
	close_stream((struct cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int fail(struct vtab *v, const struct error *err)
{
	sqlite3_free(v->base.zErrMsg);
	v->base.zErrMsg = sqlite3_mprintf("%s", err->text);
	return SQLITE_ERROR;
}

/*
 * One constraint as a range; false: nothing can be equal to that or in that order with it. What
 * is no number keeps the whole range, and is SQLite's to compare.
 */
static bool bound_of(struct sql_bound *b, int op, sqlite3_value *value)
{
	bool real = sqlite3_value_type(value) == SQLITE_FLOAT;
	double exact = sqlite3_value_double(value);
	int64_t n;

	b->low = INT64_MIN;
	b->high = INT64_MAX;
	if (sqlite3_value_type(value) == SQLITE_NULL)
		return false;
	if (sqlite3_value_type(value) != SQLITE_INTEGER && !real)
		return true;
	if (real && (exact < -9e18 || exact > 9e18))
		return true;
	n = real ? (int64_t)floor(exact) : sqlite3_value_int64(value);
	if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
	    op == SQLITE_INDEX_CONSTRAINT_GE)
		b->low = n;
	if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LT ||
	    op == SQLITE_INDEX_CONSTRAINT_LE)
		b->high = real && n < INT64_MAX ? n + 1 : n;
	return true;
}

static struct sql_bound *bound_for(struct sql_bound *bounds, size_t *count, int column)
{
	for (size_t i = 0; i < *count; i++)
		if (bounds[i].column == column)
			return &bounds[i];
	bounds[*count] = (struct sql_bound){column, INT64_MIN, INT64_MAX};
	return &bounds[(*count)++];
}

/* The rows that all bounds leave. */
static void narrow(const struct added *a, struct cursor *c, const struct sql_bound *b)
{
	uint64_t first = c->row, end = c->end;

	if (a->table.has_id && b->column == 0) {
		int64_t base = a->table.first_id;

		if (b->high < base || b->low > b->high)
			end = first;
		else if ((uint64_t)(b->high - base) < end)
			end = (uint64_t)(b->high - base) + 1;
		if (b->low > base)
			first = (uint64_t)(b->low - base);
	} else if (a->table.range) {
		a->table.range(a->ctx, b, &first, &end);
	}
	c->row = first > c->row ? first : c->row;
	c->end = end < c->end ? end : c->end;
	if (c->row > c->end)
		c->row = c->end;
}

static int step(struct cursor *c)
{
	struct vtab *v = (struct vtab *)c->base.pVtab;
	struct error err; /* it is large, and this is done for each row */
	int ret;

	err.text[0] = '\0';
	ret = v->added->table.stream->next(c->stream, &err);

	c->more = ret > 0;
	return ret < 0 ? fail(v, &err) : SQLITE_OK;
}

static int start_stream(struct cursor *c, struct sql_bound *bounds, size_t count)
{
	struct vtab *v = (struct vtab *)c->base.pVtab;
	const struct added *a = v->added;
	struct error err = {0};

	if (a->table.stream->open(a->ctx, bounds, count, &c->stream, &err))
		return fail(v, &err);
	return step(c);
}

static int start(struct cursor *c, struct sql_bound *bounds, size_t count)
{
	struct vtab *v = (struct vtab *)c->base.pVtab;
	const struct added *a = v->added;

	if (a->table.stream)
		return start_stream(c, bounds, count);
	c->end = a->table.count(a->ctx);
	for (size_t i = 0; i < count; i++)
		narrow(a, c, &bounds[i]);
	return SQLITE_OK;
}

static int fail_argument(struct vtab *v)
{
	struct error err = {0};

	error_set(&err, EINVAL, "%s() takes whole numbers: ns since 1970", v->added->table.name);
	return fail(v, &err);
}

static int on_filter(sqlite3_vtab_cursor *base, int index_number, const char *chosen, int argc,
                     sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct vtab *v = (struct vtab *)base->pVtab;
	struct sql_bound bounds[BOUNDS_MAX];
	size_t count = 0;

	close_stream(c);
	c->row = c->end = 0;
	c->more = false;
	if (!v->added)
		return SQLITE_OK;
	for (int i = 0; i < argc && i < BOUNDS_MAX; i++) {
		int column = chosen[2 * i] - 1;
		int hidden = column - (v->columns - v->added->table.arguments);
		struct sql_bound one, *all = bound_for(bounds, &count, column);

		if (hidden >= 0 && sqlite3_value_numeric_type(argv[i]) != SQLITE_INTEGER)
			return fail_argument(v);
		if (!bound_of(&one, chosen[2 * i + 1], argv[i]))
			return SQLITE_OK;
		all->low = one.low > all->low ? one.low : all->low;
		all->high = one.high < all->high ? one.high : all->high;
		if (hidden >= 0 && hidden < BOUNDS_MAX)
			c->arguments[hidden] = one.low;
	}
	return start(c, bounds, count);
}

static int on_next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	c->row++;
	return c->stream ? step(c) : SQLITE_OK;
}

static int on_eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (const struct cursor *)base;

	return c->stream ? !c->more : c->row >= c->end;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
	struct cursor *c = (struct cursor *)base;
	const struct vtab *v = (const struct vtab *)base->pVtab;
	int hidden = column - (v->columns - v->added->table.arguments);

	if (hidden >= 0)
		sqlite3_result_int64(out, c->arguments[hidden]);
	else if (c->stream)
		v->added->table.stream->value(c->stream, column, out);
	else if (column == 0 && v->added->table.has_id)
		sqlite3_result_int64(out, (int64_t)c->row + v->added->table.first_id);
	else
		v->added->table.value(v->added->ctx, c->row, column, out);
	return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)((const struct cursor *)base)->row;
	return SQLITE_OK;
}

static const sqlite3_module module = {
        .iVersion = 1,
        .xCreate = on_connect,
        .xConnect = on_connect,
        .xBestIndex = on_best_index,
        .xDisconnect = on_disconnect,
        .xDestroy = on_disconnect,
        .xOpen = on_open,
        .xClose = on_close,
        .xFilter = on_filter,
        .xNext = on_next,
        .xEof = on_eof,
        .xColumn = on_column,
        .xRowid = on_rowid,
};

int sql_tables_create(struct sql_tables *t, sqlite3 *db, bool (*there)(void *, const char *),
                      void *ctx, struct error *err)
{
	int ret = sqlite3_create_module_v2(db, MODULE, &module, t, NULL);

	for (const struct sql_columns *c = sql_columns; c->name && !ret; c++) {
		char *text;

		if (there && there(ctx, c->name))
			continue;
		text = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.%s USING " MODULE "(%s)", c->name,
		                       c->name);
		ret = sqlite3_exec(db, text, NULL, NULL, NULL);
		sqlite3_free(text);
	}
	return ret ? error_set(err, EIO, "cannot make the tables: %s", sqlite3_errmsg(db)) : 0;
}
