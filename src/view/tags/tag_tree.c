/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_tree.h"

#include "base/memory/xalloc.h"
#include "view/symbolized/symbolized.h"
#include "view/symbolized/symbolized_tree.h"
#include "view/tags/tag_paths.h"
#include "view/tree/invert_tree.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define OUTSIDE (ID_NONE - 1) /* from here on down: the ids of no process */

enum tag_measure { TAG_TREE_NET, TAG_TREE_CALLS, TAG_TREE_BLOCKED, TAG_TREE_PREEMPTED };

static int read_paths(struct symbolized_profile *n, struct tag_recording *recording,
                      struct error *err)
{
	struct tag_paths *paths = tag_paths_new(TAG_PATHS_MAX, false);
	const struct tag_trace_options o = {.line = tag_paths_line, .of = paths};
	struct tag_trace_result result;
	int ret = tag_trace_run(recording, &o, &result, err);

	if (!ret)
		tag_paths_finish(paths, recording, n);
	tag_paths_free(paths);
	return ret;
}

static bool is_filtered(const struct report_request *q)
{
	const struct filter *f = &q->filter;

	return f->comm.count || f->pid.count || f->tid.count || f->function.count;
}

/* The sums of the trace have no processes and threads, so these tables are made of paths. */
static bool sums_wanted(const struct report_request *q)
{
	return is_filtered(q) || q->without.count ||
	       q->key_count > request_has_key(q, FLAT_FUNCTION);
}

bool tag_tree_wanted(const struct report_request *q)
{
	return request_of_paths(q) || sums_wanted(q);
}

/* The names of the functions that the words of --symbol select. */
static void find_words(struct tag_tree *t, const struct tag_report *r)
{
	const struct filter_list *wanted = &r->request.filter.function;

	for (size_t i = 0; i < wanted->count; i++) {
		vec_push(&t->words, wanted->items[i]);
		vec_each (row, &r->functions.rows) {
			struct tag_aliases callings;

			tag_aliases_init(&callings, row);
			if (tag_aliases_fit(&callings, wanted->items[i]))
				vec_push(&t->words, row->function);
			tag_aliases_done(&callings);
		}
	}
}

/* Parts of the whole that belong to no function. */
static const struct {
	const char *name;
	size_t ticks; /* field of struct tag_summary */
} parts[] = {
        {"(outside)", offsetof(struct tag_summary, outside)},
        {"(unknown)", offsetof(struct tag_summary, unknown)},
};

static int64_t part_ns(const struct tag_report *r, size_t part)
{
	uint64_t ticks;

	memcpy(&ticks, (const char *)r->summary + parts[part].ticks, sizeof(ticks));
	return (int64_t)tag_clock_ns(&r->recording->clock, ticks);
}

static int sum(struct tag_tree *t, const struct tag_report *r, const struct report_request *from,
               struct error *err)
{
	struct symbolized_profile *n = &t->profile;
	struct report_request q = *from;
	int ret;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct named_owner owner = {.process = named_text(n, parts[i].name)};
		uint32_t place = named_place_word(n, parts[i].name);

		named_row_of(n, named_path_step(n, NAMED_ROOT, place), named_owner_id(n, &owner))
		        ->values[NAMED_NET] = part_ns(r, i);
	}
	q.tree &= q.without.count != 0;
	if (!q.key_count && !q.tree)
		q.keys[q.key_count++] = FLAT_FUNCTION;
	q.callers = q.callees = NULL;
	ret = symbolized_report_new(&t->sums, n, &q, true, err);
	if (!ret)
		t->sums->calls = true;
	return ret;
}

static void add_parts(struct view_tree *t, const struct tag_report *r)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (part_ns(r, i))
			view_tree_add(t, view_tree_owner(t, OUTSIDE - i, parts[i].name),
			              TAG_TREE_NET, cell_int(part_ns(r, i)));
}

static void finish(struct view_tree *t, const struct tag_tree *of, const struct tag_report *r,
                   bool inverted)
{
	static const char *const by[] = {"total"};
	const struct unit *time = &r->scale.ns.unit, *number = r->scale.number;
	const struct cell run = cell_int(
	        r->request.filter.relative ? of->selection.value
	                                   : (int64_t)tag_clock_ns(&r->recording->clock, r->run));
	const struct column columns[] = {
	        {"total", "total", "total_ns", time, ROLE_TOTAL, .get = view_tree_total},
	        {"share", "%", "share", &tag_percent, ROLE_RATIO, .of = "total", .base = run,
	         .cut = true},
	        {"net", "net", "net_ns", time, ROLE_SUM, .blank_zero = true, .get = view_tree_self},
	        {"calls", "calls", "calls", number, ROLE_SUM, .blank_zero = true,
	         .get = view_tree_self, .argument = TAG_TREE_CALLS},
	        {"blocked", NULL, "blocked_ns", time, ROLE_SUM, .get = view_tree_self,
	         .argument = TAG_TREE_BLOCKED},
	        {"preempted", NULL, "preempted_ns", time, ROLE_SUM, .get = view_tree_self,
	         .argument = TAG_TREE_PREEMPTED},
	        {"name", "call tree", "name", &unit_text, .get = symbolized_tree_name},
	};
	column_names order;

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		vec_push(&t->source->columns, columns[i]);
	if (inverted) {
		invert_tree(t, NULL, NULL);
		invert_tree_columns(t->source, view_tree_self, view_tree_total);
	}
	order = request_order(&r->request, by, 1);
	view_tree_finish(t, order.items, order.count);
	vec_done(&order);
}

static int plant_tree(struct view_tree **out, const struct tag_tree *t, const struct tag_report *r,
                      bool whole, struct error *err)
{
	static const unsigned values[] = {[TAG_TREE_NET] = NAMED_NET,
	                                  [TAG_TREE_CALLS] = NAMED_CALLS,
	                                  [TAG_TREE_BLOCKED] = NAMED_BLOCKED,
	                                  [TAG_TREE_PREEMPTED] = NAMED_PREEMPTED};
	bool inverted = r->request.inverted && !whole;
	int ret = symbolized_tree_plant(out, &t->selection, values,
	                                sizeof(values) / sizeof(*values), whole || inverted, err);

	if (ret)
		return ret;
	if (!whole && !is_filtered(&r->request))
		add_parts(*out, r);
	finish(*out, t, r, inverted);
	return 0;
}

static int plant_trees(struct tag_tree *t, const struct tag_report *r, struct error *err)
{
	const struct report_request *q = &r->request;
	struct view_tree *whole;
	/* With --without, the tree is made from the sums. */
	int ret = q->tree && !q->without.count ? plant_tree(&t->tree, t, r, false, err) : 0;

	if (ret || (!q->callers && !q->callees))
		return ret;
	ret = plant_tree(&whole, t, r, true, err);
	return ret ? ret : neighbour_tables_make(&t->neighbours, whole, q, err);
}

int tag_tree_new(struct tag_tree **out, struct tag_recording *recording, const struct tag_report *r,
                 struct error *err)
{
	struct report_request q = r->request;
	struct tag_tree *t = xcalloc(1, sizeof(*t));
	int ret;

	symbolized_profile_init(&t->profile);
	ret = read_paths(&t->profile, recording, err);
	if (!ret)
		find_words(t, r);
	q.filter.function = (struct filter_list){t->words.items, t->words.count};
	if (!ret)
		ret = symbolized_select(&t->selection, &t->profile, &q.filter, true, err);
	if (!ret)
		ret = plant_trees(t, r, err);
	if (!ret && sums_wanted(&q))
		ret = sum(t, r, &q, err);
	if (ret) {
		tag_tree_free(t);
		return ret;
	}
	*out = t;
	return 0;
}

void tag_tree_free(struct tag_tree *t)
{
	if (!t)
		return;
	view_tree_free(t->tree);
	neighbour_tables_done(&t->neighbours);
	symbolized_report_free(t->sums);
	named_selection_done(&t->selection);
	vec_done(&t->words);
	symbolized_profile_done(&t->profile);
	free(t);
}
