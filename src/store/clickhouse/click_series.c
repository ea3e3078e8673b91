/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_series.h"

#include "base/memory/xalloc.h"
#include "event/attr.h"
#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_counted.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sqlite3.h>
#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)

/* A window in the range, or a sum of all machines. */
struct series_part {
	uint64_t key, part, start_s;
};

/* A row of sums before its names are known. */
struct series_sum {
	struct row_value values[8];
};

struct series {
	struct click_server *server;
	const struct store_sums_request *request;
	struct store_sums *sums;
	struct click_map names;    /* hash of a service or a host to its text */
	struct click_map hosts;    /* that the store has */
	struct click_map chosen;   /* those of the request */
	struct buf of_hosts;       /* the condition on them (click_counted.h) */
	struct click_map services; /* chosen ones; empty: all */
	struct click_map versions;
	struct click_map labels;  /* chosen ones, to the texts by which sums are made */
	struct click_map unnamed; /* hashes of services, versions or labels without names yet */
	uint64_t first_s, last_s; /* times of the windows in the range */
	/* With sums of all machines: windows, those that no sum has, and the parts to read. */
	bool sums_of_all;
	VEC(struct series_part) windows;
	VEC(struct series_sum) rows;
	struct click_map open, parts;
	uint64_t sums_first_s, sums_last_s;
};

typedef int series_row_fn(struct series *s, const struct row_value *v, struct error *err);

struct series_row {
	struct series *series;
	series_row_fn *row;
};

static int series_row(void *ctx, const struct row_value *v, struct error *err)
{
	const struct series_row *to = ctx;

	return to->row(to->series, v, err);
}

static int ask(struct series *s, const char *sql, const struct click_map *set, const char *letters,
               const char *what, series_row_fn *row, struct error *err)
{
	struct series_row to = {s, row};

	return click_server_rows(s->server, sql, set, letters, what, series_row, &to, err);
}

static bool matches(const char *pattern, const char *name)
{
	return !pattern || !sqlite3_strglob(pattern, name);
}

/* Keeps the name of a hash; the name. */
static const char *keep_name(struct series *s, uint64_t hash, const struct row_value *text)
{
	char *copy = xstrndup(text->size ? text->bytes : "", text->size);
	uint32_t id = intern_add(&s->sums->texts, copy);
	bool added;

	free(copy);
	*click_map_place(&s->names, hash, &added) = id;
	return intern_text(&s->sums->texts, id);
}

static int take_host(struct series *s, const struct row_value *v, struct error *err)
{
	const struct store_range *range = &s->request->range;
	const char *name;
	bool added;

	click_map_place(&s->hosts, v[0].number, &added);
	if (!added)
		return 0;
	name = keep_name(s, v[0].number, &v[1]);
	if (range->choice ? range->choice->host(range->choice->ctx, name)
	                  : matches(range->host, name))
		click_map_place(&s->chosen, v[0].number, &added);
	return 0;
}

/* The number of windows is in v[2] for the range, else 0. */
static int take_times(struct series *s, const struct row_value *v, struct error *err)
{
	s->sums->first_ns = v[0].number;
	s->sums->last_ns = v[1].number;
	return 0;
}

static int take_range(struct series *s, const struct row_value *v, struct error *err)
{
	s->sums->windows = v[0].number;
	s->first_s = v[1].number;
	s->last_s = v[2].number;
	return 0;
}

static void put_windows(const struct series *s, struct buf *sql)
{
	const struct store_range *r = &s->request->range;

	buf_puts(sql, " FROM " CLICK_WINDOWS);
	click_counted(sql, buf_text(&s->of_hosts), r->from_ns, r->to_ns ? r->to_ns : INT64_MAX);
}

static int count_windows(struct series *s, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql, "SELECT count(), toUInt64(toUInt32(min(time))),"
	               " toUInt64(toUInt32(max(time)))");
	put_windows(s, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	status = ask(s, buf_text(&sql), NULL, "qqq", "windows", take_range, err);
	buf_done(&sql);
	return status;
}

static int take_window(struct series *s, const struct row_value *v, struct error *err)
{
	const struct series_part window = {v[0].number, v[1].number, v[2].number / SECOND_NS};
	bool added;

	*click_map_place(&s->open, window.key, &added) = 1;
	if (added)
		vec_push(&s->windows, window);
	return 0;
}

static void add_part(struct series *s, uint64_t part, uint64_t start_s, bool sum)
{
	uint64_t *first_s = sum ? &s->sums_first_s : &s->first_s;
	uint64_t *last_s = sum ? &s->sums_last_s : &s->last_s;

	click_map_place(&s->parts, part, &(bool){false});
	*first_s = start_s < *first_s ? start_s : *first_s;
	*last_s = start_s > *last_s ? start_s : *last_s;
}

/* The rows of a sum without call paths: by machine, or not (click_keep_sums.c). */
static int take_whole(struct series *s, const struct row_value *v, struct error *err)
{
	uint64_t place = s->request->by_host ? CLICK_SUM_MACHINES : CLICK_SUM_TOTALS, value;

	if (v[2].number > place && click_counted_cover(&s->open, &v[1], &value))
		add_part(s, row_value_number(&v[2], place), v[0].number / SECOND_NS, true);
	return 0;
}

static int fetch_windows(struct series *s, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql, "SELECT key, part, start_ns");
	put_windows(s, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	status = ask(s, buf_text(&sql), NULL, "qqq", "windows", take_window, err);
	buf_done(&sql);
	s->sums->windows = s->windows.count;
	return status;
}

/*
 * For all machines, samples are read from the sums that `store keep` made, and from the windows
 * that no sum has.
 */
static int find_sums(struct series *s, struct error *err)
{
	const struct store_range *r = &s->request->range;
	struct buf sql = {0};
	int status = fetch_windows(s, err);

	s->first_s = s->sums_first_s = UINT64_MAX;
	buf_puts(&sql, "SELECT start_ns, replaces, parts FROM " CLICK_WINDOWS);
	click_counted(&sql, "host = 0", r->from_ns, r->to_ns ? r->to_ns : INT64_MAX);
	buf_puts(&sql, " ORDER BY length(replaces) DESC, key FORMAT RowBinary");
	if (!status && s->windows.count)
		status = ask(s, buf_text(&sql), NULL, "qaa", "sums", take_whole, err);
	buf_done(&sql);
	vec_each (window, &s->windows)
		if (click_map_get(&s->open, window->key))
			add_part(s, window->part, window->start_s, false);
	return status;
}

/* Sums have no labels, and no times within them. */
static bool may_use_sums(const struct series *s)
{
	const struct store_sums_request *q = s->request;

	return !q->step_ns && !q->by_labels && !(q->range.choice && q->range.choice->labels) &&
	       s->chosen.pairs.count == s->hosts.pairs.count;
}

static int find_windows(struct series *s, struct error *err)
{
	int status = ask(s,
	                 "SELECT min(start_ns), max(end_ns) FROM " CLICK_WINDOWS
	                 " WHERE host != 0 FORMAT RowBinary",
	                 NULL, "qq", "times", take_times, err);

	if (status || !s->chosen.pairs.count)
		return status;
	s->sums_of_all = may_use_sums(s);
	return s->sums_of_all ? find_sums(s, err) : count_windows(s, err);
}

/* Samples of the clock, in a time, outside of idle time. */
static void put_where(const struct series *s, const char *hosts, uint64_t first_s, uint64_t last_s,
                      struct buf *sql)
{
	bool any = first_s <= last_s;

	buf_addf(sql,
	         " WHERE %s AND time >= toDateTime(%" PRIu64 ") AND time <="
	         " toDateTime(%" PRIu64 ") AND mode != %d AND event GLOBAL IN"
	         " (SELECT id FROM events WHERE role = %d)",
	         hosts, any ? first_s : 1, any ? last_s : 0, PROFILE_IDLE, ATTR_CLOCK);
	click_server_and_in(s->server, CLICK_OF_SERVICE, &s->services, sql);
	click_server_and_in(s->server, CLICK_OF_VERSION, &s->versions, sql);
	click_server_and_in(s->server, CLICK_OF_LABELS, &s->labels, sql);
}

#define SERIES_COLUMNS " AS machine, service, version, labels, samples, period, weight"

/* " FROM ..": the columns above, of all samples of the request; `windows`: only those that count.
 */
static void put_from(const struct series *s, bool windows, struct buf *sql)
{
	buf_puts(sql, " FROM (SELECT host" SERIES_COLUMNS " FROM " CLICK_SAMPLES);
	if (s->sums_of_all) {
		buf_puts(sql, " PREWHERE part GLOBAL IN keys");
		put_where(s, buf_text(&s->of_hosts), s->first_s, s->last_s, sql);
		buf_puts(sql, " UNION ALL SELECT thread" SERIES_COLUMNS " FROM " CLICK_SAMPLES
		              " PREWHERE part GLOBAL IN keys");
		put_where(s, "host = 0", s->sums_first_s, s->sums_last_s, sql);
	} else {
		if (windows) {
			buf_puts(sql, " PREWHERE part GLOBAL IN (SELECT part");
			put_windows(s, sql);
			buf_puts(sql, ")");
		}
		put_where(s, buf_text(&s->of_hosts), s->first_s, s->last_s, sql);
	}
	buf_puts(sql, ")");
}

/* The table `keys` of statements with put_from(). */
static const struct click_map *keys_of(const struct series *s)
{
	return s->sums_of_all ? &s->parts : NULL;
}

static int see_name(struct series *s, const struct row_value *v, struct error *err)
{
	bool added;

	click_map_place(&s->unnamed, v[0].number, &added);
	return 0;
}

static bool has_version(const struct store_range *r, const char *name)
{
	return r->choice ? r->choice->version(r->choice->ctx, name) : matches(r->version, name);
}

static bool has_labels(const struct store_range *r, const char *lines)
{
	return !r->choice || !r->choice->labels || r->choice->labels(r->choice->ctx, lines);
}

static int take_service(struct series *s, const struct row_value *v, struct error *err)
{
	if (store_range_service(&s->request->range, keep_name(s, v[0].number, &v[1])))
		click_map_place(&s->services, v[0].number, &(bool){false});
	return 0;
}

static int take_version(struct series *s, const struct row_value *v, struct error *err)
{
	if (has_version(&s->request->range, keep_name(s, v[0].number, &v[1])))
		click_map_place(&s->versions, v[0].number, &(bool){false});
	return 0;
}

static int take_labels(struct series *s, const struct row_value *v, struct error *err)
{
	const struct store_sums_request *q = s->request;
	char *lines = xstrndup(v[1].size ? v[1].bytes : "", v[1].size);
	const char *text = q->by_labels ? q->by_labels(q->by_labels_ctx, lines) : "";

	if (has_labels(&q->range, lines))
		*click_map_place(&s->labels, v[0].number, &(bool){false}) =
		        intern_add(&s->sums->texts, text);
	free(lines);
	return 0;
}

/* A column of samples with names: its chosen hashes. */
struct series_names {
	const char *column;
	series_row_fn *take;
	struct click_map *chosen;
	bool nameless; /* samples without a name are chosen: they have the hash 0 */
};

/* The names of the hashes in s->unnamed. */
static int ask_names(struct series *s, const char *what, series_row_fn *take, struct error *err)
{
	return ask(s, "SELECT DISTINCT id, text FROM names WHERE id IN keys FORMAT RowBinary",
	           &s->unnamed, "qs", what, take, err);
}

static int find_names(struct series *s, const struct series_names *n, struct error *err)
{
	struct buf sql = {0};
	int status;

	click_map_done(&s->unnamed);
	buf_addf(&sql, "SELECT DISTINCT %s", n->column);
	put_from(s, false, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	status = ask(s, buf_text(&sql), keys_of(s), "q", n->column, see_name, err);
	buf_done(&sql);
	if (!status && n->nameless && click_map_has(&s->unnamed, 0))
		click_map_place(n->chosen, 0, &(bool){false});
	return status ? status : ask_names(s, n->column, n->take, err);
}

/* *any: something is chosen. Each question is about the samples that the ones before chose. */
static int find_chosen(struct series *s, bool *any, struct error *err)
{
	const struct store_range *r = &s->request->range;
	const struct {
		bool asked;
		struct series_names names;
	} columns[] = {
	        {r->service || r->choice,
	         {"service", take_service, &s->services, store_range_service(r, "")}},
	        {r->version || r->choice,
	         {"version", take_version, &s->versions, has_version(r, "")}},
	        {(r->choice && r->choice->labels) || s->request->by_labels,
	         {"labels", take_labels, &s->labels, has_labels(r, "")}},
	};
	int status = 0;

	*any = true;
	for (size_t i = 0; !status && *any && i < sizeof(columns) / sizeof(*columns); i++) {
		if (!columns[i].asked)
			continue;
		status = find_names(s, &columns[i].names, err);
		*any = columns[i].names.chosen->pairs.count > 0;
	}
	return status;
}

/* The name of a hash; 0: none. All names are texts of one table. */
static uint32_t name_of(const struct series *s, uint64_t hash)
{
	return (uint32_t)click_map_get(&s->names, hash);
}

static int too_many(const struct series *s, struct error *err)
{
	return error_set(err, E2BIG,
	                 "%s: the question has more than %d answers: choose a shorter range, "
	                 "longer steps, or fewer labels",
	                 s->server->name, CLICK_SERIES_MAX);
}

static int take_sum(struct series *s, const struct row_value *v, struct error *err)
{
	const struct store_sum sum = {.service = name_of(s, v[0].number),
	                              .host = name_of(s, v[1].number),
	                              .version = name_of(s, v[2].number),
	                              .labels = (uint32_t)v[3].number,
	                              .start_ns = v[4].number * SECOND_NS,
	                              .length_ns = v[5].number * SECOND_NS,
	                              .samples = v[6].number,
	                              .weight_ns = v[7].number};

	if (v[3].number >= s->sums->texts.texts.count)
		return click_server_bad(s->server, "sums", err);
	if (s->sums->sums.count == CLICK_SERIES_MAX)
		return too_many(s, err);
	vec_push(&s->sums->sums, sum);
	return 0;
}

/* A column, if it is asked for. */
static const char *column(bool wanted, const char *name)
{
	return wanted ? name : "toUInt64(0)";
}

/* Sums by service, host, version, set of labels and step. */
static void put_sums(const struct series *s, struct buf *sql)
{
	const struct store_sums_request *q = s->request;
	uint64_t step_s = q->step_ns / SECOND_NS;

	buf_addf(sql, "SELECT %s AS by_service, %s AS by_host, %s AS by_version, %s AS labels_id, ",
	         column(q->by_service, "service"), column(q->by_host, step_s ? "host" : "machine"),
	         column(q->by_version, "version"), column(q->by_labels, "labels"));
	if (step_s)
		buf_addf(sql, "intDiv(start_s, %" PRIu64 ") * %" PRIu64 " AS step, length_s,",
		         step_s, step_s);
	else
		buf_puts(sql, "toUInt64(0) AS step, toUInt64(0) AS length_s,");
	buf_puts(sql, " sum(samples) AS seen, sum(samples * period + weight) AS weight_sum");
	if (step_s) {
		buf_puts(sql, " FROM " CLICK_SAMPLES " GLOBAL ANY INNER JOIN (SELECT part,"
		              " intDiv(start_ns, 1000000000) AS start_s, intDiv(end_ns - start_ns"
		              " + 999999999, 1000000000) AS length_s");
		put_windows(s, sql);
		buf_puts(sql, ") USING part");
		put_where(s, buf_text(&s->of_hosts), s->first_s, s->last_s, sql);
	} else {
		put_from(s, true, sql);
	}
	buf_puts(sql, " GROUP BY by_service, by_host, by_version, labels_id, step, length_s");
}

/* Services and versions without a selection have no names yet: rows wait until these are known. */
static int keep_sum(struct series *s, const struct row_value *v, struct error *err)
{
	struct series_sum *sum;
	bool added;

	if (s->rows.count > CLICK_SERIES_MAX)
		return too_many(s, err);
	for (int i = 0; i < 3; i += 2)
		if (v[i].number && !click_map_has(&s->names, v[i].number))
			click_map_place(&s->unnamed, v[i].number, &added);
	sum = vec_add(&s->rows);
	memcpy(sum->values, v, sizeof(sum->values));
	return 0;
}

static int take_name(struct series *s, const struct row_value *v, struct error *err)
{
	keep_name(s, v[0].number, &v[1]);
	return 0;
}

static int take_sums(struct series *s, struct error *err)
{
	int status = s->unnamed.pairs.count ? ask_names(s, "names", take_name, err) : 0;

	vec_each (sum, &s->rows)
		if (!status)
			status = take_sum(s, sum->values, err);
	return status;
}

/* Sets of labels with one text become one sum on the server: there may be many sets. */
static int fetch_sums(struct series *s, struct error *err)
{
	struct buf sql = {0};
	int status;

	if (s->request->by_labels) {
		buf_puts(&sql, "SELECT by_service, by_host, by_version, value AS by_labels, step,"
		               " length_s, sum(seen), sum(weight_sum) FROM (");
		put_sums(s, &sql);
		buf_puts(&sql, ") GLOBAL ANY LEFT JOIN (SELECT key AS labels_id, value FROM"
		               " chosen_labels) USING labels_id"
		               " GROUP BY by_service, by_host, by_version, value, step, length_s");
		s->server->tables[CLICK_OF_LABELS] = &s->labels;
	} else {
		put_sums(s, &sql);
	}
	buf_addf(&sql,
	         " ORDER BY by_service, by_host, by_version, %s, step LIMIT %d FORMAT RowBinary",
	         s->request->by_labels ? "by_labels" : "labels_id", CLICK_SERIES_MAX + 1);
	click_map_done(&s->unnamed);
	status = ask(s, buf_text(&sql), keys_of(s), "qqqqqqqq", "sums", keep_sum, err);
	if (!status)
		status = take_sums(s, err);
	buf_done(&sql);
	return status;
}

int click_series_ask(struct click_server *server, const struct store_sums_request *request,
                     struct store_sums *sums, struct error *err)
{
	struct series s = {.server = server, .request = request, .sums = sums};
	bool any = false;
	int status;

	intern_init(&sums->texts);
	status = ask(&s, "SELECT id, name FROM hosts ORDER BY name, id FORMAT RowBinary", NULL,
	             "qs", "hosts", take_host, err);
	sums->hosts = s.hosts.pairs.count;
	click_server_of_hosts(server, &s.chosen, s.hosts.pairs.count, &s.of_hosts);
	if (!status && sums->hosts)
		status = find_windows(&s, err);
	if (!status && sums->windows)
		status = find_chosen(&s, &any, err);
	if (!status && any)
		status = fetch_sums(&s, err);
	click_map_done(&s.names);
	click_map_done(&s.hosts);
	click_map_done(&s.unnamed);
	click_map_done(&s.chosen);
	click_server_drop_tables(server);
	buf_done(&s.of_hosts);
	click_map_done(&s.services);
	click_map_done(&s.versions);
	click_map_done(&s.labels);
	vec_done(&s.windows);
	vec_done(&s.rows);
	click_map_done(&s.open);
	click_map_done(&s.parts);
	return status;
}

int click_series_read(const char *name, const struct store_sums_request *request,
                      struct store_sums *sums, struct error *err)
{
	struct click_server *server;
	int status = click_server_open(&server, name, &(struct click_server_options){0}, err);

	if (status)
		return status;
	status = click_schema_check(server, err);
	if (!status)
		status = click_series_ask(server, request, sums, err);
	click_server_close(server);
	return status;
}
