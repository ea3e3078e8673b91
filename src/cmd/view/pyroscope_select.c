/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view/pyroscope_select.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
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

/* ---- selectors ----------------------------------------------------------- */

/* Labels requests have a list, which may be empty; others have one selector. */
static int read_selectors(struct pyroscope_labels *l, const struct querier_request *q,
                          struct error *err)
{
	int rc = 0;

	if (!q->matchers.count)
		return pyroscope_labels_add(l, q->sides[0].selector, err);
	vec_each (text, &q->matchers)
		if (!rc)
			rc = pyroscope_labels_add(l, *text, err);
	return rc;
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

static struct pyroscope_values values_of(const struct store_sums *sums, const struct store_sum *sum)
{
	return (struct pyroscope_values){
	        intern_text(&sums->texts, sum->host),
	        pyroscope_service_text(intern_text(&sums->texts, sum->service)),
	        intern_text(&sums->texts, sum->version), intern_text(&sums->texts, sum->labels)};
}

/* Sums of labels that no selector selects together are dropped. */
static void keep_selected(struct store_sums *sums, struct pyroscope_labels *l)
{
	size_t kept = 0;

	if (l->selectors.count < 2)
		return;
	vec_each (sum, &sums->sums) {
		const struct pyroscope_values v = values_of(sums, sum);

		if (pyroscope_labels_hold(l, &v))
			sums->sums.items[kept++] = *sum;
	}
	sums->sums.count = kept;
}

static void choose_types(struct pyroscope_series *s)
{
	for (size_t i = 0; i < PYROSCOPE_TYPES; i++)
		vec_each (item, &s->labels.selectors)
			s->types[i] |= label_selector_has(item, PYROSCOPE_TYPE_LABEL,
			                                  pyroscope_types[i].id);
}

struct reducing {
	const struct pyroscope_labels *labels;
	const struct querier_request *q;
	struct buf text;
};

static const char *reduce(void *ctx, const char *lines)
{
	struct reducing *r = ctx;

	buf_clear(&r->text);
	pyroscope_labels_reduce(r->labels, lines, r->q, &r->text);
	return buf_text(&r->text);
}

/* What the answer has. Several selectors are also applied to the sums, which then have all. */
static void set_labels(struct store_sums_request *r, struct reducing *reducing)
{
	const struct pyroscope_labels *l = reducing->labels;
	const struct querier_request *q = reducing->q;
	bool all = l->selectors.count > 1;

	r->by_host = all || pyroscope_wants(q, PYROSCOPE_HOST);
	r->by_service = all || pyroscope_wants(q, PYROSCOPE_SERVICE);
	r->by_version = all || pyroscope_wants(q, PYROSCOPE_VERSION);
	if ((all && l->by_process) || pyroscope_wants_process(q))
		r->by_labels = reduce;
	r->by_labels_ctx = reducing;
}

static int read_sums(struct pyroscope_series *s, const char *store,
                     struct store_sums_request *request, const struct querier_request *q,
                     struct error *err)
{
	const struct store_choice choice = pyroscope_labels_choice(&s->labels);
	struct reducing reducing = {.labels = &s->labels, .q = q};
	int rc;

	request->range.choice = &choice;
	request->step_ns = s->step_ns;
	set_labels(request, &reducing);
	rc = store_sums_read(store, request, &s->sums, err);
	buf_done(&reducing.text);
	if (!rc)
		keep_selected(&s->sums, &s->labels);
	return rc ? rc : pyroscope_labels_check(&s->labels, err);
}

int pyroscope_series_read(struct pyroscope_series *s, const char *store,
                          const struct querier_request *q, struct error *err)
{
	struct store_sums_request request = {0};
	const struct pyroscope_type *type = NULL;
	int rc;

	pyroscope_labels_init(&s->labels);
	rc = read_selectors(&s->labels, q, err);
	if (!rc && q->method == QUERIER_SELECT_SERIES)
		rc = find_type(q->sides[0].type, &type, err);
	if (!rc)
		rc = check_selection(&q->sides[0], err);
	set_range(&request.range, &q->sides[0]);
	if (!rc)
		rc = set_step(s, q, &request.range, err);
	if (!rc)
		choose_types(s);
	s->time = type && type->time;
	if (!rc)
		rc = read_sums(s, store, &request, q, err);
	return rc;
}

/* ---- lines --------------------------------------------------------------- */

/* The labels of each text of labels, which are read once. */
struct label_set {
	pyroscope_label_list labels;
	bool read;
};

static void add_label(pyroscope_label_list *labels, const struct querier_request *q,
                      const char *name, const char *value)
{
	if (*value && pyroscope_wants(q, name))
		vec_push(labels, (struct pyroscope_label){name, value});
}

/* The labels of a sum that the request asks for. A label without a value is not there. */
static void find_labels(struct pyroscope_series *s, const struct querier_request *q,
                        const struct store_sum *sum, struct label_set *set,
                        pyroscope_label_list *labels)
{
	const struct pyroscope_values v = values_of(&s->sums, sum);

	labels->count = 0;
	add_label(labels, q, PYROSCOPE_HOST, v.host);
	add_label(labels, q, PYROSCOPE_SERVICE, v.service);
	add_label(labels, q, PYROSCOPE_VERSION, v.version);
	if (!set->read)
		pyroscope_labels_read(&s->labels, v.lines, q, &set->labels);
	set->read = true;
	vec_each (label, &set->labels)
		vec_push(labels, *label);
}

/* Texts are those of tables: equal ones have one address. Id 0 of the keys is no line. */
static struct pyroscope_line *line_of(struct pyroscope_series *s, struct intern *keys,
                                      const pyroscope_label_list *labels)
{
	struct pyroscope_line *line;
	struct buf key = {0};
	uint32_t id;

	buf_puts(&key, "labels");
	vec_each (label, labels)
		buf_addf(&key, " %p %p", (const void *)label->name, (const void *)label->value);
	id = intern_add(keys, buf_text(&key));
	buf_done(&key);
	if (id <= s->lines.count)
		return &s->lines.items[id - 1];
	line = vec_add(&s->lines);
	*line = (struct pyroscope_line){0};
	vec_each (label, labels)
		vec_push(&line->labels, *label);
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

static void add_lines(struct pyroscope_series *s, const struct querier_request *q)
{
	size_t count = s->sums.texts.texts.count;
	struct label_set *sets = xcalloc(count + 1, sizeof(*sets));
	pyroscope_label_list labels = {0};
	struct intern keys;

	intern_init(&keys);
	vec_each (sum, &s->sums.sums) {
		find_labels(s, q, sum, &sets[sum->labels], &labels);
		add_sum(s, line_of(s, &keys, &labels), sum);
	}
	intern_done(&keys);
	vec_done(&labels);
	for (size_t i = 0; i < count; i++)
		vec_done(&sets[i].labels);
	free(sets);
}

int pyroscope_series_group(struct pyroscope_series *s, const struct querier_request *q,
                           struct error *err)
{
	add_lines(s, q);
	vec_each (line, &s->lines)
		join_points(line);
	if (s->lines.count)
		qsort(s->lines.items, s->lines.count, sizeof(*s->lines.items), by_sum);
	/* A list of names is right although two labels have one of them. */
	return q->method == QUERIER_LABEL_NAMES ? 0 : pyroscope_labels_check(&s->labels, err);
}

void pyroscope_series_done(struct pyroscope_series *s)
{
	vec_each (line, &s->lines) {
		vec_done(&line->labels);
		vec_done(&line->points);
	}
	vec_done(&s->lines);
	store_sums_done(&s->sums);
	pyroscope_labels_done(&s->labels);
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
	struct pyroscope_labels labels;
	struct store_range range = {.sums = true};
	const struct pyroscope_type *type = NULL;
	struct profile *p = profile_new();
	struct store_choice choice;
	int rc;

	pyroscope_labels_init(&labels);
	rc = pyroscope_labels_add(&labels, selection->selector, err);
	choice = pyroscope_labels_choice(&labels);
	range.choice = &choice;
	if (!rc)
		rc = find_type(selection->type, &type, err);
	if (!rc)
		rc = check_selection(selection, err);
	*value = type && type->time ? 1 : 0;
	set_range(&range, selection);
	if (!rc)
		rc = store_read(store, &range, p, err);
	if (!rc || rc == -ENODATA)
		rc = pyroscope_labels_check(&labels, err) ? -EINVAL : rc;
	if (!rc)
		rc = name_paths(n, p, load, err);
	else if (rc == -ENODATA)
		rc = 0;
	profile_free(p);
	pyroscope_labels_done(&labels);
	return rc;
}
