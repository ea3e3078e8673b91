/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_fetch_internal.h"

#include "base/limit.h"
#include "base/piece.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define MAPS 21
/* The memory is compared with its limit after so many rows. */
#define ROWS_BETWEEN PIECE_OF(16384)

struct fetch_row {
	struct click_fetch *fetch;
	click_row_fn *row;
};

/* Maps with an entry for rows of answers, or one for each name. */
static void fetch_maps(struct click_fetch *f, struct click_map *maps[MAPS])
{
	struct click_map *const all[MAPS] = {
	        &f->hosts,        &f->sessions,      &f->keys,      &f->parts,  &f->threads,
	        &f->processes,    &f->stacks,        &f->frames,    &f->images, &f->names,
	        &f->events,       &f->nodes,         &f->functions, &f->more,   &f->causes,
	        &f->host_of,      &f->first_of_host, &f->versions,  &f->labels, &f->folded,
	        &f->folded_counts};

	memcpy(maps, all, sizeof(all));
}

static int fetch_room(struct click_fetch *f, struct error *err)
{
	struct click_map *maps[MAPS];
	size_t bytes = f->samples->room * sizeof(*f->samples->items) +
	               f->thread_rows.room * sizeof(*f->thread_rows.items) +
	               (size_t)sqlite3_memory_used();

	if (f->rows)
		bytes += f->rows->stacks.room * sizeof(*f->rows->stacks.items);
	fetch_maps(f, maps);
	for (size_t i = 0; i < MAPS; i++)
		bytes += maps[i]->pairs.room * sizeof(*maps[i]->pairs.items) +
		         (maps[i]->table.slots ? maps[i]->table.mask + 1 : 0) *
		                 sizeof(*maps[i]->table.slots);
	return bytes <= LIMIT_STORE_FETCHED_BYTES
	               ? 0
	               : error_set(err, ENOSPC, "the rows do not fit into memory");
}

static int fetch_row(void *ctx, const struct row_value *v, struct error *err)
{
	const struct fetch_row *to = ctx;
	int status = 0;

	if (!(++to->fetch->taken % ROWS_BETWEEN))
		status = fetch_room(to->fetch, err);
	return status ? status : to->row(to->fetch, v, err);
}

int click_fetch_rows(struct click_fetch *f, const char *sql, const struct click_map *set,
                     const char *letters, const char *what, click_row_fn *row, struct error *err)
{
	struct fetch_row to = {f, row};

	return click_server_rows(f->server, sql, set, letters, what, fetch_row, &to, err);
}

static int bind(sqlite3_stmt *put, int place, char letter, va_list *values)
{
	const struct row_value *v;

	if (letter != 'z' && letter != 'i')
		v = va_arg(*values, const struct row_value *);
	switch (letter) {
	case 't':
		return sqlite3_bind_text64(put, place, v->bytes ? v->bytes : "", v->size,
		                           SQLITE_STATIC, SQLITE_UTF8);
	case 'b':
		return sqlite3_bind_blob64(put, place, v->bytes ? v->bytes : "", v->size,
		                           SQLITE_STATIC);
	case 'e': /* an empty text is NULL */
		return v->size ? sqlite3_bind_text64(put, place, v->bytes, v->size, SQLITE_STATIC,
		                                     SQLITE_UTF8)
		               : sqlite3_bind_null(put, place);
	case 'n':
		return sqlite3_bind_int64(put, place, (int64_t)v->number);
	default:
		break;
	}
	{
		int64_t number = va_arg(*values, int64_t);

		return letter == 'z' && number == CLICK_NULL
		               ? sqlite3_bind_null(put, place)
		               : sqlite3_bind_int64(put, place, number);
	}
}

int click_fetch_put(struct click_fetch *f, const char *sql, struct error *err, const char *letters,
                    ...)
{
	sqlite3_stmt *put;
	va_list values;
	int status = database_kept(f->db, sql, &put, err), code = 0;

	if (status)
		return status;
	va_start(values, letters);
	for (int i = 0; !code && letters[i]; i++)
		code = bind(put, i + 1, letters[i], &values);
	va_end(values);
	if (code)
		return database_error(f->db, code, "a value cannot be bound", err);
	return database_step(f->db, put, err);
}

/* first_s > last_s: no time, and no rows. */
static void put_where(const char *hosts, uint64_t first_s, uint64_t last_s, struct buf *sql)
{
	bool any = first_s <= last_s;

	buf_addf(sql,
	         " WHERE %s AND time >= toDateTime(%" PRIu64 ") AND time <= toDateTime(%" PRIu64
	         ")",
	         hosts, any ? first_s : 1, any ? last_s : 0);
}

void click_fetch_where(const struct click_fetch *f, struct buf *sql)
{
	put_where(buf_text(&f->of_hosts), f->first_s, f->last_s, sql);
}

/* PREWHERE: the other columns are read for these parts only. */
void click_fetch_where_parts(const struct click_fetch *f, struct buf *sql)
{
	buf_puts(sql, " PREWHERE part GLOBAL IN keys");
	click_fetch_where(f, sql);
}

static void put_samples(const struct click_fetch *f, const char *hosts, uint64_t first_s,
                        uint64_t last_s, struct buf *sql)
{
	buf_puts(sql, " FROM " CLICK_SAMPLES " PREWHERE part GLOBAL IN keys");
	put_where(hosts, first_s, last_s, sql);
	click_server_and_in(f->server, CLICK_OF_SERVICE, &f->chosen_services, sql);
	click_server_and_in(f->server, CLICK_OF_VERSION, &f->chosen_versions, sql);
	click_server_and_in(f->server, CLICK_OF_LABELS, &f->chosen_labels, sql);
}

/*
 * With sums, the times of windows without a sum and those of sums are read by two selections: with
 * one condition for both, the server would read most of the table.
 */
void click_fetch_from(const struct click_fetch *f, const char *columns, struct buf *sql)
{
	const struct click_group *g = f->chosen;

	if (!f->sums) {
		put_samples(f, buf_text(&f->of_hosts), f->first_s, f->last_s, sql);
		return;
	}
	buf_addf(sql, " FROM (SELECT %s", columns);
	put_samples(f, buf_text(&f->of_hosts), g->first_s, g->last_s, sql);
	buf_addf(sql, " UNION ALL SELECT %s", columns);
	put_samples(f, f->all_plain ? "service = 0 AND host = 0" : "host = 0", g->sums_first_s,
	            g->sums_last_s, sql);
	buf_puts(sql, ")");
}

const struct click_map *click_fetch_distinct(struct click_fetch *f, const char *column,
                                             struct buf *sql)
{
	f->chosen = &f->all;
	buf_addf(sql, "SELECT DISTINCT %s", column);
	click_fetch_from(f, column, sql);
	buf_puts(sql, " FORMAT RowBinary");
	return f->sums ? &f->all.totals : &f->parts;
}

static int take_bytes(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	return click_fetch_put(f, "INSERT OR REPLACE INTO property VALUES ('bytes', ?)", err, "n",
	                       &v[0]);
}

/* The size on the server that answers. A user may have no right to see it. */
static void fetch_bytes(struct click_fetch *f)
{
	struct error ignored = {0};

	click_fetch_rows(f,
	                 "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database ="
	                 " currentDatabase() FORMAT RowBinary",
	                 NULL, "q", "its size", take_bytes, &ignored);
}

int click_fetch_all(struct click_fetch *f, struct error *err)
{
	int status = click_schema_check(f->server, err);

	f->samples = f->rows ? &f->rows->samples : &f->own;
	if (!status)
		status = click_fetch_hosts(f, err);
	if (!status)
		status = click_fetch_windows(f, err);
	if (!status && f->waits_alone)
		status = click_fetch_services(f, err);
	else if (!status)
		status = click_fetch_samples(f, err);
	/* Sums of several windows have no place for the waits of each. */
	if (!status && !f->sums)
		status = click_fetch_waits(f, err);
	if (!status && !f->sums && !f->only && !f->waits_alone)
		status = click_fetch_changes(f, err);
	if (!status && !f->only && !f->waits_alone)
		fetch_bytes(f);
	return status ? status : click_fetch_names(f, err);
}

void click_fetch_done(struct click_fetch *f)
{
	struct click_map *maps[MAPS];

	fetch_maps(f, maps);
	for (size_t i = 0; i < MAPS; i++)
		click_map_done(maps[i]);
	click_map_done(&f->first_of);
	click_map_done(&f->last_of);
	vec_each (group, &f->groups) {
		click_map_done(&group->parts);
		click_map_done(&group->totals);
		vec_done(&group->windows);
	}
	vec_done(&f->groups);
	click_map_done(&f->all.parts);
	click_map_done(&f->all.totals);
	vec_done(&f->begins_s);
	vec_done(&f->seen);
	vec_done(&f->spans);
	vec_done(&f->rests);
	vec_done(&f->own);
	vec_done(&f->thread_rows);
	vec_done(&f->rest_order);
	click_map_done(&f->rest_keys);
	buf_done(&f->of_hosts);
	click_server_drop_tables(f->server);
	click_map_done(&f->chosen_services);
	click_map_done(&f->chosen_versions);
	click_map_done(&f->chosen_labels);
	buf_done(&f->names_seen);
}

int click_fetch(struct click_server *server, const struct store_range *range, struct database *into,
                struct store_rows *rows, bool waits_alone, struct error *err)
{
	struct click_fetch f = {.server = server,
	                        .range = range,
	                        .db = into,
	                        .rows = rows,
	                        .waits_alone = waits_alone};
	int status = database_run(into, "BEGIN IMMEDIATE", err);

	server->progress = range->progress;
	server->progress_ctx = range->progress_ctx;
	if (!status) {
		status = click_fetch_all(&f, err);
		if (!status)
			status = database_run(into, "COMMIT", err);
		if (status && !sqlite3_get_autocommit(into->handle))
			database_run(into, "ROLLBACK", NULL);
	}
	click_fetch_done(&f);
	return status;
}
