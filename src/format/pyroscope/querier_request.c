/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pyroscope/querier_request.h"

#include "base/memory/xalloc.h"
#include "base/read/json_read.h"
#include "format/pprof/pprof_wire.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum field_kind {
	FIELD_END, /* also the kind of unknown fields */
	FIELD_TEXT,
	FIELD_TEXTS,
	FIELD_NUMBER,
	FIELD_REAL,
	FIELD_ENUM,     /* a number, or in JSON perhaps a name: then 0 */
	FIELD_SELECTOR, /* its presence is noted */
	FIELD_LEFT,     /* a message with the fields of a selection */
	FIELD_RIGHT,
};

/* A field of a message: its number in protobuf, its name in JSON, and its place. */
struct field {
	unsigned number;
	const char *name;
	enum field_kind kind;
	size_t offset;
};

#define AT(member) offsetof(struct querier_request, member)
#define SELECTION_FIRST                                                                            \
	{1, "profileTypeID", FIELD_TEXT, AT(sides[0].type)},                                       \
	        {2, "labelSelector", FIELD_TEXT, AT(sides[0].selector)},                           \
	        {3, "start", FIELD_NUMBER, AT(sides[0].start_ms)},                                 \
	{                                                                                          \
		4, "end", FIELD_NUMBER, AT(sides[0].end_ms)                                        \
	}

static const struct field times_fields[] = {{1, "start", FIELD_NUMBER, AT(sides[0].start_ms)},
                                            {2, "end", FIELD_NUMBER, AT(sides[0].end_ms)},
                                            {.kind = FIELD_END}};

static const struct field label_names_fields[] = {{1, "matchers", FIELD_TEXTS, AT(matchers)},
                                                  {2, "start", FIELD_NUMBER, AT(sides[0].start_ms)},
                                                  {3, "end", FIELD_NUMBER, AT(sides[0].end_ms)},
                                                  {.kind = FIELD_END}};

static const struct field label_values_fields[] = {
        {1, "name", FIELD_TEXT, AT(name)},
        {2, "matchers", FIELD_TEXTS, AT(matchers)},
        {3, "start", FIELD_NUMBER, AT(sides[0].start_ms)},
        {4, "end", FIELD_NUMBER, AT(sides[0].end_ms)},
        {.kind = FIELD_END}};

static const struct field series_fields[] = {{1, "matchers", FIELD_TEXTS, AT(matchers)},
                                             {2, "labelNames", FIELD_TEXTS, AT(labels)},
                                             {3, "start", FIELD_NUMBER, AT(sides[0].start_ms)},
                                             {4, "end", FIELD_NUMBER, AT(sides[0].end_ms)},
                                             {.kind = FIELD_END}};

static const struct field select_series_fields[] = {
        SELECTION_FIRST,
        {5, "groupBy", FIELD_TEXTS, AT(labels)},
        {6, "step", FIELD_REAL, AT(step_s)},
        {7, "aggregation", FIELD_ENUM, AT(aggregation)},
        {8, "stackTraceSelector", FIELD_SELECTOR, AT(sides[0].other_selector)},
        {9, "limit", FIELD_NUMBER, AT(limit)},
        {.kind = FIELD_END}};

static const struct field stacktraces_fields[] = {
        SELECTION_FIRST,
        {5, "maxNodes", FIELD_NUMBER, AT(sides[0].nodes_max)},
        {6, "format", FIELD_ENUM, AT(sides[0].format)},
        {7, "stackTraceSelector", FIELD_SELECTOR, AT(sides[0].other_selector)},
        {8, "profileIdSelector", FIELD_SELECTOR, AT(sides[0].other_selector)},
        {10, "traceIdSelector", FIELD_SELECTOR, AT(sides[0].other_selector)},
        {11, "spanSelector", FIELD_SELECTOR, AT(sides[0].other_selector)},
        {.kind = FIELD_END}};

static const struct field profile_fields[] = {
        SELECTION_FIRST,
        {5, "maxNodes", FIELD_NUMBER, AT(sides[0].nodes_max)},
        {6, "stackTraceSelector", FIELD_SELECTOR, AT(sides[0].other_selector)},
        {7, "profileIdSelector", FIELD_SELECTOR, AT(sides[0].other_selector)},
        {8, "traceIdSelector", FIELD_SELECTOR, AT(sides[0].other_selector)},
        {.kind = FIELD_END}};

static const struct field diff_fields[] = {
        {1, "left", FIELD_LEFT, 0}, {2, "right", FIELD_RIGHT, 0}, {.kind = FIELD_END}};

static const struct {
	const char *name;
	const struct field *fields;
} methods[QUERIER_METHODS] = {
        [QUERIER_PROFILE_TYPES] = {"ProfileTypes", times_fields},
        [QUERIER_LABEL_NAMES] = {"LabelNames", label_names_fields},
        [QUERIER_LABEL_VALUES] = {"LabelValues", label_values_fields},
        [QUERIER_SERIES] = {"Series", series_fields},
        [QUERIER_SELECT_SERIES] = {"SelectSeries", select_series_fields},
        [QUERIER_STACKTRACES] = {"SelectMergeStacktraces", stacktraces_fields},
        [QUERIER_PROFILE] = {"SelectMergeProfile", profile_fields},
        [QUERIER_DIFF] = {"Diff", diff_fields},
};

bool querier_method_find(const char *name, enum querier_method *method)
{
	for (unsigned i = 0; i < QUERIER_METHODS; i++) {
		if (strcmp(methods[i].name, name) != 0)
			continue;
		*method = (enum querier_method)i;
		return true;
	}
	return false;
}

/* ---- values -------------------------------------------------------------- */

struct filling {
	struct querier_request *r;
	size_t shift; /* from a field of the first side to the same one of the current side */
	struct error *err;
};

static int damaged(const struct filling *f, const char *what)
{
	return error_set(f->err, EINVAL, "the request is damaged: %s", what);
}

static void *place_of(const struct filling *f, const struct field *field)
{
	return (char *)f->r + f->shift + field->offset;
}

static int set_text(const struct filling *f, const struct field *field, const char *text,
                    size_t size)
{
	querier_texts *texts;
	char *copy, **one;

	if (size > QUERIER_TEXT_MAX || (size && memchr(text, '\0', size)))
		return damaged(f, "a text is longer than 8 KB, or contains a NUL");
	copy = xstrndup(size ? text : "", size);
	if (field->kind == FIELD_TEXT) {
		one = place_of(f, field);
		free(*one);
		*one = copy;
		return 0;
	}
	texts = place_of(f, field);
	if (texts->count < QUERIER_TEXTS_MAX) {
		vec_push(texts, copy);
		return 0;
	}
	free(copy);
	return damaged(f, "a list has more than 64 texts");
}

static void set_number(const struct filling *f, const struct field *field, int64_t v)
{
	if (field->kind == FIELD_SELECTOR)
		*(bool *)place_of(f, field) = true;
	else
		*(int64_t *)place_of(f, field) = v;
}

/* ---- protobuf ------------------------------------------------------------ */

static int read_message(struct filling *f, const struct field *fields, struct pprof_cursor c);

static size_t side_shift(enum field_kind kind)
{
	return kind == FIELD_RIGHT ? AT(sides[1]) - AT(sides[0]) : 0;
}

static double real_of(const uint8_t *at)
{
	uint64_t bits = 0;
	double v;

	for (int i = 7; i >= 0; i--)
		bits = bits << 8 | at[i];
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static int read_field(struct filling *f, const struct field *field, const struct pprof_field *v,
                      const uint8_t *end)
{
	struct filling side = {f->r, side_shift(field->kind), f->err};

	switch (field->kind) {
	case FIELD_TEXT:
	case FIELD_TEXTS:
		return v->bytes ? set_text(f, field, (const char *)v->bytes, v->value)
		                : damaged(f, "a text has the type of a number");
	case FIELD_NUMBER:
	case FIELD_ENUM:
		if (v->wire != WIRE_NUMBER)
			return damaged(f, "a number has another type");
		set_number(f, field, (int64_t)v->value);
		return 0;
	case FIELD_REAL:
		if (v->wire != WIRE_64)
			return damaged(f, "a number has another type");
		*(double *)place_of(f, field) = real_of(end - 8);
		return 0;
	case FIELD_SELECTOR:
		set_number(f, field, 0);
		return 0;
	default:
		return v->bytes ? read_message(&side, stacktraces_fields, pprof_inside(v))
		                : damaged(f, "a message has the type of a number");
	}
}

static int read_message(struct filling *f, const struct field *fields, struct pprof_cursor c)
{
	struct pprof_field v;
	int got, status;

	while ((got = pprof_next(&c, &v)) == 1) {
		const struct field *field = fields;

		while (field->kind && field->number != v.number)
			field++;
		status = field->kind ? read_field(f, field, &v, c.at) : 0;
		if (status)
			return status;
	}
	return got ? damaged(f, "it is not a protobuf message") : 0;
}

/* ---- JSON ---------------------------------------------------------------- */

/* Names are also accepted as they are in the .proto: label_selector for labelSelector. */
static bool is_name(const char *name, const char *key)
{
	for (; *name && *key; name++, key++) {
		if (*key == '_')
			key++;
		if ((*name | 0x20) != (*key | 0x20))
			return false;
	}
	return !*name && !*key;
}

static int take_text(const struct filling *f, struct json_reader *j, const struct field *field)
{
	struct buf text = {0};
	int status = 0;

	if (json_read_text(j, &text))
		status = set_text(f, field, buf_text(&text), text.size);
	buf_done(&text);
	return status;
}

static int take_texts(const struct filling *f, struct json_reader *j, const struct field *field)
{
	int status = 0;

	if (!json_enter(j, '['))
		return 0;
	while (!status && json_item(j))
		status = take_text(f, j, field);
	return status;
}

/* Numbers of 64 bits are texts in this form of JSON. */
static int take_number(const struct filling *f, struct json_reader *j, const struct field *field)
{
	struct buf text = {0};
	const char *number = "";
	char *end = NULL;
	size_t size = 0;
	double real;

	if (json_next_kind(j) == '"')
		json_read_text(j, &text);
	else if (json_read_number(j, &number, &size))
		buf_add(&text, number, size);
	real = strtod(buf_text(&text), &end);
	if (field->kind == FIELD_ENUM && *end) {
		real = 0;
		end = "";
	}
	if (j->why || !text.size || *end || !(fabs(real) < 9e18)) {
		buf_done(&text);
		return j->why ? 0 : damaged(f, "a number is not in range");
	}
	if (field->kind == FIELD_REAL)
		*(double *)place_of(f, field) = real;
	else
		set_number(f, field, (int64_t)real);
	buf_done(&text);
	return 0;
}

/* An empty list selects nothing. */
static void note_selector(const struct filling *f, struct json_reader *j, const struct field *field)
{
	if (json_next_kind(j) != '[') {
		set_number(f, field, 0);
		json_skip(j);
		return;
	}
	if (!json_enter(j, '['))
		return;
	while (json_item(j)) {
		set_number(f, field, 0);
		json_skip(j);
	}
}

static int take_object(struct filling *f, struct json_reader *j, const struct field *fields);

static int take_value(struct filling *f, struct json_reader *j, const struct field *field)
{
	struct filling side = {f->r, side_shift(field->kind), f->err};

	if (json_next_kind(j) == 'n') { /* null: not given */
		json_skip(j);
		return 0;
	}
	switch (field->kind) {
	case FIELD_TEXT:
		return take_text(f, j, field);
	case FIELD_TEXTS:
		return take_texts(f, j, field);
	case FIELD_NUMBER:
	case FIELD_REAL:
	case FIELD_ENUM:
		return take_number(f, j, field);
	case FIELD_LEFT:
	case FIELD_RIGHT:
		return take_object(&side, j, stacktraces_fields);
	default:
		note_selector(f, j, field);
		return 0;
	}
}

static int take_object(struct filling *f, struct json_reader *j, const struct field *fields)
{
	struct buf key = {0};
	int status = 0;

	if (!json_enter(j, '{'))
		return 0;
	while (!status && json_member(j, &key)) {
		const struct field *field = fields;

		while (field->kind && !is_name(field->name, buf_text(&key)))
			field++;
		if (field->kind)
			status = take_value(f, j, field);
		else
			json_skip(j);
	}
	buf_done(&key);
	return status;
}

static int read_json(struct filling *f, const struct field *fields, const void *bytes, size_t size)
{
	struct json_reader j;
	int status;

	json_reader_init(&j, bytes, size);
	status = take_object(f, &j, fields);
	if (!status && j.why)
		status = error_set(f->err, EINVAL, "the request is no valid JSON: %s at byte %zu",
		                   j.why, (size_t)(j.at - j.begin));
	if (!status && json_next_kind(&j) != JSON_END)
		status = damaged(f, "more follows after its JSON object");
	return status;
}

/* ---- the request --------------------------------------------------------- */

static int check(const struct querier_request *r, struct error *err)
{
	for (int i = 0; i < 2; i++) {
		const struct querier_selection *s = &r->sides[i];

		if (s->start_ms < 0 || s->end_ms < 0 || s->start_ms > INT64_MAX / 1000000 ||
		    s->end_ms > INT64_MAX / 1000000)
			return error_set(err, EINVAL, "start and end are ms since 1970");
		if (s->end_ms && s->end_ms < s->start_ms)
			return error_set(err, EINVAL, "the end is before the start");
		if (s->nodes_max < 0)
			return error_set(err, EINVAL, "maxNodes is negative");
	}
	if (r->limit < 0)
		return error_set(err, EINVAL, "limit is negative");
	if (!(r->step_s >= 0 && r->step_s < 1e9))
		return error_set(err, EINVAL, "step is a number of seconds");
	return 0;
}

int querier_request_read(struct querier_request *r, enum querier_method method, bool json,
                         const void *bytes, size_t size, struct error *err)
{
	struct filling f = {.r = r, .err = err};
	struct pprof_cursor c = {bytes, (const uint8_t *)bytes + size};
	int status;

	*r = (struct querier_request){.method = method};
	status = json && size ? read_json(&f, methods[method].fields, bytes, size)
	         : size       ? read_message(&f, methods[method].fields, c)
	                      : 0;
	return status ? status : check(r, err);
}

static void texts_done(querier_texts *texts)
{
	vec_each (text, texts)
		free(*text);
	vec_done(texts);
}

void querier_request_done(struct querier_request *r)
{
	for (int i = 0; i < 2; i++) {
		free(r->sides[i].type);
		free(r->sides[i].selector);
	}
	free(r->name);
	texts_done(&r->matchers);
	texts_done(&r->labels);
}
