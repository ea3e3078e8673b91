/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/watch/watch_load.h"

#include "base/clock.h"
#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "cmd/cli/parse_time.h"
#include "cmd/load/load_store.h"
#include "cmd/watch/watch_names.h"
#include "event/recording.h"
#include "format/file_kind.h"
#include "process/service_name.h"
#include "sql/sql.h"
#include "store/store.h"
#include "store/store_path.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct watch_window {
	int64_t id;
	uint64_t start_ns, end_ns, unobserved_ns;
};

struct loading {
	struct watch *w, *sum;
	const char *pattern;      /* of the machines of the sum */
	VEC(uint32_t) of_sum;     /* series of the sum, by those of w; ID_NONE: not known yet */
	VEC(uint32_t) sum_points; /* as `points`, of the sum */
	struct sql *sql;
	const struct watch_range *range;
	uint64_t from_ns, until_ns; /* until_ns 0: no end */
	VEC(struct watch_window) windows;
	VEC(uint32_t) points; /* by window id - first_id */
	int64_t first_id, last_id;
	size_t hosts;
	bool work_found;
	double work_sum;
	struct watch_names names;
	struct buf text;
};

static int take_host(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                     struct error *err)
{
	struct loading *l = ctx;

	if (row)
		buf_addf(&l->text, "%s%s", l->hosts++ ? ", " : "", v[0].text ? v[0].text : "");
	return 0;
}

static int check_hosts(struct loading *l, struct error *err)
{
	int ret = sql_run(l->sql, "SELECT name FROM hosts ORDER BY name", take_host, l, err);

	if (!ret && l->hosts > 1 && !l->range->host)
		ret = error_set(err, EINVAL,
		                "%s holds the history of several machines; choose one with --host: "
		                "%s",
		                l->range->store, buf_text(&l->text));
	buf_clear(&l->text);
	return ret;
}

static int take_window(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                       struct error *err)
{
	struct loading *l = ctx;

	if (row && v[2].integer > v[1].integer)
		vec_push(&l->windows,
		         (struct watch_window){v[0].integer, (uint64_t)v[1].integer,
		                               (uint64_t)v[2].integer, (uint64_t)v[3].integer});
	return 0;
}

static void quote(const char *text, struct buf *out)
{
	buf_putc(out, '\'');
	for (; *text; text++)
		buf_addf(out, *text == '\'' ? "''" : "%c", *text);
	buf_putc(out, '\'');
}

/* The condition for windows of the range. */
static void add_range(struct loading *l, struct buf *out)
{
	buf_addf(out, " w.level >= 0 AND w.end_ns > %" PRIu64, l->from_ns);
	if (l->until_ns)
		buf_addf(out, " AND w.start_ns < %" PRIu64, l->until_ns);
	if (l->range->host) {
		buf_puts(out,
		         " AND w.session IN (SELECT s.id FROM sessions s JOIN hosts h ON h.id ="
		         " s.host WHERE h.name = ");
		quote(l->range->host, out);
		buf_putc(out, ')');
	}
}

static int read_windows(struct loading *l, struct error *err)
{
	int ret;

	buf_puts(&l->text,
	         "SELECT w.id, w.start_ns, w.end_ns, w.unobserved_ns FROM windows w WHERE");
	add_range(l, &l->text);
	buf_puts(&l->text, " ORDER BY w.id");
	ret = sql_run(l->sql, buf_text(&l->text), take_window, l, err);
	buf_clear(&l->text);
	if (!ret && !l->windows.count)
		ret = error_set(err, ENODATA, "%s has no windows of the requested time%s",
		                l->range->store, l->range->host ? " and machine" : "");
	return ret;
}

static int by_start(const void *a, const void *b)
{
	const struct watch_window *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The length of most windows. */
static uint64_t usual_length(const struct loading *l)
{
	uint64_t *lengths = xcalloc(l->windows.count, sizeof(*lengths)), usual_ns;

	for (size_t i = 0; i < l->windows.count; i++)
		lengths[i] = l->windows.items[i].end_ns - l->windows.items[i].start_ns;
	qsort(lengths, l->windows.count, sizeof(*lengths), by_length);
	usual_ns = lengths[l->windows.count / 2];
	free(lengths);
	return usual_ns;
}

/* The time that a point of a long store has at least, so that there are at most WATCH_POINTS. */
static uint64_t least_length(const struct loading *l)
{
	uint64_t observed_ns = 0;

	vec_each (o, &l->windows)
		observed_ns += o->end_ns - o->start_ns;
	return l->windows.count > WATCH_POINTS ? observed_ns / (WATCH_POINTS / 2) : 0;
}

/* A new point begins with a window, unless the last point is shorter than `least_ns`, or the window
 * overlaps it: another session measured the same time. Windows that retention merged are points of
 * their own length, and a pause between sessions is no point. Returns their number. */
static size_t divide_windows(struct loading *l, uint64_t least_ns, bool place)
{
	uint64_t start_ns = 0, end_ns = 0;
	size_t count = 0;

	vec_each (o, &l->windows) {
		bool paused = count && o->start_ns > end_ns && o->start_ns - end_ns >= least_ns;

		if (!count || paused || o->start_ns >= end_ns) {
			bool whole = !count || paused || end_ns - start_ns >= least_ns;

			if (whole) {
				start_ns = o->start_ns;
				if (place)
					watch_begins(l->w, count, start_ns);
				count++;
			}
			end_ns = o->end_ns;
		}
		if (place)
			l->points.items[o->id - l->first_id] = (uint32_t)(count - 1);
	}
	if (place)
		watch_begins(l->w, count, end_ns);
	return count;
}

static void place_in_sum(struct loading *l, const struct watch_window *o, double observed_s)
{
	uint64_t middle_ns = o->start_ns + (o->end_ns - o->start_ns) / 2;
	uint64_t first_ns = watch_time_ns(l->sum, 0);
	uint64_t point = middle_ns > first_ns ? (middle_ns - first_ns) / l->sum->step_ns : 0;

	if (point >= l->sum->points)
		point = l->sum->points - 1;
	l->sum_points.items[o->id - l->first_id] = (uint32_t)point;
	watch_observed(l->sum, point, observed_s);
}

static void place_windows(struct loading *l)
{
	uint64_t least_ns = least_length(l), usual_ns = usual_length(l);
	int64_t last_id = l->windows.items[l->windows.count - 1].id;

	l->first_id = l->windows.items[0].id;
	qsort(l->windows.items, l->windows.count, sizeof(*l->windows.items), by_start);
	watch_points(l->w, l->windows.items[0].start_ns, usual_ns > least_ns ? usual_ns : least_ns,
	             divide_windows(l, least_ns, false));
	if ((uint64_t)(last_id - l->first_id) > 100000000)
		return; /* no store has so many windows */
	while (l->points.count <= (size_t)(last_id - l->first_id)) {
		vec_push(&l->points, UINT32_MAX);
		vec_push(&l->sum_points, UINT32_MAX);
	}
	divide_windows(l, least_ns, true);
	vec_each (o, &l->windows) {
		uint64_t length_ns = o->end_ns - o->start_ns;

		double observed_s = o->unobserved_ns < length_ns
		                            ? (double)(length_ns - o->unobserved_ns) / 1e9
		                            : 0;

		watch_observed(l->w, l->points.items[o->id - l->first_id], observed_s);
		if (l->sum)
			place_in_sum(l, o, observed_s);
	}
	l->last_id = last_id;
}

static uint32_t series_of_sum(struct loading *l, uint32_t series)
{
	const struct watch_series *s = &l->w->series.items[series];

	while (l->of_sum.count <= series)
		vec_push(&l->of_sum, ID_NONE);
	if (l->of_sum.items[series] == ID_NONE)
		l->of_sum.items[series] = watch_series(
		        l->sum, intern_text(&l->w->texts, s->function),
		        intern_text(&l->w->texts, s->image), intern_text(&l->w->texts, s->mode));
	return l->of_sum.items[series];
}

static int take_sample(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                       struct error *err)
{
	struct loading *l = ctx;
	uint64_t at = row ? (uint64_t)(v[0].integer - l->first_id) : 0;
	double samples, weight;
	uint32_t series;

	if (!row || at >= l->points.count || l->points.items[at] == UINT32_MAX)
		return 0;
	samples = (double)v[3].integer;
	weight = (double)v[4].integer;
	weight = weight > 0 ? weight : samples;
	series = watch_names_series(&l->names, l->w, v[1].integer, v[2].integer);
	watch_count(l->w, series, l->points.items[at], samples, weight);
	if (l->sum)
		watch_count(l->sum, series_of_sum(l, series), l->sum_points.items[at], samples,
		            weight);
	return 0;
}

/* Mode 2 is idle. The table is read once, in its order, without joins: a week has millions of rows.
 */
static int read_samples(struct loading *l, struct error *err)
{
	struct buf q = {0};
	int ret = watch_names_load(&l->names, l->sql, err);

	buf_addf(&q,
	         "SELECT window, stack, mode, samples, weight FROM sample WHERE window BETWEEN"
	         " %" PRId64 " AND %" PRId64 " AND mode <> 2 AND event IN (SELECT e.id FROM event e"
	         " JOIN name n ON n.id = e.name WHERE n.text IN (SELECT event FROM sessions))",
	         l->first_id, l->last_id);
	if (!ret)
		ret = sql_run(l->sql, buf_text(&q), take_sample, l, err);
	watch_names_done(&l->names);
	buf_done(&q);
	return ret;
}

static int take_event(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                      struct error *err)
{
	struct loading *l = ctx;

	if (row && v[0].text) {
		l->work_found |= !strcmp(v[0].text, l->range->work);
		if (v[1].integer != ATTR_WITNESS && v[1].integer != ATTR_TRACK)
			buf_addf(&l->text, "%s%s", l->text.size ? ", " : "", v[0].text);
	}
	return 0;
}

static int take_work(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                     struct error *err)
{
	struct loading *l = ctx;
	uint64_t at = row ? (uint64_t)(v[0].integer - l->first_id) : 0;

	if (row && at < l->points.count && l->points.items[at] != UINT32_MAX) {
		watch_work(l->w, l->points.items[at], (double)v[1].integer);
		if (l->sum)
			watch_work(l->sum, l->sum_points.items[at], (double)v[1].integer);
		l->work_sum += (double)v[1].integer;
	}
	return 0;
}

/* Reads the counts of the event that counts work. */
static int read_work(struct loading *l, struct error *err)
{
	const char *work = l->range->work;
	int ret;

	if (!work || !strcmp(work, "wall"))
		return 0;
	ret = sql_run(l->sql,
	              "SELECT DISTINCT n.text, e.role FROM event e JOIN name n ON n.id = e.name"
	              " ORDER BY n.text",
	              take_event, l, err);
	if (!ret && !l->work_found)
		ret = error_set(err, EINVAL, "the event '%s' was not recorded; %s has %s", work,
		                l->range->store, buf_text(&l->text));
	buf_clear(&l->text);
	if (ret)
		return ret;
	buf_addf(&l->text,
	         "SELECT window, sum(weight) FROM sample WHERE window BETWEEN %" PRId64
	         " AND %" PRId64 " AND event IN (SELECT e.id FROM event e JOIN name n"
	         " ON n.id = e.name WHERE n.text = ",
	         l->first_id, l->last_id);
	quote(work, &l->text);
	buf_puts(&l->text, ") GROUP BY window");
	ret = sql_run(l->sql, buf_text(&l->text), take_work, l, err);
	buf_clear(&l->text);
	if (!ret && !(l->work_sum > 0))
		ret = error_set(err, ENODATA,
		                "the event '%s' did not occur in this time of %s; without --work "
		                "the time is divided by the load",
		                work, l->range->store);
	return ret;
}

/* Adds a kept change to those of a search. */
static void add_known(struct watch *w, const struct sql_value *v)
{
	struct watch_known k = {0};

	k.function = intern_add(&w->texts, v[2].text);
	k.image = intern_add(&w->texts, v[3].text);
	k.mode = intern_add(&w->texts, v[4].text);
	k.time_ns = (uint64_t)v[5].integer;
	k.point_ns = (uint64_t)v[6].integer;
	k.found_ns = (uint64_t)v[7].integer;
	k.verdict = intern_add(&w->texts, v[8].text);
	k.change = v[9].type == SQL_REAL ? v[9].real : NAN;
	k.q = v[10].real;
	vec_push(&w->known, k);
}

/* Names or patterns, with the suffix or without. NULL: all services. */
static bool is_one_service(const char *a, const char *b)
{
	size_t size_a = a ? service_name_length(a) : 0, size_b = b ? service_name_length(b) : 0;

	return size_a == size_b && (!size_a || !memcmp(a, b, size_a));
}

static int take_known(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                      struct error *err)
{
	struct loading *l = ctx;
	const char *of_host = l->range->host ? l->range->host : "";
	const char *host;

	if (!row || !v[2].text || !v[3].text || !v[4].text || !v[8].text ||
	    !is_one_service(v[1].text, l->range->service))
		return 0;
	host = v[0].text ? v[0].text : "";
	if (!strcmp(host, of_host))
		add_known(l->w, v);
	if (l->sum && !strcmp(host, l->pattern))
		add_known(l->sum, v);
	return 0;
}

/* Changes that earlier searches of the same host and service kept. */
static int read_known(struct loading *l, struct error *err)
{
	return sql_run(l->sql,
	               "SELECT host, service, function, image, mode, time_ns, point_ns, found_ns,"
	               " verdict, change, q FROM changes ORDER BY time_ns, function",
	               take_known, l, err);
}

int watch_times(const struct watch_range *range, uint64_t *from_ns, uint64_t *until_ns,
                struct error *err)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	int ret = 0;

	if (range->from)
		ret = when_parse("--from", range->from, now_ns, from_ns, err);
	if (!ret && range->until)
		ret = when_parse("--until", range->until, now_ns, until_ns, err);
	if (!ret && range->until && *until_ns <= *from_ns)
		ret = error_set(err, EINVAL, "--until %s is not after --from %s", range->until,
		                range->from ? range->from : "the beginning of time");
	return ret;
}

bool watch_host_is_pattern(const char *host)
{
	return host && strpbrk(host, "*?[");
}

int watch_load(struct watch *w, const struct watch_range *range, struct error *err)
{
	return watch_load_with(w, range, NULL, NULL, err);
}

int watch_load_with(struct watch *w, const struct watch_range *range, struct watch *sum,
                    const char *pattern, struct error *err)
{
	struct loading l = {.w = w, .sum = sum, .pattern = pattern, .range = range};
	char *path = store_path_to_read(range->store), *host = load_store_exactly(range->host);
	int ret = watch_times(range, &l.from_ns, &l.until_ns, err), code = 0;
	struct store_range fetched;

	if (!ret && !store_is_remote(path) && file_kind_of(path, &code) != FILE_STORE)
		ret = code ? error_set(err, -code, "%s: %s", range->store, strerror(-code))
		           : error_set(err, EINVAL,
		                       "%s is not a store; 'assay start --store FILE' writes one, "
		                       "and 'assay diff' compares recordings",
		                       range->store);
	/* A server refuses several machines before it sends their windows. */
	fetched = (struct store_range){.host = host || store_is_remote(path) ? host : "*",
	                               .from_ns = l.from_ns,
	                               .to_ns = l.until_ns};
	fetched.service = range->service;
	if (!ret && range->service && !store_is_remote(path))
		ret = error_set(err, EINVAL,
		                "--service is for stores on a server (clickhouse://HOST/DATABASE)");
	if (!ret)
		ret = sql_open_store_range(&l.sql, path, &fetched, err);
	if (!ret)
		ret = check_hosts(&l, err);
	if (!ret)
		ret = read_windows(&l, err);
	if (!ret) {
		place_windows(&l);
		ret = read_work(&l, err);
	}
	if (!ret)
		ret = read_samples(&l, err);
	if (!ret)
		ret = read_known(&l, err);
	sql_close(l.sql);
	vec_done(&l.windows);
	vec_done(&l.points);
	vec_done(&l.sum_points);
	vec_done(&l.of_sum);
	buf_done(&l.text);
	free(path);
	free(host);
	return ret;
}
