/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of the samples of all hosts, by service, program, version, call path and CPU, for slots of a
 * minute, 10 minutes, an hour, or two hours in older history. They are rows of host 0 in both
 * tables: `replaces` has the windows that a sum covers, which count further on. A slot has a second
 * sum if many of its windows arrived after the first one.
 *
 * A sum has the same samples five times, with fewer rows each: a reader takes those that have what
 * it selects by. The first part is that of the window, the others are its `parts`.
 */
#include "store/clickhouse/click_keep_internal.h"

#include "base/memory/xalloc.h"
#include "image/image.h"
#include "profile/profile.h"
#include "store/clickhouse/click_arrival.h"
#include "store/clickhouse/click_counted.h"
#include "store/clickhouse/click_digest.h"
#include "store/clickhouse/click_other.h"
#include "store/clickhouse/click_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define SECOND UINT64_C(1000000000)
#define WAIT_NS (60 * SECOND)             /* a slot is over: for windows that are under way */
#define LOOK_BACK_NS (2 * 86400 * SECOND) /* for windows that arrived late */
#define LONGEST_NS (7200 * SECOND)        /* of the slots of sums */
#define LATE_SHARE 8                      /* one of so many windows makes a second sum */

/*
 * In the order in which they are made: level by level of windows, the longest first. Short slots
 * have sums until the longer slot around them is over.
 */
static const struct sum_kind {
	int level;                 /* of the windows */
	uint64_t slot_s, longer_s; /* 0: none is longer */
	int sum_level;
} kinds[] = {
        {0, 3600, 0, CLICK_SUM_LEVEL},       {0, 600, 3600, CLICK_SUM_SHORT},
        {0, 60, 600, CLICK_SUM_MINUTE},      {1, 3600, 0, CLICK_SUM_LEVEL + 1},
        {1, 600, 3600, CLICK_SUM_SHORT + 1}, {2, 7200, 0, CLICK_SUM_LEVEL + 2},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

/*
 * Plain: without services and versions. Totals: without call paths. Machines: by service, version
 * and machine, which is in the column `thread`, without programs and call paths.
 */
enum rows { PATHS, TOTALS, PLAIN_PATHS, PLAIN_TOTALS, MACHINES, ROWS };

struct sum {
	const struct sum_kind *kind;
	uint64_t start_ns, part[ROWS], key, samples;
	struct click_map parts, keys;
	uint64_t first_s, last_s, end_ns;
};

/* Paths with at most so many samples of a slot are one: a slot then has some 100,000 paths. */
#define RARE(samples) ((samples) >> 20)

static int insert_row(struct click_keep *k, const char *table, struct buf *row, struct error *err)
{
	struct buf target = {0};
	int status;

	click_table_target(table, &target);
	status = k->server->insert(k->server, buf_text(&target), row, err);
	buf_done(&target);
	buf_clear(row);
	return status;
}

/* The rows to which a path [other] refers; the server has them once. */
static int add_other(struct click_keep *k, struct error *err)
{
	const struct click_other o = click_other();
	uint64_t none = 0, kind = IMAGE_NAME, named = 1;
	struct buf row = {0};
	int status;

	row_put(&row, "qs", o.name, CLICK_OTHER);
	status = insert_row(k, "names", &row, err);
	row_put(&row, "qbqsqqq", o.image, kind, o.name, "", none, none, none);
	if (!status)
		status = insert_row(k, "images", &row, err);
	row_put(&row, "qqqbqqb", o.frame, o.image, none, none, o.name, o.name, named);
	if (!status)
		status = insert_row(k, "frames", &row, err);
	row_put(&row, "qq", o.stack, none);
	row_put_count(&row, 1);
	row_put(&row, "q", o.frame);
	if (!status)
		status = insert_row(k, "stacks", &row, err);
	buf_done(&row);
	return status;
}

/* The columns of a question that groups by them. */
static const char *groups_of(enum rows rows)
{
	return rows == PATHS || rows == TOTALS || rows == MACHINES ? "service, version, " : "";
}

/* "INSERT INTO samples SELECT ..", up to the path: rows of host 0. */
static void put_insert(const struct sum *s, enum rows rows, struct buf *sql)
{
	char part[32];

	snprintf(part, sizeof(part), "toUInt64(%" PRIu64 ")", s->part[rows]);
	buf_puts(sql, "INSERT INTO ");
	click_table_target(CLICK_SAMPLES, sql);
	buf_addf(sql, " SELECT %s, toUInt64(0), toDateTime(%" PRIu64 "), ",
	         *groups_of(rows) ? "service" : "toUInt64(0)", s->start_ns / SECOND);
	click_arrival_expression(sql, part);
	buf_puts(sql, rows == MACHINES ? ", toUInt64(0), machine, " : ", program, toUInt64(0), ");
}

static void put_end(enum rows rows, const char *path, struct buf *sql)
{
	buf_addf(sql,
	         " GROUP BY %sprogram, %scpu, mode, event, region, stack_end ORDER BY %sevent,"
	         " program, mode%s",
	         groups_of(rows), path, groups_of(rows), *path ? ", path" : "");
}

static int run_insert(struct click_keep *k, struct buf *sql, const struct click_map *parts,
                      struct error *err)
{
	int status = k->server->ask(k->server, buf_text(sql), parts, NULL, NULL, err);

	buf_done(sql);
	return status;
}

/* Rare paths are one. */
static int add_paths(struct click_keep *k, const struct sum *s, enum rows rows, struct error *err)
{
	const char *version = *groups_of(rows) ? "version" : "toUInt64(0)";
	struct buf sql = {0};

	put_insert(s, rows, &sql);
	buf_addf(
	        &sql,
	        "path, cpu, mode, event, region, stack_end, sum(seen), sum(ns), sum(idle),"
	        " sum(runnable), sum(blocked), toUInt32(0), %s, toUInt64(0) FROM (SELECT %sprogram,"
	        " if(sum(samples) <= %" PRIu64 " AND mode != %d, toUInt64(%" PRIu64
	        "), stack) AS path, cpu, mode, event, region, stack_end, sum(samples) AS seen,"
	        " sum(samples * period + weight) AS ns, sum(idle_ns) AS idle, sum(runnable_ns) AS"
	        " runnable, sum(blocked_ns) AS blocked FROM " CLICK_SAMPLES
	        " PREWHERE part GLOBAL IN keys WHERE host != 0 AND time >= toDateTime(%" PRIu64
	        ") AND time <= toDateTime(%" PRIu64
	        ") GROUP BY %sprogram, stack, cpu, mode, event, region, stack_end)",
	        version, groups_of(rows), RARE(s->samples), PROFILE_IDLE, click_other().stack,
	        s->first_s, s->last_s, groups_of(rows));
	put_end(rows, "path, ", &sql);
	return run_insert(k, &sql, &s->parts, err);
}

/* An alias of the host: the table's column is 0 in the new rows. */
static int add_machines(struct click_keep *k, const struct sum *s, struct error *err)
{
	struct buf sql = {0};

	put_insert(s, MACHINES, &sql);
	buf_addf(&sql,
	         "toUInt64(0), toInt16(-1), mode, event, toUInt64(0), toUInt8(0), seen, ns, idle,"
	         " runnable, blocked, toUInt32(0), version, toUInt64(0) FROM (SELECT service,"
	         " version, host AS machine, mode, event, sum(samples) AS seen,"
	         " sum(samples * period + weight) AS ns, sum(idle_ns) AS idle, sum(runnable_ns) AS"
	         " runnable, sum(blocked_ns) AS blocked FROM " CLICK_SAMPLES
	         " PREWHERE part GLOBAL IN keys WHERE host != 0 AND time >= toDateTime(%" PRIu64
	         ") AND time <= toDateTime(%" PRIu64
	         ") GROUP BY service, version, host, mode, event) ORDER BY service, version,"
	         " machine, event, mode",
	         s->first_s, s->last_s);
	return run_insert(k, &sql, &s->parts, err);
}

/* From the rows with paths. */
static int add_totals(struct click_keep *k, const struct sum *s, enum rows rows, enum rows of,
                      struct error *err)
{
	struct buf sql = {0};

	put_insert(s, rows, &sql);
	buf_addf(&sql,
	         "toUInt64(0), cpu, mode, event, region, stack_end, sum(samples), sum(weight),"
	         " sum(idle_ns), sum(runnable_ns), sum(blocked_ns), toUInt32(0), %s, toUInt64(0)"
	         " FROM " CLICK_SAMPLES " PREWHERE part = %" PRIu64
	         " WHERE host = 0 AND time = toDateTime(%" PRIu64 ")",
	         *groups_of(rows) ? "version" : "toUInt64(0)", s->part[of], s->start_ns / SECOND);
	put_end(rows, "", &sql);
	return run_insert(k, &sql, NULL, err);
}

/* The parts that the rows got. */
static int find_parts(struct click_keep *k, struct sum *s, enum rows first, struct error *err)
{
	struct click_arrivals a = {0};
	int status;

	for (int i = first; i < ROWS; i += 2)
		click_arrivals_add(&a, 0, s->start_ns / SECOND, s->part[i]);
	status = click_arrivals_find(&a, k->server, CLICK_SAMPLES, err);
	for (int i = first; i < ROWS; i += 2)
		s->part[i] = click_arrivals_part(&a, s->part[i]);
	click_arrivals_done(&a);
	return status;
}

static int add_window(struct click_keep *k, const struct sum *s, struct error *err)
{
	struct buf target = {0}, row = {0};
	int status;

	click_table_target(CLICK_WINDOWS, &target);
	row_put(&row, "qdqqqqqbdqqqqqqbqqqqqqq", UINT64_C(0), s->start_ns / SECOND, s->key,
	        s->part[PATHS], UINT64_C(0), s->start_ns, s->end_ns, (uint64_t)s->kind->sum_level,
	        (uint64_t)s->parts.pairs.count, s->samples, UINT64_C(0), UINT64_C(0), UINT64_C(0),
	        UINT64_C(0), INT64_C(0), UINT64_C(0), UINT64_C(0), UINT64_C(0), UINT64_C(0),
	        UINT64_C(0), UINT64_C(0), UINT64_C(0), UINT64_C(0));
	row_put_count(&row, s->keys.pairs.count);
	vec_each (pair, &s->keys.pairs)
		row_put(&row, "q", pair->key);
	row_put_count(&row, ROWS - 1);
	for (int i = 1; i < ROWS; i++)
		row_put(&row, "q", s->part[i]);
	status = k->server->insert(k->server, buf_text(&target), &row, err);
	buf_done(&target);
	buf_done(&row);
	return status;
}

static void add_covered(struct sum *s, const struct click_kept_window *w)
{
	bool added;

	click_map_place(&s->parts, w->part, &added);
	click_map_place(&s->keys, w->key, &added);
	s->samples += w->samples;
	s->key = click_digest("sum", "qq", s->key, w->key);
	s->first_s = w->start_ns / SECOND < s->first_s ? w->start_ns / SECOND : s->first_s;
	s->last_s = w->start_ns / SECOND > s->last_s ? w->start_ns / SECOND : s->last_s;
	s->end_ns = w->end_ns > s->end_ns ? w->end_ns : s->end_ns;
}

/* The windows from `at` on in one slot: those of the level that no sum has. `all`: of the level. */
static size_t cover(struct click_keep *k, size_t at, struct sum *s, size_t *all)
{
	uint64_t slot_ns = s->kind->slot_s * SECOND, slot = k->windows.items[at].start_ns / slot_ns;
	size_t end = at;

	*all = 0;
	s->start_ns = slot * slot_ns;
	s->first_s = UINT64_MAX;
	for (; end < k->windows.count && k->windows.items[end].start_ns / slot_ns == slot; end++) {
		const struct click_kept_window *w = &k->windows.items[end];

		if (w->level != (uint64_t)s->kind->level)
			continue;
		++*all;
		if (click_map_get(&k->summed, w->key) < s->kind->slot_s)
			add_covered(s, w);
	}
	return end - at;
}

static int take_end(struct click_keep *k, const struct row_value *v, struct error *err)
{
	k->summed_ns = v[0].number;
	return 0;
}

static void mark_summed(struct click_keep *k, uint64_t key, const struct sum_kind *kind)
{
	uint64_t *slot_s = click_map_place(&k->summed, key, &(bool){false});

	*slot_s = kind->slot_s > *slot_s ? kind->slot_s : *slot_s;
}

static int take_summed(struct click_keep *k, const struct row_value *v, struct error *err)
{
	for (size_t i = 0; i < KINDS; i++)
		for (uint64_t n = 0; n < v[1].number && kinds[i].sum_level == (int)v[0].number; n++)
			mark_summed(k, row_value_number(&v[1], n), &kinds[i]);
	return 0;
}

/*
 * Fills k->summed with the windows of the level that have a sum, and k->summed_ns: windows from
 * then on may have none of the longest kind. `longest`: the first kind of the level.
 */
static int find_summed(struct click_keep *k, const struct sum_kind *longest, uint64_t before_ns,
                       struct error *err)
{
	uint64_t look_ns = before_ns > LOOK_BACK_NS ? before_ns - LOOK_BACK_NS : 0;
	struct buf levels = {0};
	char *sql = xasprintf("SELECT max(start_ns) FROM " CLICK_WINDOWS
	                      " WHERE host = 0 AND level = %d FORMAT RowBinary",
	                      longest->sum_level);
	int status;

	k->summed_ns = 0;
	status = click_keep_ask(k, sql, "q", "sums", take_end, err);
	k->summed_ns = k->summed_ns < look_ns ? k->summed_ns : look_ns;
	k->summed_ns -= k->summed_ns % LONGEST_NS;
	free(sql);
	click_map_done(&k->summed);
	for (const struct sum_kind *kind = longest;
	     kind < kinds + KINDS && kind->level == longest->level; kind++)
		buf_addf(&levels, "%s%d", levels.size ? "," : "", kind->sum_level);
	sql = xasprintf(
	        "SELECT level, replaces FROM " CLICK_WINDOWS
	        " WHERE host = 0 AND level IN (%s) AND start_ns >= %" PRIu64 " FORMAT RowBinary",
	        buf_text(&levels), k->summed_ns > LONGEST_NS ? k->summed_ns - LONGEST_NS : 0);
	if (!status)
		status = click_keep_ask(k, sql, "ba", "sums", take_summed, err);
	free(sql);
	buf_done(&levels);
	return status;
}

static int make_sum(struct click_keep *k, struct sum *s, struct error *err)
{
	int status;

	if (getrandom(s->part, sizeof(s->part), 0) != sizeof(s->part))
		return 0;
	status = RARE(s->samples) ? add_other(k, err) : 0;
	if (!status)
		status = add_paths(k, s, PATHS, err);
	if (!status)
		status = add_paths(k, s, PLAIN_PATHS, err);
	if (!status)
		status = add_machines(k, s, err);
	if (!status)
		status = find_parts(k, s, PATHS, err);
	if (!status)
		status = add_totals(k, s, TOTALS, PATHS, err);
	if (!status)
		status = add_totals(k, s, PLAIN_TOTALS, PLAIN_PATHS, err);
	if (!status)
		status = find_parts(k, s, TOTALS, err);
	if (!status)
		status = add_window(k, s, err);
	vec_each (pair, &s->keys.pairs)
		mark_summed(k, pair->key, s->kind);
	k->kept->sums++;
	return status;
}

static bool is_due(const struct sum *s, uint64_t before_ns)
{
	uint64_t longer_ns = s->kind->longer_s * SECOND;

	return s->start_ns + s->kind->slot_s * SECOND <= before_ns &&
	       (!longer_ns || (s->start_ns / longer_ns + 1) * longer_ns > before_ns);
}

static int make_sums(struct click_keep *k, const struct sum_kind *kind, uint64_t before_ns,
                     struct error *err)
{
	int status = 0;

	for (size_t at = 0; !status && at < k->windows.count;) {
		struct sum s = {.kind = kind};
		size_t all, late;

		at += cover(k, at, &s, &all);
		late = s.keys.pairs.count;
		/* Without samples, nothing arrives. */
		if (late && late * LATE_SHARE >= all && s.samples && is_due(&s, before_ns))
			status = make_sum(k, &s, err);
		click_map_done(&s.parts);
		click_map_done(&s.keys);
	}
	return status;
}

int click_keep_sums(struct click_keep *k, const uint64_t *before_ns, struct error *err)
{
	int level = -1, status = 0;

	for (const struct sum_kind *kind = kinds; !status && kind < kinds + KINDS; kind++) {
		uint64_t over_ns = before_ns[kind->level] - (kind->level ? 0 : WAIT_NS);

		if (kind->level != level)
			status = find_summed(k, kind, over_ns, err);
		if (!status && kind->level != level)
			status = click_keep_windows(k, "host != 0", k->summed_ns, "start_ns, key",
			                            err);
		level = kind->level;
		if (!status)
			status = make_sums(k, kind, over_ns, err);
	}
	click_map_done(&k->summed);
	return status;
}
