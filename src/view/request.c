/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/request.h"

#include <errno.h>
#include <string.h>

#define LABEL_PREFIX "label:"

/* The first words are in the order of enum flat_key, for flat_key_name(); other words follow. */
static const struct {
	const char *name;
	enum flat_key key;
} key_names[] = {
        {"process", FLAT_PROCESS}, {"instance", FLAT_INSTANCE},   {"thread", FLAT_THREAD},
        {"cpu", FLAT_CPU},         {"image", FLAT_IMAGE},         {"function", FLAT_FUNCTION},
        {"line", FLAT_LINE},       {"address", FLAT_ADDRESS},     {"mode", FLAT_MODE},
        {"region", FLAT_REGION},   {"cgroup", FLAT_CGROUP},       {"group", FLAT_GROUP},
        {"service", FLAT_SERVICE}, {"container", FLAT_CONTAINER}, {"pod", FLAT_POD},
        {"comm", FLAT_PROCESS},    {"pid", FLAT_INSTANCE},        {"tid", FLAT_THREAD},
        {"dso", FLAT_IMAGE},       {"sym", FLAT_FUNCTION},        {"symbol", FLAT_FUNCTION},
        {"srcline", FLAT_LINE},
};

bool flat_key_parse(const char *name, enum flat_key *key)
{
	for (size_t i = 0; i < sizeof(key_names) / sizeof(*key_names); i++)
		if (!strcmp(name, key_names[i].name)) {
			*key = key_names[i].key;
			return true;
		}
	return false;
}

const char *flat_key_name(enum flat_key key)
{
	return flat_key_is_field(key)   ? "field"
	       : flat_key_is_label(key) ? "label"
	                                : key_names[key].name;
}

void request_keys_text(const struct report_request *q, struct buf *out)
{
	for (size_t i = 0; i < q->key_count; i++)
		buf_addf(out, "%s%s", i ? ", " : "",
		         flat_key_is_field(q->keys[i])   ? q->fields[q->keys[i] - FLAT_FIELD]
		         : flat_key_is_label(q->keys[i]) ? q->labels[q->keys[i] - FLAT_LABEL]
		                                         : flat_key_name(q->keys[i]));
}

unsigned flat_key_needs(enum flat_key key)
{
	static const unsigned needs[FLAT_KEYS] = {
	        [FLAT_PROCESS] = HAS_PROCESSES, [FLAT_INSTANCE] = HAS_PROCESSES,
	        [FLAT_THREAD] = HAS_THREADS,    [FLAT_CPU] = HAS_CPUS,
	        [FLAT_IMAGE] = HAS_IMAGES,      [FLAT_LINE] = HAS_LINES,
	        [FLAT_ADDRESS] = HAS_ADDRESSES, [FLAT_MODE] = HAS_MODES,
	        [FLAT_REGION] = HAS_REGIONS,    [FLAT_CGROUP] = HAS_CGROUPS,
	        [FLAT_SERVICE] = HAS_LABELS,    [FLAT_CONTAINER] = HAS_LABELS,
	        [FLAT_POD] = HAS_LABELS};

	return flat_key_is_label(key) ? HAS_LABELS : needs[key];
}

const char *request_label_of(const char *word)
{
	return strncmp(word, LABEL_PREFIX, strlen(LABEL_PREFIX)) != 0 ? NULL
	                                                              : word + strlen(LABEL_PREFIX);
}

bool request_label_key(struct report_request *q, const char *name, enum flat_key *key)
{
	size_t i = 0;

	while (i < q->label_count && strcmp(q->labels[i], name) != 0)
		i++;
	if (i == LABEL_KEYS_MAX)
		return false;
	if (i == q->label_count)
		q->labels[q->label_count++] = name;
	*key = FLAT_LABEL + (enum flat_key)i;
	return true;
}

bool request_by_labels(const struct report_request *q)
{
	bool by = q->filter.label.count || q->filter.cgroup.count;

	for (size_t i = 0; i < q->key_count; i++)
		by |= (flat_key_needs(q->keys[i]) & (HAS_LABELS | HAS_CGROUPS)) != 0;
	return by;
}

double request_limit(const struct report_request *q, const struct document_reader *reader)
{
	return q->limit >= 0 ? q->limit : reader->program ? 0 : DOCUMENT_LIMIT;
}

const char *request_tree_title(const struct report_request *q)
{
	return q->inverted ? "Call tree, callees above callers"
	                   : "Call tree, callers above callees";
}

const char *request_tree_key(const struct report_request *q)
{
	return q->inverted ? "inverted_tree" : "tree";
}

bool request_of_paths(const struct report_request *q)
{
	return q->tree || q->callers || q->callees;
}

bool request_has_key(const struct report_request *q, enum flat_key key)
{
	for (size_t i = 0; i < q->key_count; i++)
		if (q->keys[i] == key)
			return true;
	return false;
}

static bool names_key(const struct filter *f, enum flat_key key)
{
	switch (key) {
	case FLAT_PROCESS:
	case FLAT_INSTANCE:
		return f->comm.count || f->pid.count;
	case FLAT_THREAD:
		return f->comm.count || f->tid.count;
	case FLAT_CPU:
		return f->cpu.count;
	case FLAT_CGROUP:
		return f->cgroup.count;
	case FLAT_SERVICE:
	case FLAT_CONTAINER:
	case FLAT_POD:
		return f->label.count;
	case FLAT_IMAGE:
		return f->image.count;
	case FLAT_FUNCTION:
		return f->function.count;
	default:
		return false;
	}
}

bool request_names_rows(const struct report_request *q, const enum flat_key *keys, size_t count)
{
	static const enum flat_key code[] = {FLAT_ADDRESS, FLAT_LINE, FLAT_FUNCTION, FLAT_IMAGE};
	bool named = false;

	/* The most specific place in the code decides; without one, any key does. */
	for (size_t c = 0; c < sizeof(code) / sizeof(*code); c++)
		for (size_t i = 0; i < count; i++)
			if (keys[i] == code[c])
				return names_key(&q->filter, keys[i]);
	for (size_t i = 0; i < count; i++)
		named |= names_key(&q->filter, keys[i]);
	return named;
}

column_names request_order(const struct report_request *q, const char *const *own, size_t count)
{
	column_names by = {0};

	for (size_t i = 0; i < q->by_count; i++)
		vec_push(&by, q->by[i]);
	for (size_t i = 0; i < count; i++)
		vec_push(&by, own[i]);
	return by;
}

bool request_is_by(const struct report_request *q, const char *column)
{
	for (size_t i = 0; i < q->by_count; i++)
		if (!strcmp(q->by[i], column))
			return true;
	return false;
}

/* The columns of the tables of a document, each name once. */
static void list_columns(const struct document *d, column_names *names)
{
	struct document part;

	vec_each (section, &d->sections) {
		const struct row_source *s = section->rows   ? section->rows->source
		                             : section->tree ? section->tree->source
		                                             : NULL;

		for (size_t i = 0; s && i < s->columns.count; i++) {
			bool known = !column_sorted_by(s, s->columns.items[i].name);

			vec_each (name, names)
				known |= !strcmp(*name, s->columns.items[i].name);
			if (!known)
				vec_push(names, s->columns.items[i].name);
		}
		for (size_t i = 0; section->next && !names->count; i++) {
			bool there;

			document_init(&part);
			there = section->next(section->ctx, i, &part);
			if (there)
				list_columns(&part, names);
			document_done(&part);
			if (!there)
				break;
		}
	}
}

int request_check_order(const struct report_request *q, const struct document *d, struct error *err)
{
	column_names names = {0};
	struct buf text = {0};
	int ret = 0;

	if (q->by_count)
		list_columns(d, &names);
	vec_each (name, &names)
		buf_addf(&text, "%s%s", text.size ? ", " : "", *name);
	for (size_t i = 0; i < q->by_count && names.count && !ret; i++) {
		bool known = false;

		vec_each (name, &names)
			known |= !strcmp(*name, q->by[i]);
		if (!known)
			ret = error_set(err, EINVAL,
			                "no table of this report has a column '%s' to sort by; the "
			                "columns are %s",
			                q->by[i], buf_text(&text));
	}
	vec_done(&names);
	buf_done(&text);
	return ret;
}
