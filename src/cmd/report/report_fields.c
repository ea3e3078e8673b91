/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_fields.h"

#include "base/text/spelling.h"

#include <errno.h>
#include <string.h>

const char *report_field_of(const char *word)
{
	size_t head = strlen(SAMPLE_FIELD_PREFIX);

	return strncmp(word, SAMPLE_FIELD_PREFIX, head) != 0 ? NULL : word + head;
}

/* The name of the field that a word may be; NULL: it is a key. */
static const char *possible_field(const char *word)
{
	const char *field = report_field_of(word);
	enum flat_key key;

	if (request_label_of(word))
		return NULL;
	return field ? field : flat_key_parse(word, &key) ? NULL : word;
}

static bool is_wanted(const struct load_options *load, const char *name)
{
	for (size_t i = 0; i < load->field_count; i++)
		if (!strcmp(load->fields[i], name))
			return true;
	return false;
}

int report_fields_want(struct load_options *load, const struct report_options *o, struct error *err)
{
	bool named = false;

	for (size_t i = 0; i < o->sort.count; i++) {
		const char *name = possible_field(o->sort.items[i]);

		named |= report_field_of(o->sort.items[i]) != NULL;
		if (!name || is_wanted(load, name))
			continue;
		if (load->field_count < SAMPLE_FIELDS_MAX)
			load->fields[load->field_count++] = name;
		else if (named)
			return error_set(err, EINVAL, "--sort takes %d fields at most",
			                 SAMPLE_FIELDS_MAX);
	}
	if (named && load->store)
		return error_set(err, EINVAL,
		                 "--sort field:NAME: a store has sums of samples, without their "
		                 "fields: give a recording ('assay record -e SYSTEM:NAME')");
	return 0;
}

/* The tracepoint of an event; NULL: it is none, or its samples have no fields. */
static const struct tracepoint *tracepoint_of(const struct profile *p, size_t event)
{
	const char *name = p->events.items[event].name, *colon = strchr(name, ':');
	size_t system = colon ? (size_t)(colon - name) : 0;

	vec_each (recording, &p->recordings)
		vec_each (t, &(*recording)->tracepoints)
			if (colon && strlen(t->system) == system &&
			    !memcmp(t->system, name, system) && !strcmp(t->name, colon + 1))
				return t;
	return NULL;
}

/* Whether it has a field that is wanted: each one with "field:", and one of the others. */
static bool fits(const struct tracepoint *t, const struct report_options *o)
{
	bool any = false;

	for (size_t i = 0; t && i < o->sort.count; i++) {
		const char *name = possible_field(o->sort.items[i]);
		bool has = name && tracepoint_field_find(t, name);

		if (report_field_of(o->sort.items[i]) && !has)
			return false;
		any |= has;
	}
	return any;
}

/* The event of the request, else the main event if it fits, else the first that fits. */
static int choose_event(const struct profile *p, const struct report_request *q,
                        const struct report_options *o, uint8_t *event, struct error *err)
{
	int ret = profile_find_event(p, q->event, event, err);

	if (ret || q->event || fits(tracepoint_of(p, *event), o))
		return ret;
	for (size_t i = 0; i < p->events.count; i++)
		if (p->events.items[i].samples && fits(tracepoint_of(p, i), o)) {
			*event = (uint8_t)i;
			return 0;
		}
	for (size_t i = 0; i < p->events.count && !tracepoint_of(p, *event); i++)
		if (tracepoint_of(p, i))
			*event = (uint8_t)i; /* its fields are in the message */
	return 0;
}

static int no_tracepoint(const struct profile *p, uint8_t event, const char *word,
                         struct error *err)
{
	struct buf text = {0};

	for (size_t i = 0; i < p->events.count; i++)
		if (tracepoint_of(p, i))
			buf_addf(&text, "%s%s", text.size ? ", " : "", p->events.items[i].name);
	if (text.size)
		error_set(
		        err, EINVAL,
		        "--sort %s: %s is no tracepoint, so it has no fields; --event chooses one: "
		        "%s",
		        word, p->events.items[event].name, buf_text(&text));
	else
		error_set(err, EINVAL,
		          "--sort %s: the recording has no fields of tracepoints: record it with "
		          "'assay record -e SYSTEM:NAME'",
		          word);
	buf_done(&text);
	return -EINVAL;
}

static int no_field(const struct tracepoint *t, const char *word, struct error *err)
{
	VEC(const char *) names = {0};
	struct buf text = {0};
	const char *nearest;

	vec_each (field, &t->fields) {
		vec_push(&names, field->name);
		if (!field->common)
			buf_addf(&text, "%s%s", text.size ? ", " : "", field->name);
	}
	nearest = spelling_nearest(report_field_of(word), names.items, names.count);
	error_set(err, EINVAL, "--sort %s: %s:%s has no such field%s%s%s; its fields are %s", word,
	          t->system, t->name, nearest ? ", did you mean '" : "", nearest ? nearest : "",
	          nearest ? "'?" : "", buf_text(&text));
	buf_done(&text);
	vec_done(&names);
	return -EINVAL;
}

static void add_key(struct report_request *q, enum flat_key key)
{
	if (!request_has_key(q, key))
		q->keys[q->key_count++] = key;
}

/* Makes the keys again: the words that are fields of `t` are among them. */
static int set_keys(struct report_request *q, const struct report_options *o,
                    const struct profile *p, const struct tracepoint *t, struct error *err)
{
	const char *unknown = NULL;
	enum flat_key key;

	q->key_count = 0;
	for (size_t i = 0; i < o->sort.count; i++) {
		const char *word = o->sort.items[i], *name = possible_field(word);
		size_t field = name ? sample_fields_find(&p->fields, name) : SIZE_MAX;

		if (request_label_of(word)) {
			if (request_label_key(q, request_label_of(word), &key))
				add_key(q, key);
		} else if (flat_key_parse(word, &key)) {
			add_key(q, key);
		} else if (field != SIZE_MAX && tracepoint_field_find(t, name)) {
			q->fields[field] = p->fields.labels.items[field];
			add_key(q, FLAT_FIELD + (enum flat_key)field);
		} else if (report_field_of(word)) {
			return no_field(t, word, err);
		} else {
			unknown = word;
		}
	}
	return unknown ? report_options_unknown(unknown, err) : 0;
}

int report_fields_resolve(struct report_request *q, const struct report_options *o,
                          const struct profile *p, struct error *err)
{
	const struct tracepoint *t;
	const char *named = NULL;
	uint8_t event;
	int ret;

	for (size_t i = 0; i < o->sort.count && !named; i++)
		named = report_field_of(o->sort.items[i]) ? o->sort.items[i] : NULL;
	if (!p->fields.labels.count)
		return 0;
	ret = choose_event(p, q, o, &event, err);
	if (ret)
		return ret;
	t = tracepoint_of(p, event);
	if (!t && named)
		return no_tracepoint(p, event, named, err);
	if (!named && !fits(t, o))
		return q->unknown ? report_options_unknown(q->unknown, err) : 0;
	if (q->by_sort) {
		q->by = NULL;
		q->by_count = 0;
		q->by_sort = false;
	}
	ret = set_keys(q, o, p, t, err);
	if (!ret && request_has_key(q, FLAT_REGION))
		return error_set(err, EINVAL, "--sort: one table has regions or fields, not both");
	q->event = p->events.items[event].name;
	return ret;
}
