/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view/pyroscope_select.h"

#include "base/clock.h"
#include "format/pyroscope/label_selector.h"
#include "view/fleet/fleet_document.h"
#include "view/symbolized/symbolized.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS INT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)
#define POINTS_MAX 11000 /* of a line, as Prometheus has it */

const struct pyroscope_type pyroscope_types[PYROSCOPE_TYPES] = {
        {"process_cpu:cpu:nanoseconds:cpu:nanoseconds", "cpu", "nanoseconds", true},
        {"process_cpu:samples:count:cpu:nanoseconds", "samples", "count", false},
};

static const char no_service[] = FLEET_NO_SERVICE;

static const char *const labels[] = {PYROSCOPE_HOST, PYROSCOPE_SERVICE, PYROSCOPE_VERSION,
                                     PYROSCOPE_TYPE_LABEL, NULL};

const char *pyroscope_service_text(const char *service)
{
	return *service ? service : no_service;
}

/* ---- selectors ----------------------------------------------------------- */

/* One of them must hold. */
struct selectors {
	VEC(struct label_selector) items;
};

static int add_selector(struct selectors *s, const char *text, struct error *err)
{
	struct label_selector *item = vec_add(&s->items);

	*item = (struct label_selector){0};
	return label_selector_parse(item, text ? text : "", err);
}

static void selectors_done(struct selectors *s)
{
	vec_each (item, &s->items)
		label_selector_done(item);
	vec_done(&s->items);
}

/* Labels requests have a list, which may be empty; others have one selector. */
static int read_selectors(struct selectors *s, const struct querier_request *q, struct error *err)
{
	int rc = 0;

	if (!q->matchers.count)
		return add_selector(s, q->sides[0].selector, err);
	vec_each (text, &q->matchers)
		if (!rc)
			rc = add_selector(s, *text, err);
	return rc;
}

/* The values of labels; NULL: any. A program without a version has none, which is "". */
struct values {
	const char *host, *service, *version;
};

static bool holds(const struct label_selector *s, const struct values *v)
{
	return label_selector_has_others(s, labels) &&
	       (!v->host || label_selector_has(s, PYROSCOPE_HOST, v->host)) &&
	       (!v->service || label_selector_has(s, PYROSCOPE_SERVICE, v->service)) &&
	       (!v->version || label_selector_has(s, PYROSCOPE_VERSION, v->version));
}

static bool one_holds(const struct selectors *s, struct values v)
{
	vec_each (item, &s->items)
		if (holds(item, &v))
			return true;
	return false;
}

static bool has_host(void *ctx, const char *name)
{
	return one_holds(ctx, (struct values){.host = name});
}

static bool has_service(void *ctx, const char *name)
{
	return one_holds(ctx, (struct values){.service = pyroscope_service_text(name)});
}

static bool has_version(void *ctx, const char *name)
{
	return one_holds(ctx, (struct values){.version = name});
}

/* ---- the range and the type ---------------------------------------------- */

static void set_range(struct store_range *r, const struct querier_selection *s)
{
	r->from_ns = (uint64_t)(s->start_ms * MS_NS);
	r->to_ns = s->end_ms ? (uint64_t)(s->end_ms * MS_NS) : clock_ns(CLOCK_REALTIME);
}

static int find_type(const char *id, const struct pyroscope_type **type, struct error *err)
{
	for (size_t i = 0; i < PYROSCOPE_TYPES; i++)
		if (id && !strcmp(pyroscope_types[i].id, id))
			*type = &pyroscope_types[i];
	if (*type)
		return 0;
	return error_set(err, EINVAL, "there is no profile type %.100s; there are %s and %s",
	                 id ? id : "''", pyroscope_types[0].id, pyroscope_types[1].id);
}

static int check_selection(const struct querier_selection *s, struct error *err)
{
	return s->other_selector
	               ? error_set(err, EOPNOTSUPP,
	                           "assay does not select by call sites, profile ids, spans "
	                           "or traces")
	               : 0;
}

/* ---- sums ---------------------------------------------------------------- */

static int set_step(struct pyroscope_series *s, const struct querier_request *q,
                    const struct store_range *r, struct error *err)
{
	double step_s = q->step_s < 1 ? 1 : round(q->step_s);

	if (q->method != QUERIER_SELECT_SERIES)
		return 0;
	s->step_ns = (uint64_t)step_s * SECOND_NS;
	if (r->to_ns > r->from_ns && (r->to_ns - r->from_ns) / s->step_ns > POINTS_MAX)
		return error_set(err, EINVAL,
		                 "the range has more than %d steps: choose longer ones",
		                 POINTS_MAX);
	return 0;
}

static bool groups_by(const struct querier_request *q, const char *label)
{
	vec_each (name, &q->labels)
		if (!strcmp(*name, label))
			return true;
	return false;
}

static struct values values_of(const struct store_sums *sums, const struct store_sum *sum)
{
	return (struct values){intern_text(&sums->texts, sum->host),
	                       pyroscope_service_text(intern_text(&sums->texts, sum->service)),
	                       intern_text(&sums->texts, sum->version)};
}

/* Sums of pairs that no selector selects as a pair are dropped. */
static void keep_selected(struct store_sums *sums, const struct selectors *s)
{
	size_t kept = 0;

	if (s->items.count < 2)
		return;
	vec_each (sum, &sums->sums)
		if (one_holds(s, values_of(sums, sum)))
			sums->sums.items[kept++] = *sum;
	sums->sums.count = kept;
}

static void choose_types(struct pyroscope_series *s, const struct selectors *selectors)
{
	for (size_t i = 0; i < PYROSCOPE_TYPES; i++)
		vec_each (item, &selectors->items)
			s->types[i] |= label_selector_has(item, PYROSCOPE_TYPE_LABEL,
			                                  pyroscope_types[i].id);
}

int pyroscope_series_read(struct pyroscope_series *s, const char *store,
                          const struct querier_request *q, struct error *err)
{
	bool points = q->method == QUERIER_SELECT_SERIES;
	struct selectors selectors = {0};
	const struct store_choice choice = {has_host, has_service, has_version, &selectors};
	struct store_sums_request request = {.range.choice = &choice};
	const struct pyroscope_type *type = NULL;
	int rc = read_selectors(&selectors, q, err);

	if (!rc && points)
		rc = find_type(q->sides[0].type, &type, err);
	if (!rc)
		rc = check_selection(&q->sides[0], err);
	set_range(&request.range, &q->sides[0]);
	if (!rc)
		rc = set_step(s, q, &request.range, err);
	if (!rc)
		choose_types(s, &selectors);
	s->time = type && type->time;
	request.step_ns = s->step_ns;
	request.by_host = !points || groups_by(q, PYROSCOPE_HOST);
	request.by_service = !points || groups_by(q, PYROSCOPE_SERVICE);
	request.by_version = !points || groups_by(q, PYROSCOPE_VERSION);
	if (!rc)
		rc = store_sums_read(store, &request, &s->sums, err);
	if (!rc)
		keep_selected(&s->sums, &selectors);
	selectors_done(&selectors);
	return rc;
}

/* ---- lines --------------------------------------------------------------- */

static struct pyroscope_line *line_of(struct pyroscope_series *s, struct values v)
{
	struct pyroscope_line *line;

	/* Names are texts of one table: equal ones have one address. */
	vec_each (found, &s->lines)
		if (found->host == v.host && found->service == v.service &&
		    found->version == v.version)
			return found;
	line = vec_add(&s->lines);
	*line = (struct pyroscope_line){.host = v.host, .service = v.service, .version = v.version};
	return line;
}

static void add_point(struct pyroscope_line *line, uint64_t start_ns, double value)
{
	int64_t time_ms = (int64_t)(start_ns / (uint64_t)MS_NS);

	vec_push(&line->points, (struct pyroscope_point){time_ms, value});
	line->sum += value;
}

/* A window that is longer than a step counts in all steps that it overlaps with. */
static void add_sum(const struct pyroscope_series *s, struct pyroscope_line *line,
                    const struct store_sum *sum)
{
	double value = (double)(s->time ? sum->weight_ns : sum->samples);
	uint64_t steps = s->step_ns ? (sum->length_ns + s->step_ns - 1) / s->step_ns : 0;

	if (!s->step_ns) {
		line->sum += value;
		return;
	}
	steps = steps < 1 ? 1 : steps > POINTS_MAX ? POINTS_MAX : steps;
	for (uint64_t i = 0; i < steps; i++)
		add_point(line, sum->start_ns + i * s->step_ns, value / (double)steps);
}

static int by_time(const void *a, const void *b)
{
	const struct pyroscope_point *x = a, *y = b;

	return (x->time_ms > y->time_ms) - (x->time_ms < y->time_ms);
}

static void join_points(struct pyroscope_line *line)
{
	size_t kept = 0;

	if (!line->points.count)
		return;
	qsort(line->points.items, line->points.count, sizeof(*line->points.items), by_time);
	for (size_t i = 1; i < line->points.count; i++) {
		struct pyroscope_point *last = &line->points.items[kept];
		const struct pyroscope_point *point = &line->points.items[i];

		if (point->time_ms == last->time_ms)
			last->value += point->value;
		else
			line->points.items[++kept] = *point;
	}
	line->points.count = kept + 1;
}

static int by_sum(const void *a, const void *b)
{
	const struct pyroscope_line *x = a, *y = b;

	return (x->sum < y->sum) - (x->sum > y->sum);
}

void pyroscope_series_group(struct pyroscope_series *s, const struct querier_request *q)
{
	bool all = q->method == QUERIER_SERIES && !q->labels.count;
	bool hosts = all || groups_by(q, PYROSCOPE_HOST);
	bool services = all || groups_by(q, PYROSCOPE_SERVICE);
	bool versions = all || groups_by(q, PYROSCOPE_VERSION);

	vec_each (sum, &s->sums.sums) {
		struct values v = values_of(&s->sums, sum);

		v.host = hosts ? v.host : NULL;
		v.service = services ? v.service : NULL;
		v.version = versions ? v.version : NULL;
		add_sum(s, line_of(s, v), sum);
	}
	vec_each (line, &s->lines)
		join_points(line);
	if (s->lines.count)
		qsort(s->lines.items, s->lines.count, sizeof(*s->lines.items), by_sum);
}

void pyroscope_series_done(struct pyroscope_series *s)
{
	vec_each (line, &s->lines)
		vec_done(&line->points);
	vec_done(&s->lines);
	store_sums_done(&s->sums);
}

/* ---- call paths ---------------------------------------------------------- */

static int name_paths(struct symbolized_profile *n, struct profile *p,
                      const struct load_options *load, struct error *err)
{
	const struct filter busy = {.no_idle = true};
	struct symbolizer *symbols = load_symbolizer(p, load);
	struct view *v = view_new(p, symbols);
	struct selection s = {0};
	int rc = filter_select(v, &busy, profile_main_event(p), &s, err);

	n->depth_max = NAMED_DEPTH_MAX;
	if (!rc)
		named_of_samples(n, v, &s, NULL);
	selection_done(&s);
	view_free(v);
	symbolizer_free(symbols);
	return rc;
}

int pyroscope_paths(struct symbolized_profile *n, unsigned *value, const char *store,
                    const struct load_options *load, const struct querier_selection *selection,
                    struct error *err)
{
	struct selectors selectors = {0};
	const struct store_choice choice = {has_host, has_service, has_version, &selectors};
	struct store_range range = {.choice = &choice, .sums = true};
	const struct pyroscope_type *type = NULL;
	struct profile *p = profile_new();
	int rc = add_selector(&selectors, selection->selector, err);

	if (!rc)
		rc = find_type(selection->type, &type, err);
	if (!rc)
		rc = check_selection(selection, err);
	*value = type && type->time ? 1 : 0;
	set_range(&range, selection);
	if (!rc)
		rc = store_read(store, &range, p, err);
	if (!rc)
		rc = name_paths(n, p, load, err);
	else if (rc == -ENODATA)
		rc = 0;
	profile_free(p);
	selectors_done(&selectors);
	return rc;
}
