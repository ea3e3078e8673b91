/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view/view_pyroscope.h"

#include "cmd/view/pyroscope_select.h"
#include "export/flame_levels.h"
#include "export/pprof_write.h"
#include "format/pyroscope/querier_request.h"
#include "web/web_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What Pyroscope returns if the request has no limit. */
#define NODES_MAX 8192

/* A call while it is answered. */
struct call {
	const struct view_pyroscope *v;
	const struct querier_request *q;
	struct querier_writer *w;
	struct buf *plain; /* an answer that is not made by the writer; NULL: not supported */
};

/* ---- labels -------------------------------------------------------------- */

static int profile_types(struct call *c, struct error *err)
{
	querier_list(c->w, "profileTypes");
	for (size_t i = 0; i < PYROSCOPE_TYPES; i++) {
		const struct pyroscope_type *t = &pyroscope_types[i];

		querier_begin(c->w, 1, NULL);
		querier_text(c->w, 1, "ID", t->id);
		querier_text(c->w, 2, "name", "process_cpu");
		querier_text(c->w, 4, "sampleType", t->sample_type);
		querier_text(c->w, 5, "sampleUnit", t->sample_unit);
		querier_text(c->w, 6, "periodType", "cpu");
		querier_text(c->w, 7, "periodUnit", "nanoseconds");
		querier_end(c->w);
	}
	querier_list_end(c->w);
	return 0;
}

static int read_lines(struct call *c, struct pyroscope_series *s, struct error *err)
{
	int rc = pyroscope_series_read(s, c->v->store, c->q, err);

	return rc ? rc : pyroscope_series_group(s, c->q, err);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of labels in the lines, in alphabetical order. */
static void put_names(struct call *c, const struct pyroscope_series *s)
{
	VEC(char *) sorted = {0};
	struct intern names;

	intern_init(&names);
	vec_each (line, &s->lines)
		vec_each (label, &line->labels)
			intern_add(&names, label->name);
	for (size_t i = 1; i < names.texts.count; i++) /* the first text is "" */
		vec_push(&sorted, names.texts.items[i]);
	if (sorted.count)
		qsort(sorted.items, sorted.count, sizeof(*sorted.items), by_text);
	vec_each (name, &sorted)
		querier_text(c->w, 1, NULL, *name);
	vec_done(&sorted);
	intern_done(&names);
}

static int label_names(struct call *c, struct error *err)
{
	static const char *const own[] = {PYROSCOPE_TYPE_LABEL, PYROSCOPE_HOST, PYROSCOPE_SERVICE,
	                                  PYROSCOPE_VERSION};
	struct pyroscope_series s = {0};
	int rc = read_lines(c, &s, err);

	querier_list(c->w, "names");
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		querier_text(c->w, 1, NULL, own[i]);
	put_names(c, &s);
	querier_list_end(c->w);
	pyroscope_series_done(&s);
	return rc;
}

/* Lines of one label have one value each; a line without labels is that of other processes. */
static int label_values(struct call *c, struct error *err)
{
	struct pyroscope_series s = {0};
	bool types = pyroscope_wants(c->q, PYROSCOPE_TYPE_LABEL);
	int rc = types ? 0 : read_lines(c, &s, err);

	querier_list(c->w, "names");
	vec_each (line, &s.lines)
		vec_each (label, &line->labels)
			querier_text(c->w, 1, NULL, label->value);
	for (size_t i = 0; i < PYROSCOPE_TYPES && types; i++)
		querier_text(c->w, 1, NULL, pyroscope_types[i].id);
	querier_list_end(c->w);
	pyroscope_series_done(&s);
	return rc;
}

static void put_label(struct call *c, const char *name, const char *value)
{
	querier_begin(c->w, 1, NULL);
	querier_text(c->w, 1, "name", name);
	querier_text(c->w, 2, "value", value);
	querier_end(c->w);
}

static void put_labels(struct call *c, const char *type, const struct pyroscope_line *line)
{
	querier_list(c->w, "labels");
	if (type)
		put_label(c, PYROSCOPE_TYPE_LABEL, type);
	vec_each (label, &line->labels)
		put_label(c, label->name, label->value);
	querier_list_end(c->w);
}

static void put_series(struct call *c, const char *type, const struct pyroscope_line *line)
{
	querier_begin(c->w, 2, NULL);
	put_labels(c, type, line);
	querier_end(c->w);
}

/* Each set of the requested labels once. */
static int series(struct call *c, struct error *err)
{
	bool types = pyroscope_wants(c->q, PYROSCOPE_TYPE_LABEL);
	struct pyroscope_series s = {0};
	int rc = read_lines(c, &s, err);

	querier_list(c->w, "labelsSet");
	vec_each (line, &s.lines)
		for (size_t i = 0; i < (types ? PYROSCOPE_TYPES : 1); i++)
			if (!types || s.types[i])
				put_series(c, types ? pyroscope_types[i].id : NULL, line);
	querier_list_end(c->w);
	pyroscope_series_done(&s);
	return rc;
}

/* ---- sums over time ------------------------------------------------------ */

static void put_points(struct call *c, const struct pyroscope_line *line)
{
	querier_list(c->w, "points");
	vec_each (point, &line->points) {
		querier_begin(c->w, 2, NULL);
		querier_real(c->w, 1, "value", point->value);
		querier_number(c->w, 2, "timestamp", point->time_ms);
		querier_end(c->w);
	}
	querier_list_end(c->w);
}

static void put_line(struct call *c, const struct pyroscope_line *line)
{
	querier_begin(c->w, 1, NULL);
	put_labels(c, NULL, line);
	put_points(c, line);
	querier_end(c->w);
}

static int select_series(struct call *c, struct error *err)
{
	struct pyroscope_series s = {0};
	int rc = 0;

	if (c->q->aggregation)
		return error_set(err, EOPNOTSUPP, "only sums are supported, no averages");
	rc = read_lines(c, &s, err);
	querier_list(c->w, "series");
	for (size_t i = 0; i < s.lines.count; i++)
		if (!c->q->limit || i < (uint64_t)c->q->limit)
			put_line(c, &s.lines.items[i]);
	querier_list_end(c->w);
	pyroscope_series_done(&s);
	return rc;
}

/* ---- call paths ---------------------------------------------------------- */

static int add_side(struct call *c, int side, struct flame_levels *f, struct error *err)
{
	struct symbolized_profile n;
	unsigned value;
	int rc;

	symbolized_profile_init(&n);
	rc = pyroscope_paths(&n, &value, c->v->store, c->v->load, &c->q->sides[side], err);
	if (!rc && n.rows.count)
		flame_levels_add(f, (unsigned)side, &n, value);
	symbolized_profile_done(&n);
	return rc;
}

static int64_t nodes_max(const struct querier_selection *s)
{
	return s->nodes_max ? s->nodes_max : NODES_MAX;
}

/* `sides`: 2 for a comparison. An empty graph is left out, as Pyroscope does. */
static int flame_graph(struct call *c, unsigned sides, struct error *err)
{
	struct flame_levels f;
	int rc;

	flame_levels_init(&f);
	rc = add_side(c, 0, &f, err);
	if (!rc && sides == 2)
		rc = add_side(c, 1, &f, err);
	if (!rc && f.nodes.count > 1) {
		querier_begin(c->w, 1, "flamegraph");
		flame_levels_write(&f, sides, nodes_max(&c->q->sides[0]), c->w);
		querier_end(c->w);
	}
	flame_levels_done(&f);
	return rc;
}

static int stacktraces(struct call *c, struct error *err)
{
	if (c->q->sides[0].format > QUERIER_FORMAT_FLAMEGRAPH)
		return error_set(err, EOPNOTSUPP,
		                 "only the format of flame graphs is supported; "
		                 "SelectMergeProfile returns pprof");
	return flame_graph(c, 1, err);
}

static int diff(struct call *c, struct error *err)
{
	return flame_graph(c, 2, err);
}

static int profile(struct call *c, struct error *err)
{
	struct symbolized_profile n;
	unsigned value;
	int rc;

	if (!c->plain)
		return error_set(err, EOPNOTSUPP, "a profile is returned as protobuf only");
	symbolized_profile_init(&n);
	rc = pyroscope_paths(&n, &value, c->v->store, c->v->load, &c->q->sides[0], err);
	if (!rc && n.value_count) {
		n.main_value = value;
		pprof_write_plain(&n, c->plain);
	}
	symbolized_profile_done(&n);
	return rc;
}

/* ---- calls --------------------------------------------------------------- */

static const struct {
	int code; /* errno */
	unsigned status;
	const char *name; /* of the Connect protocol */
} failures[] = {{EINVAL, 400, "invalid_argument"},
                {EOPNOTSUPP, 501, "unimplemented"},
                {ENOENT, 404, "unimplemented"},
                {E2BIG, 429, "resource_exhausted"},
                {EACCES, 403, "permission_denied"},
                {ENODATA, 404, "not_found"},
                {0, 503, "unavailable"}};

static unsigned fail(const struct error *err, struct buf *body, enum web_answer_type *type)
{
	struct json j;
	size_t i = 0;

	while (failures[i].code && failures[i].code != err->code)
		i++;
	buf_clear(body);
	json_init(&j, body);
	j.compact = true;
	json_object(&j);
	json_kstr(&j, "code", failures[i].name);
	json_kstr(&j, "message", err->text);
	json_end_object(&j);
	*type = WEB_ANSWER_JSON;
	return failures[i].status;
}

static int answer(const struct view_pyroscope *v, const struct querier_request *q, bool json,
                  struct buf *body, struct error *err)
{
	static int (*const calls[QUERIER_METHODS])(struct call * c, struct error * err) = {
	        [QUERIER_PROFILE_TYPES] = profile_types,
	        [QUERIER_LABEL_NAMES] = label_names,
	        [QUERIER_LABEL_VALUES] = label_values,
	        [QUERIER_SERIES] = series,
	        [QUERIER_SELECT_SERIES] = select_series,
	        [QUERIER_STACKTRACES] = stacktraces,
	        [QUERIER_PROFILE] = profile,
	        [QUERIER_DIFF] = diff};
	struct querier_writer w;
	struct call c = {.v = v, .q = q, .w = &w, .plain = json ? NULL : body};
	int rc;

	querier_write_init(&w, json, body);
	rc = calls[q->method](&c, err);
	querier_write_done(&w);
	return rc;
}

/* True for JSON; -EINVAL: neither encoding. */
static int encoding_of(const char *type, bool *json, struct error *err)
{
	size_t size = strcspn(type, "; ");

	*json = size == strlen("application/json") && !strncmp(type, "application/json", size);
	if (*json ||
	    (size == strlen("application/proto") && !strncmp(type, "application/proto", size)))
		return 0;
	return error_set(err, EINVAL,
	                 "the content type is neither application/proto nor application/json");
}

unsigned view_pyroscope_answer(const struct view_pyroscope *v, const struct web_ask *ask,
                               struct buf *body, enum web_answer_type *type)
{
	const char *name = ask->path + strlen(WEB_INTERFACE);
	struct querier_request q = {0};
	enum querier_method method;
	struct error err = {0};
	bool json = false;
	int rc = encoding_of(ask->type, &json, &err);

	if (!rc && !querier_method_find(name, &method))
		rc = error_set(&err, ENOENT, "this server has no method %.100s", name);
	if (!rc)
		rc = querier_request_read(&q, method, json, ask->body, ask->size, &err);
	if (!rc)
		rc = answer(v, &q, json, body, &err);
	querier_request_done(&q);
	*type = json ? WEB_ANSWER_JSON : WEB_ANSWER_PROTO;
	return rc ? fail(&err, body, type) : 200;
}
