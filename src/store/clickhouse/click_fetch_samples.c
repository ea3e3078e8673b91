/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of a range. Rows are kept with the places of their threads and stacks, since these are
 * numbered in the order of callers, when all are known.
 */
#include "store/clickhouse/click_fetch_internal.h"

#include "base/memory/xalloc.h"
#include "profile/profile.h"
#include "store/clickhouse/click_digest.h"
#include "store/clickhouse/click_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* Rows of the sums of several hosts: a reader needs 0.1 ms for each. */
#define PATHS_MAX 10000
/* Places of stacks: none, and that of all rare paths. */
#define NO_STACK UINT32_MAX
#define OTHER_STACK (UINT32_MAX - 1)
#define ROWS_MORE 65536
/* Columns that are summed. */
#define REST_SUMS 8
#define REST_SUMS_END 12

#define COLUMNS "qqqwbqqbqqqqqq" /* window, thread (or program, group), stack, cpu, mode, ... */

/* The rows of a group: the most frequent paths; all others become one. */
static size_t paths_of(const struct click_fetch *f)
{
	const char *paths = getenv("ASSAY_CLICKHOUSE_PATHS");
	size_t all = paths ? strtoul(paths, NULL, 10) : PATHS_MAX;

	return all / f->groups.count + 1;
}

/* Rows of several groups in one answer. A key that is a constant would cost half as much again. */
static bool is_divided(const struct click_fetch *f)
{
	return f->chosen == &f->all && f->groups.count > 1;
}

/* The number of the group of a row. Groups that follow each other are known by the time. */
static void put_group(const struct click_fetch *f, struct buf *sql)
{
	size_t chosen = f->chosen == &f->all ? 0 : (size_t)(f->chosen - f->groups.items);

	buf_addf(sql, "toUInt64(%zu", chosen);
	for (size_t i = 1; i < f->begins_s.count && is_divided(f); i++)
		buf_addf(sql, " + (time >= toDateTime(%" PRIu64 "))", f->begins_s.items[i]);
	buf_puts(sql, ") AS part_of_time");
}

#define SUMMED "samples, period, weight, idle_ns, runnable_ns, blocked_ns, time"

/* `paths`: the most frequent ones of each group of windows, else sums over all paths. */
static void ask_sums(const struct click_fetch *f, bool paths, struct buf *sql)
{
	const char *columns = paths ? "program, cpu, mode, event, region, stack_end, stack"
	                            : "program, cpu, mode, event, region, stack_end";
	char *used = xasprintf("%s, " SUMMED, columns);

	buf_puts(sql, "SELECT program, ");
	put_group(f, sql);
	buf_addf(sql,
	         ", %s, cpu, mode, event, region, stack_end,"
	         " sum(samples) AS seen, toUInt64(sum(toInt64(samples * period + weight) +"
	         " idle_ns)), sum(runnable_ns), sum(blocked_ns), toUInt64(0), toUInt64(0)",
	         paths ? "stack" : "toUInt64(0)");
	click_fetch_from(f, used, sql);
	buf_addf(sql, " GROUP BY %s%s", is_divided(f) ? "part_of_time, " : "", columns);
	if (paths)
		buf_addf(sql, " ORDER BY %smode = %d DESC, seen DESC, stack, %s LIMIT %zu%s",
		         is_divided(f) ? "part_of_time, " : "", PROFILE_IDLE, columns, paths_of(f),
		         is_divided(f) ? " BY part_of_time" : "");
	else
		buf_addf(sql, " ORDER BY part_of_time, %s", columns);
	buf_puts(sql, " FORMAT RowBinary");
	free(used);
}

static void ask_samples(const struct click_fetch *f, struct buf *sql)
{
	buf_puts(sql, "SELECT part, thread, stack, cpu, mode, event, region, stack_end,"
	              " samples, samples * period + weight, runnable_ns, blocked_ns,"
	              " version, labels");
	click_fetch_from(f, NULL, sql);
	buf_puts(sql, " FORMAT RowBinary");
}

/* The index of a key's pair, which is added if it is new. */
static uint32_t pair_of(struct click_map *m, uint64_t key, bool numbered)
{
	bool added;
	uint64_t *value = click_map_place(m, key, &added);

	if (added && numbered)
		*value = m->pairs.count;
	return (uint32_t)(((const char *)value - (const char *)m->pairs.items) /
	                  sizeof(*m->pairs.items));
}

/* What a row of an answer refers to, except its stack: the next row often has the same. */
static void see_others(struct click_fetch *f, const struct row_value *v)
{
	bool added;

	f->last_thread = f->sums ? pair_of(&f->names, v[0].number, true)
	                         : pair_of(&f->threads, v[1].number, false);
	if (v[12].number)
		*click_map_place(&f->versions, v[1].number, &added) = v[12].number;
	if (v[13].number)
		*click_map_place(&f->labels, v[1].number, &added) = v[13].number;
	f->last_event = (uint32_t)click_map_number(&f->events, v[5].number);
	f->last_region = v[6].number ? (uint32_t)click_map_number(&f->images, v[6].number) : 0;
}

/* The memory grows by an eighth: its double may exceed the limit. */
static void push_sample(struct store_samples *samples, const struct store_sample *s)
{
	if (samples->count == samples->room) {
		samples->room += samples->room / 8 + ROWS_MORE;
		samples->items = xrealloc(samples->items, samples->room, sizeof(*samples->items));
	}
	samples->items[samples->count++] = *s;
}

static int64_t window_of_part(struct click_fetch *f, uint64_t part)
{
	if (part != f->last_part || !f->last_part) {
		f->last_part = part;
		f->last_window = (int64_t)click_map_get(&f->parts, part);
	}
	return f->last_window;
}

/* A row that was seen last. Windows of a group get its rows in turn. */
static int add_sample(struct click_fetch *f, const struct row_value *v, uint32_t thread,
                      uint32_t stack, struct error *err)
{
	struct click_group *group = f->sums ? &f->groups.items[v[1].number] : NULL;
	struct store_sample s = {
	        .thread = (int32_t)thread,
	        .stack = stack,
	        .cpu = (int16_t)row_value_signed_16(&v[3]),
	        .mode = (uint8_t)v[4].number,
	        .event = f->last_event,
	        .region = f->last_region,
	        .stack_end = (uint8_t)v[7].number,
	        .samples = v[8].number,
	        .weight = v[9].number,
	        .runnable_ns = v[10].number,
	        .blocked_ns = v[11].number,
	};

	if (group && !group->windows.count)
		return click_server_bad(f->server, "samples", err);
	s.window = (int32_t)(group ? group->windows.items[f->turn++ % group->windows.count]
	                           : window_of_part(f, v[0].number));
	if (s.window)
		push_sample(f->samples, &s);
	return 0;
}

static int see_row(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	const uint64_t key[CLICK_LAST] = {v[f->sums ? 0 : 1].number, v[5].number, v[6].number,
	                                  v[12].number, v[13].number};

	if (f->sums && v[1].number >= f->groups.count)
		return click_server_bad(f->server, "samples", err);
	if (f->last_thread == UINT32_MAX || memcmp(key, f->last_key, sizeof(key)) != 0)
		see_others(f, v);
	memcpy(f->last_key, key, sizeof(key));
	return 0;
}

static int take_sample(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	int status = see_row(f, v, err);
	uint32_t stack = v[2].number ? pair_of(&f->stacks, v[2].number, false) : NO_STACK;

	return status ? status : add_sample(f, v, f->last_thread, stack, err);
}

/* The sums of rows that differ in their paths only. */
static struct click_rest *rest_of(struct click_fetch *f, const struct row_value *v)
{
	uint64_t key = click_digest("rest", "qqqqqqq", v[0].number, v[1].number, v[3].number,
	                            v[4].number, v[5].number, v[6].number, v[7].number);
	bool added;
	uint64_t *at = click_map_place(&f->rest_keys, key, &added);

	if (added) {
		struct click_rest *rest = vec_add(&f->rests);

		memcpy(rest->values, v, sizeof(rest->values));
		for (int i = REST_SUMS; i < REST_SUMS_END; i++)
			rest->values[i].number = 0;
		*at = f->rests.count;
	}
	return &f->rests.items[*at - 1];
}

/* A row of the sums over all paths. */
static int take_total(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	int status = see_row(f, v, err);
	struct click_rest *rest;

	if (status)
		return status;
	rest = rest_of(f, v);
	for (int i = REST_SUMS; i < REST_SUMS_END; i++)
		rest->values[i].number += v[i].number;
	if (!rest->ordered)
		vec_push(&f->rest_order, (uint32_t)(rest - f->rests.items));
	rest->ordered = true;
	return 0;
}

/* A row of the most frequent paths. */
static int take_known(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	struct click_rest *rest;
	int status = take_sample(f, v, err);

	if (status)
		return status;
	f->seen.items[v[1].number]++;
	rest = rest_of(f, v);
	for (int i = REST_SUMS; i < REST_SUMS_END; i++)
		rest->values[i].number -= v[i].number;
	return 0;
}

static int add_one_rest(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	uint64_t any = 0;
	int status;

	for (int i = REST_SUMS; i < REST_SUMS_END; i++)
		any |= v[i].number;
	status = any ? see_row(f, v, err) : 0;
	return any && !status ? add_sample(f, v, f->last_thread, OTHER_STACK, err) : status;
}

/* The samples of the paths that the answer does not have. */
static int add_rest(struct click_fetch *f, struct error *err)
{
	int status = 0;

	vec_each (place, &f->rest_order)
		if (!status)
			status = add_one_rest(f, f->rests.items[*place].values, err);
	vec_each (rest, &f->rests)
		if (!status && !rest->ordered)
			status = add_one_rest(f, rest->values, err);
	return status;
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
	char text[256];
	struct row_value note = {.bytes = text};

	note.size = (size_t)snprintf(text, sizeof(text),
	                             "Samples of %zu machines are added up by the names of "
	                             "programs. Their order is not known: intervals are those "
	                             "of independent samples.%s",
	                             f->hosts.pairs.count,
	                             f->rest ? " Rare call paths are [other]." : "");
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

/* The sums of the chosen group, or of all. */
static int ask_group(struct click_fetch *f, struct error *err)
{
	struct buf sql = {0};
	bool rest = false;
	int status;

	f->seen.count = 0;
	for (size_t i = 0; i < f->groups.count; i++)
		vec_push(&f->seen, 0);
	ask_sums(f, true, &sql);
	status = click_fetch_rows(f, buf_text(&sql), &f->chosen->parts, COLUMNS, "samples",
	                          take_known, err);
	buf_clear(&sql);
	vec_each (seen, &f->seen)
		rest |= *seen >= paths_of(f);
	if (!status && rest) {
		f->rest = true;
		ask_sums(f, false, &sql);
		status = click_fetch_rows(f, buf_text(&sql), &f->chosen->totals, COLUMNS, "samples",
		                          take_total, err);
	}
	if (!status && rest)
		status = add_rest(f, err);
	buf_done(&sql);
	f->rests.count = f->rest_order.count = 0;
	click_map_done(&f->rest_keys);
	return status;
}

/* One question for all groups that follow each other, else one for each. */
static int ask_groups(struct click_fetch *f, struct error *err)
{
	int status = 0;

	f->chosen = &f->all;
	if (f->begins_s.count)
		return ask_group(f, err);
	for (size_t i = 0; !status && i < f->groups.count; i++) {
		f->chosen = &f->groups.items[i];
		if (f->chosen->parts.pairs.count && f->chosen->windows.count)
			status = ask_group(f, err);
	}
	return status;
}

static int ask_windows(struct click_fetch *f, struct error *err)
{
	struct buf sql = {0};
	int status;

	ask_samples(f, &sql);
	status = click_fetch_rows(f, buf_text(&sql), &f->parts, COLUMNS, "samples", take_sample,
	                          err);
	buf_done(&sql);
	return status;
}

/* Threads and stacks have their ids now. */
static int number_samples(struct click_fetch *f, struct error *err)
{
	const struct click_map *threads = f->sums ? &f->names : &f->threads;
	uint64_t other = 0;
	int status = f->rest ? click_fetch_other(f, &other, err) : 0;

	vec_each (s, f->samples) {
		int64_t thread = (int64_t)threads->pairs.items[s->thread].value;

		s->thread = (int32_t)(f->sums ? -thread : thread);
		s->stack = (uint32_t)(s->stack == NO_STACK ? 0
		                      : s->stack == OTHER_STACK
		                              ? click_map_get(&f->stacks, other)
		                              : f->stacks.pairs.items[s->stack].value);
	}
	return status;
}

/* Without rows of the caller: into the table. */
static int put_samples(struct click_fetch *f, struct error *err)
{
	static const char upsert[] =
	        "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO "
	        "UPDATE SET samples = samples + excluded.samples, weight = weight + "
	        "excluded.weight, runnable_ns = runnable_ns + excluded.runnable_ns, "
	        "blocked_ns = blocked_ns + excluded.blocked_ns";
	sqlite3_stmt *put;
	int status = 0;

	vec_each (s, &f->own) {
		if (!status)
			status = database_kept(f->db, upsert, &put, err);
		if (!status)
			status = database_put(f->db, put, err, "iiiiiiiiiiii", (int64_t)s->window,
			                      (int64_t)s->thread, (int64_t)s->stack,
			                      (int64_t)s->cpu, (int64_t)s->mode, (int64_t)s->event,
			                      (int64_t)s->region, (int64_t)s->stack_end,
			                      (int64_t)s->samples, (int64_t)s->weight,
			                      (int64_t)s->runnable_ns, (int64_t)s->blocked_ns);
	}
	vec_done(&f->own);
	return status;
}

int click_fetch_samples(struct click_fetch *f, struct error *err)
{
	int status = click_fetch_services(f, err);

	f->last_thread = UINT32_MAX;
	if (!status)
		status = click_fetch_versions(f, err);
	if (!status)
		status = click_fetch_labels(f, err);
	if (!status)
		status = f->sums ? ask_groups(f, err) : ask_windows(f, err);
	if (!status)
		status = f->sums ? add_programs(f, err) : click_fetch_threads(f, err);
	if (!status)
		status = click_fetch_stacks(f, err);
	if (!status)
		status = number_samples(f, err);
	return status ? status : put_samples(f, err);
}
