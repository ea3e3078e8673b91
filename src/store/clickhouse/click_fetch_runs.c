/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader that needs sums only: windows of a session that follow each other become one row, and
 * the server adds up their ledgers and samples. The sums of samples of all hosts that retention
 * made (click_sums.h) replace the samples of the windows that they cover.
 *
 * With parts of the time, some windows remain rows of their own, and get the samples of their part
 * in turn: the first and the last of all, the longest, and the first of each part. The time axis of
 * the profile then has the same parts as that of all windows.
 */
#include "store/clickhouse/click_fetch_internal.h"

#include "profile/time_parts.h"
#include "store/clickhouse/click_counted.h"
#include "store/clickhouse/click_tables.h"

#include <inttypes.h>

#define SECOND UINT64_C(1000000000)
/* Gaps within a run, in sum: a report shows longer ones than twice this. */
#define GAPS_NS (SECOND / 4)

enum {
	START,
	END,
	LEVEL,
	MERGED,
	SAMPLES,
	LOST,
	OBSERVER,
	PERIOD,
	UNOBSERVED,
	OFFSET,
	HAS_RATE,
	SLOWED_BUDGET,
	SLOWED_BEHIND,
	TAKEN,
	TAKEN_OF,
	OVER,
	MOST,
	SAMPLE_NS
};

/* Windows of a session that were added up. */
struct run {
	struct click_span sum;
	uint64_t reached_ns; /* end of its last window */
	bool merged;         /* each of its windows was merged of others */
};

static int put_span(struct click_fetch *f, struct click_span *s, struct error *err)
{
	struct row_value v[18];
	bool added;
	int status;

	for (int i = 0; i < 18; i++)
		v[i] = (struct row_value){.number = s->number[i]};
	s->id = ++f->window_count;
	status = click_fetch_put(
	        f,
	        "INSERT INTO window (id, session, start_ns, end_ns, level, merged, samples,"
	        " lost_records, observer_cpu_ns, period_ns, unobserved_ns, wall_offset_ns)"
	        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	        err, "iinnnnnnnnnn", s->id, s->session, &v[START], &v[END], &v[LEVEL], &v[MERGED],
	        &v[SAMPLES], &v[LOST], &v[OBSERVER], &v[PERIOD], &v[UNOBSERVED], &v[OFFSET]);
	if (!click_map_has(&f->first_of, (uint64_t)s->session))
		*click_map_place(&f->first_of, (uint64_t)s->session, &added) = (uint64_t)s->id;
	*click_map_place(&f->last_of, (uint64_t)s->session, &added) = (uint64_t)s->id;
	if (status || !s->number[HAS_RATE])
		return status;
	return click_fetch_put(f, "INSERT INTO window_rate VALUES (?, ?, ?, ?, ?, ?, ?, ?)", err,
	                       "innnnnnn", s->id, &v[SLOWED_BUDGET], &v[SLOWED_BEHIND], &v[TAKEN],
	                       &v[TAKEN_OF], &v[OVER], &v[MOST], &v[SAMPLE_NS]);
}

/* A window at a reduced rate is a row of its own, since a report lists it. */
static bool continues(const struct run *r, const struct click_span *s)
{
	const uint64_t *a = r->sum.number, *b = s->number;
	uint64_t gaps = b[START] - a[END]; /* the end of the run is its start and its length */

	return r->sum.session && b[START] >= r->reached_ns && gaps < GAPS_NS &&
	       a[PERIOD] == b[PERIOD] && a[HAS_RATE] == b[HAS_RATE] && !a[SLOWED_BUDGET] &&
	       !a[SLOWED_BEHIND] && !b[SLOWED_BUDGET] && !b[SLOWED_BEHIND] &&
	       r->merged == (b[MERGED] > 1);
}

static void add_span(struct run *r, const struct click_span *s)
{
	static const uint8_t summed[] = {MERGED,     SAMPLES, LOST,     OBSERVER,
	                                 UNOBSERVED, TAKEN,   TAKEN_OF, OVER};
	uint64_t *to = r->sum.number;

	for (size_t i = 0; i < sizeof(summed); i++)
		to[summed[i]] += s->number[summed[i]];
	to[END] += s->number[END] - s->number[START];
	to[MOST] = s->number[MOST] > to[MOST] ? s->number[MOST] : to[MOST];
	to[SAMPLE_NS] = s->number[SAMPLE_NS] ? s->number[SAMPLE_NS] : to[SAMPLE_NS];
	r->reached_ns = s->number[END];
}

/* The end of a run is that of its last window again, if a report shows no difference. */
static int end_run(struct click_fetch *f, struct run *r, struct error *err)
{
	int status = r->sum.session ? put_span(f, &r->sum, err) : 0;

	r->sum.session = 0;
	return status;
}

static int put_runs(struct click_fetch *f, struct error *err)
{
	VEC(struct run) runs = {0};
	int status = 0;

	vec_each (s, &f->spans) {
		while (runs.count <= (size_t)s->session)
			vec_push(&runs, (struct run){0});
	}
	vec_each (s, &f->spans) {
		struct run *r = &runs.items[s->session];

		if (status)
			break;
		if (s->id || !continues(r, s)) /* s->id: a row of its own */
			status = end_run(f, r, err);
		if (!status && s->id)
			status = put_span(f, s, err);
		else if (!status && r->sum.session)
			add_span(r, s);
		else if (!status)
			*r = (struct run){.sum = *s,
			                  .reached_ns = s->number[END],
			                  .merged = s->number[MERGED] > 1};
	}
	vec_each (r, &runs)
		if (!status)
			status = end_run(f, r, err);
	vec_done(&runs);
	return status;
}

/* ---- groups -------------------------------------------------------------- */

/* The time of a window on the time axis of a profile, which is not exact. */
static uint64_t time_of(const struct click_span *s)
{
	return s->number[START] / TIME_AXIS_STEP_NS * TIME_AXIS_STEP_NS;
}

static struct time_parts range_of(const struct click_fetch *f)
{
	uint64_t first = UINT64_MAX, last = 0, longest = 0;

	vec_each (s, &f->spans) {
		uint64_t start = s->number[START], length = s->number[END] - start;

		if (!s->number[SAMPLES])
			continue;
		first = time_of(s) < first ? time_of(s) : first;
		last = time_of(s) > last ? time_of(s) : last;
		longest = length > longest ? length : longest;
	}
	return time_parts_between(first, last, longest);
}

/* Marks the windows that remain rows. */
static void choose_rows(struct click_fetch *f)
{
	struct click_span *first = NULL, *last = NULL, *longest = NULL;
	uint32_t seen = 0; /* the groups up to it have a row */

	vec_each (s, &f->spans) {
		if (!s->number[SAMPLES])
			continue;
		first = first ? first : s;
		last = !last || s->number[START] >= last->number[START] ? s : last;
		if (!longest || s->number[END] - s->number[START] >
		                        longest->number[END] - longest->number[START])
			longest = s;
		if (s->group >= seen)
			s->id = 1;
		if (s->group >= seen)
			seen = s->group + 1;
	}
	if (first)
		first->id = last->id = longest->id = 1;
	else
		f->spans.items[0].id = 1;
}

static void divide(struct click_fetch *f)
{
	struct time_parts range = range_of(f);
	size_t parts = f->range->parts ? time_parts_count(&range, f->range->parts, NULL) : 1;

	f->all = (struct click_group){.first_s = UINT64_MAX, .sums_first_s = UINT64_MAX};
	while (f->groups.count < parts)
		vec_push(&f->groups, f->all);
	vec_each (s, &f->spans)
		if (f->range->parts && s->number[SAMPLES])
			s->group = (uint32_t)time_parts_at(&range, time_of(s), parts);
}

static void add_to(struct click_group *g, uint64_t paths, uint64_t totals, uint64_t start_s,
                   bool sum)
{
	uint64_t *first = sum ? &g->sums_first_s : &g->first_s;
	uint64_t *last = sum ? &g->sums_last_s : &g->last_s;
	bool added;

	click_map_place(&g->parts, paths, &added);
	click_map_place(&g->totals, totals, &added);
	*first = start_s < *first ? start_s : *first;
	*last = start_s > *last ? start_s : *last;
}

/* Parts of rows with paths and of the same without paths, for a group and for all. */
static void add_part(struct click_fetch *f, uint32_t group, uint64_t paths, uint64_t totals,
                     uint64_t start_s, bool sum)
{
	add_to(&f->groups.items[group], paths, totals, start_s, sum);
	add_to(&f->all, paths, totals, start_s, sum);
}

/* ---- sums of all hosts ---------------------------------------------------- */

/*
 * Without a selection by services or versions, the plain rows are enough. Older sums have one or
 * two of the four kinds of rows (click_keep_sums.c).
 */
static void add_sum(struct click_fetch *f, uint32_t group, uint64_t part,
                    const struct row_value *others, uint64_t start_s)
{
	uint64_t count = others->number, plain = count >= 3 && f->plain;
	uint64_t totals = count ? row_value_number(others, plain ? 2 : 0) : part;

	f->all_plain &= plain != 0;
	add_part(f, group, plain ? row_value_number(others, 1) : part, totals, start_s, true);
}

/* A sum is used if all windows that it covers are selected, and belong to one group. */
static int take_sum(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	uint64_t group;

	if (click_counted_cover(&f->keys, &v[2], &group))
		add_sum(f, (uint32_t)group - 1, v[0].number, &v[3], v[1].number / SECOND);
	return 0;
}

static int fetch_sums(struct click_fetch *f, struct error *err)
{
	uint64_t to_ns = f->range->to_ns ? f->range->to_ns : INT64_MAX;
	struct buf sql = {0};
	int status;

	f->plain = !f->range->service && !f->range->version && !f->range->choice;
	f->all_plain = f->plain;
	buf_puts(&sql, "SELECT part, start_ns, replaces, parts FROM " CLICK_WINDOWS);
	click_counted(&sql, "host = 0", f->range->from_ns, to_ns);
	buf_puts(&sql, " ORDER BY length(replaces) DESC, key FORMAT RowBinary");
	status = click_fetch_rows(f, buf_text(&sql), NULL, "qqaa", "sums", take_sum, err);
	buf_done(&sql);
	return status;
}

/* The times at which groups begin, if no second has rows of two groups. */
static void find_begins(struct click_fetch *f)
{
	uint64_t next_s = UINT32_MAX; /* begin of the group after it; none: the end of all times */

	while (f->begins_s.count < f->groups.count)
		vec_push(&f->begins_s, 0);
	for (size_t i = f->groups.count; i-- > 0;) {
		const struct click_group *g = &f->groups.items[i];
		uint64_t first_s = g->first_s < g->sums_first_s ? g->first_s : g->sums_first_s;
		uint64_t last_s = g->last_s > g->sums_last_s ? g->last_s : g->sums_last_s;

		if (g->parts.pairs.count && last_s >= next_s) {
			f->begins_s.count = 0;
			return;
		}
		next_s = first_s < next_s ? first_s : next_s;
		f->begins_s.items[i] = next_s;
	}
}

int click_fetch_runs(struct click_fetch *f, struct error *err)
{
	int status;

	if (!f->spans.count)
		return 0;
	divide(f);
	choose_rows(f);
	status = put_runs(f, err);
	/* A sum has windows of one group. */
	vec_each (s, &f->spans)
		*click_map_place(&f->keys, s->key, &(bool){false}) = (uint64_t)s->group + 1;
	if (!status && !click_fetch_by_labels(f))
		status = fetch_sums(f, err);
	vec_each (s, &f->spans) {
		struct click_group *g = &f->groups.items[s->group];

		if (click_map_get(&f->keys, s->key))
			add_part(f, s->group, s->part, s->part, s->number[START] / SECOND, false);
		if (s->id && (s->number[SAMPLES] || f->spans.count == 1 || !g->windows.count))
			vec_push(&g->windows, s->id);
	}
	find_begins(f);
	if (!status)
		status = database_run(f->db, "INSERT INTO property VALUES ('sums', 1)", err);
	return status;
}

/* ---- ledgers --------------------------------------------------------------- */

/*
 * The first period of a CPU is in the first row of its session, with zeros in the last one, so that
 * the CPU has the session's time. Other periods have rows without a length at its end.
 */
static int place_of(struct click_fetch *f, int64_t session, uint64_t cpu, int64_t *window,
                    struct error *err)
{
	static const char more[] =
	        "INSERT INTO window (id, session, start_ns, end_ns, level, merged, samples,"
	        " lost_records, observer_cpu_ns, period_ns, unobserved_ns, wall_offset_ns) SELECT"
	        " ?1, session, end_ns, end_ns, level, 1, 0, 0, 0, period_ns, 0, wall_offset_ns"
	        " FROM window WHERE id = ?2";
	int64_t first = (int64_t)click_map_get(&f->first_of, (uint64_t)session);
	int64_t last = (int64_t)click_map_get(&f->last_of, (uint64_t)session), has = 0;
	sqlite3_stmt *row = NULL;
	int status =
	        database_find(f->db, "SELECT count(*) FROM ledger_cpu WHERE window = ? AND cpu = ?",
	                      &row, err, "ii", first, (int64_t)cpu);

	if (status == 1)
		has = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	*window = first;
	if (status < 0 || !has)
		return status < 0 ? status : 0;
	*window = ++f->window_count;
	return click_fetch_put(f, more, err, "ii", *window, last);
}

static int take_line(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	int64_t session = (int64_t)click_map_get(&f->sessions, v[0].number), window;
	int status = session ? place_of(f, session, v[1].number, &window, err) : 1;

	if (status)
		return status < 0 ? status : 0;
	if (v[2].number)
		status =
		        click_fetch_put(f,
		                        "INSERT OR REPLACE INTO ledger_cpu VALUES "
		                        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		                        err, "innnnnnnnnnnnnnnnnn", window, &v[1], &v[3], &v[4],
		                        &v[5], &v[6], &v[7], &v[8], &v[9], &v[10], &v[11], &v[12],
		                        &v[13], &v[14], &v[15], &v[16], &v[17], &v[18], &v[19]);
	return status;
}

static int take_buffer(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	int64_t session = (int64_t)click_map_get(&f->sessions, v[0].number);

	if (!session)
		return 0;
	return click_fetch_put(f, "INSERT OR REPLACE INTO buffer VALUES (?, ?, ?, ?, ?, ?)", err,
	                       "innnnn", (int64_t)click_map_get(&f->first_of, (uint64_t)session),
	                       &v[1], &v[2], &v[3], &v[4], &v[5]);
}

static int put_ends(struct click_fetch *f, struct error *err)
{
	static const char again[] =
	        "INSERT OR IGNORE INTO ledger_cpu SELECT ?2, cpu, 0, 0, 0, 0, 0, period_ns, 0, 0,"
	        " 0, 0, 0, 0, 0, 0, 0, has_switches, has_steal FROM ledger_cpu WHERE window = ?1";
	int status = 0;

	vec_each (pair, &f->first_of.pairs) {
		int64_t last = (int64_t)click_map_get(&f->last_of, pair->key);

		if (!status && last != (int64_t)pair->value)
			status = click_fetch_put(f, again, err, "ii", (int64_t)pair->value, last);
	}
	return status;
}

/* The rows of the ledger in the range, of the sums `columns`. */
static int fetch_ledgers(struct click_fetch *f, const char *columns, const char *where,
                         const char *group, const char *types, const char *what, click_row_fn *take,
                         struct error *err)
{
	uint64_t to_ns = f->range->to_ns ? f->range->to_ns : INT64_MAX;
	struct buf sql = {0};
	int status;

	buf_addf(&sql,
	         "SELECT %s FROM ledger GLOBAL ANY INNER JOIN (SELECT row_part AS part, session,"
	         " weight FROM (SELECT arrayJoin(if(empty(parts), [part], parts)) AS row_part,"
	         " session, merged / greatest(length(parts), 1) AS weight FROM " CLICK_WINDOWS,
	         columns);
	click_counted(&sql, buf_text(&f->of_hosts), f->range->from_ns, to_ns);
	buf_puts(&sql, ")) USING part");
	click_fetch_where(f, &sql);
	buf_addf(&sql, "%s GROUP BY %s ORDER BY %s FORMAT RowBinary", where, group, group);
	status = click_fetch_rows(f, buf_text(&sql), NULL, types, what, take, err);
	buf_done(&sql);
	return status;
}

/* A merged window counts in the average once for each window in it. */
int click_fetch_run_ledgers(struct click_fetch *f, struct error *err)
{
	int status = fetch_ledgers(
	        f,
	        "session, cpu, max(has_ledger), sum(wall_ns), sum(busy_ns), sum(idle_ns),"
	        " sum(unknown_ns), sum(switches), period_ns, sum(due_busy), sum(due_idle),"
	        " sum(seen_busy), sum(seen_idle), sum(weight_busy_ns), sum(weight_idle_ns),"
	        " sum(lost), sum(throttled), sum(steal_ns), has_switches, min(has_steal)",
	        "", "session, cpu, period_ns, has_switches", "qdbqqqqqqqqqqqqqqqbb", "ledgers",
	        take_line, err);

	if (!status)
		status = fetch_ledgers(f,
		                       "session, cpu, max(ring_bytes), max(used_max),"
		                       " toUInt64(sum(used_average * weight) / sum(weight) + 1e-6),"
		                       " sum(lost_records)",
		                       " AND has_buffer", "session, cpu", "qdqqqq", "buffers",
		                       take_buffer, err);
	return status ? status : put_ends(f, err);
}
