/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of a range. The answer is read twice: its stacks and threads are needed before its rows
 * can be added, since their ids are numbered in the order of callers.
 */
#include "store/clickhouse/click_fetch_internal.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static int take_service(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	bool added;

	if (v[0].number)
		click_map_place(&f->keys, v[0].number, &added);
	return 0;
}

static bool is_chosen(const struct store_range *range, const char *service)
{
	return range->choice ? range->choice->service(range->choice->ctx, service)
	                     : !sqlite3_strglob(range->service, service);
}

static int take_service_name(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	char *name = xstrndup(v[1].size ? v[1].bytes : "", v[1].size);

	if (is_chosen(f->range, name))
		buf_addf(&f->service_list, "%s%" PRIu64, f->service_list.size ? "," : "",
		         v[0].number);
	buf_addf(&f->names_seen, "%s%s", f->names_seen.size ? ", " : "", name);
	free(name);
	return 0;
}

/* The names of services are compared here: no statement contains a text. */
static int choose_services(struct click_fetch *f, struct error *err)
{
	struct buf sql = {0};
	int status;

	if (!f->range->service && !f->range->choice)
		return 0;
	click_map_done(&f->keys);
	buf_clear(&f->names_seen);
	buf_puts(&sql, "SELECT DISTINCT service FROM samples");
	click_fetch_where(f, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	status = click_fetch_rows(f, buf_text(&sql), NULL, "q", "services", take_service, err);
	buf_done(&sql);
	/* Samples without a service have the hash 0, and no row of a name. */
	if (!status && f->range->choice && is_chosen(f->range, ""))
		buf_puts(&f->service_list, "0");
	if (!status)
		status = click_fetch_rows(f,
		                          "SELECT DISTINCT id, text FROM names WHERE id IN keys "
		                          "ORDER BY text FORMAT RowBinary",
		                          &f->keys, "qs", "services", take_service_name, err);
	if (!status && !f->service_list.size && f->range->choice)
		return error_set(err, ENODATA, "%s has no samples of the selected services",
		                 f->server->name);
	if (!status && !f->service_list.size)
		status = error_set(err, EINVAL, "%s has no samples of service '%s'; it has: %s",
		                   f->server->name, f->range->service,
		                   f->names_seen.size ? buf_text(&f->names_seen) : "none");
	return status;
}

#define COLUMNS "qqqwbqqbqqqq" /* window or program, thread, stack, cpu, mode, ... */

static void ask_samples(const struct click_fetch *f, struct buf *sql)
{
	const char *more = f->service_list.size ? " AND service IN (" : "";
	const char *end = f->service_list.size ? ")" : "";

	if (f->sums)
		buf_puts(sql, "SELECT program, toUInt64(0), stack, cpu, mode, event, region,"
		              " stack_end, sum(samples), toUInt64(sum(toInt64(weight) + idle_ns)), "
		              "sum(runnable_ns),"
		              " sum(blocked_ns) FROM samples");
	else
		buf_puts(sql, "SELECT part, thread, stack, cpu, mode, event, region, stack_end,"
		              " samples, weight, runnable_ns, blocked_ns FROM samples");
	click_fetch_where(f, sql);
	buf_addf(sql, "%s%s%s AND part IN keys%s FORMAT RowBinary", more,
	         buf_text(&f->service_list), end,
	         f->sums ? " GROUP BY program, stack, cpu, mode, event, region, stack_end" : "");
}

static int see_sample(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	bool added;

	if (f->sums)
		click_map_number(&f->names, v[0].number);
	else
		click_map_place(&f->threads, v[1].number, &added);
	if (v[2].number)
		click_map_place(&f->stacks, v[2].number, &added);
	click_map_number(&f->events, v[5].number);
	if (v[6].number)
		click_map_number(&f->images, v[6].number);
	return 0;
}

static int add_sample(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	static const char upsert[] =
	        "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO "
	        "UPDATE SET samples = samples + excluded.samples, weight = weight + "
	        "excluded.weight, runnable_ns = runnable_ns + excluded.runnable_ns, "
	        "blocked_ns = blocked_ns + excluded.blocked_ns";
	int64_t window = 1, thread;

	if (f->sums) {
		thread = -(int64_t)click_map_get(&f->names, v[0].number);
	} else {
		window = (int64_t)click_map_get(&f->parts, v[0].number);
		thread = (int64_t)click_map_get(&f->threads, v[1].number);
	}
	if (!window)
		return 0;
	return click_fetch_put(f, upsert, err, "iiiiniinnnnn", window, thread,
	                       (int64_t)click_map_get(&f->stacks, v[2].number),
	                       row_value_signed_16(&v[3]), &v[4],
	                       (int64_t)click_map_get(&f->events, v[5].number),
	                       (int64_t)click_map_get(&f->images, v[6].number), &v[7], &v[8], &v[9],
	                       &v[10], &v[11]);
}

/* One process and one thread for each name, as in merged windows of SQLite stores. */
static int add_program(struct click_fetch *f, int64_t name, struct error *err)
{
	int status = click_fetch_put(f,
	                             "INSERT OR IGNORE INTO process (id, host, name, instance,"
	                             " kernel, instances) VALUES (-?1, 1, ?1, 1, 0, 0)",
	                             err, "i", name);

	return status ? status
	              : click_fetch_put(f,
	                                "INSERT OR IGNORE INTO thread (id, process, tid, name)"
	                                " VALUES (-?1, -?1, -1, ?1)",
	                                err, "i", name);
}

static int note_sums(struct click_fetch *f, struct error *err)
{
	char text[128];
	struct row_value note = {.bytes = text};

	note.size = (size_t)snprintf(text, sizeof(text),
	                             "Samples of %zu machines are added up by the names of "
	                             "programs.",
	                             f->hosts.pairs.count);
	return click_fetch_put(f,
	                       "INSERT OR REPLACE INTO session_note SELECT session, -1, ? FROM"
	                       " window WHERE id = 1",
	                       err, "t", &note);
}

static int add_programs(struct click_fetch *f, struct error *err)
{
	int status = 0;

	for (size_t i = 0; !status && i < f->names.pairs.count; i++)
		status = add_program(f, (int64_t)f->names.pairs.items[i].value, err);
	return status ? status : note_sums(f, err);
}

int click_fetch_samples(struct click_fetch *f, struct error *err)
{
	struct buf sql = {0}, answer = {0};
	int status = choose_services(f, err);

	ask_samples(f, &sql);
	if (!status)
		status = f->server->ask(f->server, buf_text(&sql), &f->parts, &answer, err);
	if (!status)
		status = click_fetch_each(f, &answer, COLUMNS, "samples", see_sample, err);
	if (!status)
		status = f->sums ? add_programs(f, err) : click_fetch_threads(f, err);
	if (!status)
		status = click_fetch_stacks(f, err);
	if (!status)
		status = click_fetch_each(f, &answer, COLUMNS, "samples", add_sample, err);
	buf_done(&answer);
	buf_done(&sql);
	return status;
}
