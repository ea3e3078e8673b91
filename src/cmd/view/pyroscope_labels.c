/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view/pyroscope_labels.h"

#include "base/memory/xalloc.h"
#include "base/text/labels.h"
#include "format/pyroscope/label_name.h"
#include "view/fleet/fleet_document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char no_service[] = FLEET_NO_SERVICE;

void pyroscope_labels_init(struct pyroscope_labels *l)
{
	*l = (struct pyroscope_labels){0};
	intern_init(&l->names);
	intern_init(&l->texts);
	vec_push(&l->keys, 0);
}

void pyroscope_labels_done(struct pyroscope_labels *l)
{
	vec_each (item, &l->selectors)
		label_selector_done(item);
	vec_done(&l->selectors);
	vec_done(&l->keys);
	intern_done(&l->names);
	intern_done(&l->texts);
}

const char *pyroscope_service_text(const char *service)
{
	return *service ? service : no_service;
}

bool pyroscope_label_is_own(const char *name)
{
	static const char *const own[] = {PYROSCOPE_HOST, PYROSCOPE_SERVICE, PYROSCOPE_VERSION,
	                                  PYROSCOPE_TYPE_LABEL};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(own[i], name))
			return true;
	return false;
}

/* ---- requests ------------------------------------------------------------- */

static bool lists(const struct querier_request *q, const char *name)
{
	vec_each (label, &q->labels)
		if (!strcmp(*label, name))
			return true;
	return false;
}

bool pyroscope_wants(const struct querier_request *q, const char *name)
{
	switch (q->method) {
	case QUERIER_LABEL_NAMES:
		return !pyroscope_label_is_own(name);
	case QUERIER_LABEL_VALUES:
		return q->name && !strcmp(q->name, name);
	case QUERIER_SERIES:
		return !q->labels.count || lists(q, name);
	default:
		return lists(q, name);
	}
}

bool pyroscope_wants_process(const struct querier_request *q)
{
	if (q->method == QUERIER_LABEL_NAMES || (q->method == QUERIER_SERIES && !q->labels.count))
		return true;
	if (q->method == QUERIER_LABEL_VALUES)
		return q->name && !pyroscope_label_is_own(q->name);
	vec_each (label, &q->labels)
		if (!pyroscope_label_is_own(*label))
			return true;
	return false;
}

int pyroscope_labels_add(struct pyroscope_labels *l, const char *selector, struct error *err)
{
	struct label_selector *item = vec_add(&l->selectors);
	int rc;

	*item = (struct label_selector){0};
	rc = label_selector_parse(item, selector ? selector : "", err);
	vec_each (c, &item->conditions)
		l->by_process |= !pyroscope_label_is_own(c->name);
	return rc;
}

/* ---- labels of processes --------------------------------------------------- */

/* The name of a key; the first other key with this name is noted. */
static uint32_t add_name(struct pyroscope_labels *l, const char *key)
{
	char *name = xstrdup(key);
	uint32_t text = intern_add(&l->texts, key), id;

	label_name_make(name);
	id = intern_add(&l->names, name);
	free(name);
	if (id == l->keys.count)
		vec_push(&l->keys, text);
	if (l->keys.items[id] != text && !l->twice[0])
		memcpy(l->twice, (uint32_t[]){id, l->keys.items[id], text}, sizeof(l->twice));
	return id;
}

/* The value of a process; "": it has none. */
static const char *value_of(struct pyroscope_labels *l, const struct labels *labels,
                            const char *name)
{
	const char *value = "";

	vec_each (label, &labels->items) {
		if (!label_name_is(label->key, name))
			continue;
		add_name(l, label->key);
		value = label->value;
	}
	return value;
}

static bool process_holds(struct pyroscope_labels *l, const struct label_selector *s,
                          const struct labels *labels)
{
	bool holds = true;

	vec_each (c, &s->conditions)
		if (!pyroscope_label_is_own(c->name))
			holds &= label_selector_has(s, c->name, value_of(l, labels, c->name));
	return holds;
}

static bool holds(struct pyroscope_labels *l, const struct label_selector *s,
                  const struct pyroscope_values *v, const struct labels *labels)
{
	return (!v->host || label_selector_has(s, PYROSCOPE_HOST, v->host)) &&
	       (!v->service || label_selector_has(s, PYROSCOPE_SERVICE, v->service)) &&
	       (!v->version || label_selector_has(s, PYROSCOPE_VERSION, v->version)) &&
	       (!v->lines || process_holds(l, s, labels));
}

bool pyroscope_labels_hold(struct pyroscope_labels *l, const struct pyroscope_values *v)
{
	struct labels labels = {0};
	bool any = false;

	if (l->by_process)
		labels_add_text(&labels, v->lines);
	vec_each (item, &l->selectors)
		any = any || holds(l, item, v, &labels);
	labels_done(&labels);
	return any;
}

static bool has_condition(const struct pyroscope_labels *l, const char *name)
{
	vec_each (item, &l->selectors)
		vec_each (c, &item->conditions)
			if (!strcmp(c->name, name))
				return true;
	return false;
}

void pyroscope_labels_reduce(const struct pyroscope_labels *l, const char *lines,
                             const struct querier_request *q, struct buf *out)
{
	struct labels labels = {0};

	labels_add_text(&labels, lines);
	vec_each (label, &labels.items) {
		char *name = xstrdup(label->key);
		bool used;

		label_name_make(name);
		used = pyroscope_wants(q, name) ||
		       (l->selectors.count > 1 && has_condition(l, name));
		if (used && !pyroscope_label_is_own(name))
			buf_addf(out, "%s=%s\n", label->key, label->value);
		free(name);
	}
	labels_done(&labels);
}

void pyroscope_labels_read(struct pyroscope_labels *l, const char *lines,
                           const struct querier_request *q, pyroscope_label_list *out)
{
	struct labels labels = {0};

	labels_add_text(&labels, lines);
	vec_each (label, &labels.items) {
		char *name = xstrdup(label->key);

		label_name_make(name);
		if (!pyroscope_label_is_own(name) && pyroscope_wants(q, name)) {
			const char *text = intern_text(&l->names, add_name(l, label->key));
			uint32_t value = intern_add(&l->texts, label->value);

			vec_push(out,
			         (struct pyroscope_label){text, intern_text(&l->texts, value)});
		}
		free(name);
	}
	labels_done(&labels);
}

int pyroscope_labels_check(const struct pyroscope_labels *l, struct error *err)
{
	if (!l->twice[0])
		return 0;
	return error_set(err, EINVAL,
	                 "two labels of the selected processes have the name %s here: '%s' and "
	                 "'%s'; select processes that have only one of them, for example by host "
	                 "or service_name",
	                 intern_text(&l->names, l->twice[0]), intern_text(&l->texts, l->twice[1]),
	                 intern_text(&l->texts, l->twice[2]));
}

/* ---- the choice ------------------------------------------------------------ */

static bool has_host(void *ctx, const char *name)
{
	return pyroscope_labels_hold(ctx, &(struct pyroscope_values){.host = name});
}

static bool has_service(void *ctx, const char *name)
{
	return pyroscope_labels_hold(
	        ctx, &(struct pyroscope_values){.service = pyroscope_service_text(name)});
}

static bool has_version(void *ctx, const char *name)
{
	return pyroscope_labels_hold(ctx, &(struct pyroscope_values){.version = name});
}

static bool has_labels(void *ctx, const char *lines)
{
	return pyroscope_labels_hold(ctx, &(struct pyroscope_values){.lines = lines});
}

/* Without a condition on labels of processes, sums can be used that do not have them. */
struct store_choice pyroscope_labels_choice(struct pyroscope_labels *l)
{
	return (struct store_choice){.host = has_host,
	                             .service = has_service,
	                             .version = has_version,
	                             .labels = l->by_process ? has_labels : NULL,
	                             .ctx = l};
}
