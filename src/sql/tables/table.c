/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sql/tables/table.h"

#include "base/memory/vec.h"
#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MODULE "assay"
#define BOUNDS_MAX                                                                                 \
	16 /* maximum number of constraints that a table uses; SQLite checks all others itself */

struct added {
	struct sql_table table;
	void *ctx;
};

struct sql_tables {
	VEC(struct added *) added; /* cursors keep pointers to the elements */
	/* adds the missing tables at the first query; NULL: done, or not needed */
	sql_load_fn *load;
	void *load_ctx;
	void (*load_done)(void *ctx);
	const volatile sig_atomic_t *stop;
};

/* An open virtual table. */
struct vtab {
	sqlite3_vtab base;
	struct sql_tables *tables;
	const char *name;
	const struct added *added; /* NULL: empty, or not loaded yet */
	int columns;
};

struct sql_table_cursor {
	sqlite3_vtab_cursor base;
	uint64_t row, end; /* a stream does not use `end` */
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
	vec_each (added, &t->added) {
		if ((*added)->table.done)
			(*added)->table.done((*added)->ctx);
		free(*added);
	}
	vec_done(&t->added);
	if (t->load_done)
		t->load_done(t->load_ctx);
	free(t);
}

static const struct added *find(const struct sql_tables *t, const char *name)
{
	vec_each (added, &t->added)
		if (!strcmp((*added)->table.name, name))
			return *added;
	return NULL;
}

int sql_tables_add(struct sql_tables *t, const struct sql_table *table, void *ctx)
{
	struct added *added;

	if (!sql_columns_find(table->name) || find(t, table->name)) {
		if (table->done)
			table->done(ctx);
		return -EINVAL;
	}
	added = xmalloc(sizeof(*added));
	*added = (struct added){*table, ctx};
	vec_push(&t->added, added);
	return 0;
}

void sql_tables_later(struct sql_tables *t, sql_load_fn *load, void *ctx, void (*done)(void *ctx))
{
	t->load = load;
	t->load_ctx = ctx;
	t->load_done = done;
}

void sql_tables_stop_when(struct sql_tables *t, const volatile sig_atomic_t *flag)
{
	t->stop = flag;
}

/* Commas separate columns; no type contains a comma. */
static int count_columns(const char *columns)
{
	int count = 1;

	for (; *columns; columns++)
		count += *columns == ',';
	return count;
}

static const char *column_at(const char *columns, int column)
{
	for (; column > 0; column--)
		columns = strchr(columns, ',') + 2;
	return columns;
}

static int on_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                      char **message)
{
	const struct sql_columns *c = argc > 3 ? sql_columns_find(argv[3]) : NULL;
	struct vtab *v;
	char *text;
	int ret;

	if (!c) {
		*message = sqlite3_mprintf("assay has no table of this name");
		return SQLITE_ERROR;
	}
	text = sqlite3_mprintf("CREATE TABLE x(%s)", c->columns);
	ret = sqlite3_declare_vtab(db, text);
	sqlite3_free(text);
	if (ret)
		return ret;
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	v = xcalloc(1, sizeof(*v));
	v->tables = aux;
	v->name = c->name;
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

/* on_best_index() passes the used constraints to on_filter() as a string: two characters per
 * constraint, CHOSEN_COLUMN + column and the kind (kind_of()). */
#define CHOSEN_COLUMN 'A'

static char kind_of(int op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	default:
		return 'l';
	}
}

static bool is_wanted(const struct vtab *v, const struct sqlite3_index_constraint *c)
{
	const struct sql_table *t = &v->added->table;

	if (!c->usable || c->iColumn < 0 || c->iColumn >= 'z' - CHOSEN_COLUMN)
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
	/* Each scan of a stream reads from its start, so the planner should scan it once. */
	info->estimatedCost = t->stream ? 1e6 + rows : rows + 1;
}

static int fail(struct vtab *v, const struct error *err)
{
	sqlite3_free(v->base.zErrMsg);
	v->base.zErrMsg = sqlite3_mprintf("%s", err->text);
	return SQLITE_ERROR;
}

/* Loads the rows of the table at the first query. */
static int load_rows(struct vtab *v)
{
	struct sql_tables *t = v->tables;
	struct error err = {0};

	if (!v->added)
		v->added = find(t, v->name);
	if (v->added || !t->load)
		return SQLITE_OK;
	if (t->load(t->load_ctx, t->stop, &err))
		return fail(v, &err);
	t->load = NULL;
	v->added = find(t, v->name);
	return SQLITE_OK;
}

/* The string for on_filter(), followed by the constraints in words for EXPLAIN QUERY PLAN. */
static char *chosen_text(const struct vtab *v, const char *chosen)
{
	const struct sql_columns *c = sql_columns_find(v->name);
	struct sqlite3_str *text = sqlite3_str_new(NULL);

	sqlite3_str_appendall(text, chosen);
	for (const char *at = chosen; *at; at += 2) {
		const char *name = column_at(c->columns, at[0] - CHOSEN_COLUMN);
		const char *sign = at[1] == 'g' ? ">=" : at[1] == 'l' ? "<=" : NULL;

		sqlite3_str_appendf(text, "%s%.*s", at == chosen ? " (" : " AND ",
		                    (int)strcspn(name, " "), name);
		sqlite3_str_appendf(text, "%.*s?%s", sign ? 2 : 1, sign ? sign : at + 1,
		                    at[2] ? "" : ")");
	}
	return sqlite3_str_finish(text);
}

/* SQLite prepares a statement. The rows are loaded here, since the planner needs their number. */
static int on_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct vtab *v = (struct vtab *)base;
	char chosen[2 * BOUNDS_MAX + 1];
	bool id = false, equal = false, range = false;
	int used = 0, arguments = 0;

	info->estimatedCost = 1;
	info->estimatedRows = 1;
	if (load_rows(v))
		return SQLITE_ERROR;
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
		chosen[2 * used] = (char)(c->iColumn + CHOSEN_COLUMN);
		chosen[2 * used + 1] = kind_of(c->op);
		info->aConstraintUsage[i].argvIndex = ++used;
	}
	if (arguments < v->added->table.arguments)
		return SQLITE_CONSTRAINT;
	chosen[2 * used] = '\0';
	info->idxStr = chosen_text(v, chosen);
	info->needToFreeIdxStr = 1;
	info->idxNum = used;
	estimate(v, info, id, equal, range);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int on_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct sql_table_cursor *c = xcalloc(1, sizeof(*c));

	*out = &c->base;
	return SQLITE_OK;
}

static void close_stream(struct sql_table_cursor *c)
{
	const struct vtab *v = (const struct vtab *)c->base.pVtab;

	if (c->stream)
		v->added->table.stream->close(c->stream);
	c->stream = NULL;
}

static int on_close(sqlite3_vtab_cursor *base)
{
	close_stream((struct sql_table_cursor *)base);
	free(base);
	return SQLITE_OK;
}

/*
 * Converts one constraint to a range. false: the value is NULL, so no row can match. A value that
 * is not a number gives the whole range, and SQLite compares the rows.
 */
static bool bound_of(struct sql_bound *b, char kind, sqlite3_value *value)
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
	if (kind == '=' || kind == '>' || kind == 'g')
		b->low = n;
	if (kind == '=' || kind == '<' || kind == 'l')
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

/* Reduces the rows of the cursor to those that `b` allows. */
static void narrow(const struct added *a, struct sql_table_cursor *c, const struct sql_bound *b)
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

static int step(struct sql_table_cursor *c)
{
	struct vtab *v = (struct vtab *)c->base.pVtab;
	struct error err; /* large: setting all of it to 0 for each row would be slow */
	int ret;

	err.text[0] = '\0';
	ret = v->added->table.stream->next(c->stream, &err);

	c->more = ret > 0;
	return ret < 0 ? fail(v, &err) : SQLITE_OK;
}

static int start_stream(struct sql_table_cursor *c, struct sql_bound *bounds, size_t count)
{
	struct vtab *v = (struct vtab *)c->base.pVtab;
	const struct added *a = v->added;
	struct error err = {0};

	if (a->table.stream->open(a->ctx, bounds, count, &c->stream, &err))
		return fail(v, &err);
	return step(c);
}

static int start(struct sql_table_cursor *c, struct sql_bound *bounds, size_t count)
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
	struct sql_table_cursor *c = (struct sql_table_cursor *)base;
	struct vtab *v = (struct vtab *)base->pVtab;
	struct sql_bound bounds[BOUNDS_MAX];
	size_t count = 0;

	close_stream(c);
	c->row = c->end = 0;
	c->more = false;
	if (!v->added)
		return SQLITE_OK;
	for (int i = 0; i < argc && i < BOUNDS_MAX; i++) {
		int column = chosen[2 * i] - CHOSEN_COLUMN;
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
	struct sql_table_cursor *c = (struct sql_table_cursor *)base;

	c->row++;
	return c->stream ? step(c) : SQLITE_OK;
}

static int on_eof(sqlite3_vtab_cursor *base)
{
	const struct sql_table_cursor *c = (const struct sql_table_cursor *)base;

	return c->stream ? !c->more : c->row >= c->end;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
	struct sql_table_cursor *c = (struct sql_table_cursor *)base;
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
	*out = (sqlite3_int64)((const struct sql_table_cursor *)base)->row;
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
	return ret ? error_set(err, EIO, "cannot create the tables: %s", sqlite3_errmsg(db)) : 0;
}
