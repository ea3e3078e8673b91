/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/symbolized/symbolized_report_json.h"

#include "base/text/json.h"
#include "output/text/tree_json.h"

#include <stdio.h>
#include <string.h>

static void known_number(struct json *j, const char *key, int64_t value, bool known)
{
	json_key(j, key);
	if (known)
		json_i64(j, value);
	else
		json_null(j);
}

static void values(struct json *j, const struct symbolized_report *r)
{
	json_kstr(j, "event", symbolized_report_value(r)->name);
	json_key(j, "values");
	json_array(j);
	for (unsigned i = 0; i < r->n->value_count; i++) {
		json_object(j);
		json_kstr(j, "name", r->n->values[i].name);
		json_kstr(j, "unit", r->n->values[i].unit);
		json_ki64(j, "total", r->totals[i]);
		json_end_object(j);
	}
	json_end_array(j);
}

static void period(struct json *j, const struct symbolized_profile *n)
{
	json_key(j, "period");
	if (n->period <= 0) {
		json_null(j);
		return;
	}
	json_object(j);
	json_ki64(j, "value", n->period);
	json_kstr_or_null(j, "name", n->period_of.name);
	json_kstr_or_null(j, "unit", n->period_of.unit);
	json_end_object(j);
}

static void images(struct json *j, const struct symbolized_profile *n)
{
	char hex[2 * BUILD_ID_MAX + 1];

	json_key(j, "images");
	json_array(j);
	vec_each (image, &n->images) {
		build_id_text(&image->build_id, hex);
		json_object(j);
		json_kstr(j, "image", intern_text(&n->texts, image->name));
		json_kstr_or_null(j, "build_id",
		                  image->build_text ? intern_text(&n->texts, image->build_text)
		                                    : hex);
		json_end_object(j);
	}
	json_end_array(j);
}

static void heading(struct json *j, const struct symbolized_report *r, const char *path)
{
	const struct symbolized_profile *n = r->n;

	json_kstr(j, "file", path);
	known_number(j, "time_ns", n->time_ns, n->time_ns != 0);
	known_number(j, "duration_ns", n->duration_ns, n->duration_ns > 0);
	values(j, r);
	period(j, n);
	images(j, n);
	json_key(j, "comments");
	json_array(j);
	vec_each (comment, &n->comments)
		json_str(j, intern_text(&n->texts, *comment));
	json_end_array(j);
	json_kstr_or_null(j, "drop_frames", intern_text(&n->texts, n->drop));
	json_kstr_or_null(j, "keep_frames", intern_text(&n->texts, n->keep));
}

static void books(struct json *j, const struct symbolized_report *r)
{
	const struct named_books *b = &r->books;

	json_key(j, "books");
	json_object(j);
	json_ki64(j, "total", b->all);
	json_ki64(j, "selected", b->selected);
	json_ki64(j, "functions", b->rows);
	json_ku64(j, "below_paths", b->below_rows);
	json_ki64(j, "below", b->below);
	known_number(j, "samples", b->samples, b->timed);
	known_number(j, "samples_times_period", b->expected, b->timed);
	json_kdouble(j, "per_duration", b->cpus);
	json_end_object(j);
}

static void key_value(struct json *j, const struct symbolized_sums *s, const struct named_sum *sum,
                      enum flat_key key)
{
	const struct named_owner *o =
	        sum->owner == NAMED_NONE ? NULL : &s->selection->n->owners.items[sum->owner];
	struct buf text = {0};

	if (key == FLAT_INSTANCE) {
		json_ki64(j, "pid", o->pid);
		key = FLAT_PROCESS;
	} else if (key == FLAT_THREAD) {
		json_kstr_or_null(j, "thread", intern_text(&s->selection->n->texts, o->thread));
		json_ki64(j, "tid", o->tid);
		return;
	}
	symbolized_sums_cell(s, sum, key, false, &text);
	json_kstr(j, flat_key_name(key), buf_text(&text));
	buf_done(&text);
}

static void sums(struct json *j, struct symbolized_sums *s, const struct symbolized_report *r,
                 const char *name)
{
	struct named_rest rest = symbolized_sums_cut(s, r->options.limit < 0 ? 0 : r->options.limit,
	                                             r->options.lines);

	json_key(j, name);
	json_array(j);
	for (size_t i = 0; i < rest.shown; i++) {
		const struct named_sum *sum = &s->sums.items[i];

		json_object(j);
		for (size_t k = 0; k < s->key_count; k++)
			key_value(j, s, sum, s->keys[k]);
		json_ki64(j, "self", sum->self);
		json_kdouble(j, "share", sum->share);
		if (s->has_totals) {
			json_ki64(j, "total", sum->total);
			json_kdouble(j, "total_share", sum->total_share);
		}
		json_end_object(j);
	}
	json_end_array(j);
}

static bool node_shown(const void *report, uint32_t node)
{
	const struct symbolized_report *r = report;
	double limit = r->options.limit < 0 ? 0 : r->options.limit;

	return symbolized_tree_shown(r->tree, &r->tree->nodes.items[node], limit);
}

static void node_keys(struct json *j, const void *report, uint32_t id)
{
	const struct symbolized_report *r = report;
	const struct named_node *node = &r->tree->nodes.items[id];

	json_kstr(j, "name", node->name);
	if (node->function)
		json_kstr(j, "image", named_image_name(r->n, node->image, false));
	if (node->inlined)
		json_kbool(j, "inlined", true);
	tree_json_recursion(j, &node->branch);
	json_ki64(j, "total", node->total);
	json_ki64(j, "self", node->self);
	json_kdouble(j, "share", node->share);
	json_kdouble(j, "self_share", node->self_share);
}

static void tree(struct json *j, const struct symbolized_report *r, bool nested)
{
	static const struct tree_json_node of = {node_shown, node_keys};

	json_key(j, "tree");
	tree_json(j, BRANCHES(&r->tree->nodes), &of, r, nested);
}

static void sentences(struct json *j, const struct symbolized_report *r, const char *left)
{
	struct buf line = {0};

	json_key(j, "missing");
	json_array(j);
	vec_each (text, &r->missing)
		json_str(j, *text);
	json_end_array(j);
	json_key(j, "warnings");
	json_array(j);
	while (*left) {
		size_t length = strcspn(left, "\n");

		buf_clear(&line);
		buf_add(&line, left, length);
		json_str(j, buf_text(&line));
		left += length + (left[length] == '\n');
	}
	json_end_array(j);
	buf_done(&line);
}

void symbolized_report_json(struct symbolized_report *r, const char *path, const char *left,
                            bool nested, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_kstr(&j, "assay", ASSAY_VERSION);
	json_kstr(&j, "kind", "pprof");
	heading(&j, r, path);
	books(&j, r);
	if (r->processes)
		sums(&j, r->processes, r, "processes");
	sums(&j, r->functions, r, "functions");
	if (r->rows)
		sums(&j, r->rows, r, "rows");
	if (r->tree)
		tree(&j, r, nested);
	sentences(&j, r, left);
	json_end_object(&j);
}
