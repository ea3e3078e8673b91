/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_tree.h"

#include "base/memory/xalloc.h"
#include "view/symbolized/symbolized.h"
#include "view/symbolized/symbolized_tree.h"
#include "view/tags/tag_paths.h"

#include <stdlib.h>

#define OUTSIDE (ID_NONE - 1) /* the id of no process */

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

static void add_outside(struct view_tree *t, const struct tag_report *r)
{
	uint64_t ns = tag_clock_ns(&r->recording->clock, r->summary->outside);

	if (ns)
		view_tree_add(t, view_tree_owner(t, OUTSIDE, "(outside)"), TAG_TREE_NET,
		              cell_int((int64_t)ns));
}

static void finish(struct view_tree *t, const struct tag_report *r)
{
	static const char *const by[] = {"total"};
	const struct unit *time = &r->scale.ns.unit, *number = r->scale.number;
	const struct cell run = cell_int((int64_t)tag_clock_ns(&r->recording->clock, r->run));
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
	order = request_order(&r->request, by, 1);
	view_tree_finish(t, order.items, order.count);
	vec_done(&order);
}

int tag_tree_new(struct tag_tree **out, struct tag_recording *recording, const struct tag_report *r,
                 struct error *err)
{
	static const unsigned values[] = {[TAG_TREE_NET] = NAMED_NET,
	                                  [TAG_TREE_CALLS] = NAMED_CALLS,
	                                  [TAG_TREE_BLOCKED] = NAMED_BLOCKED,
	                                  [TAG_TREE_PREEMPTED] = NAMED_PREEMPTED};
	const struct filter all = {0};
	struct tag_tree *t = xcalloc(1, sizeof(*t));
	int ret;

	symbolized_profile_init(&t->profile);
	ret = read_paths(&t->profile, recording, err);
	if (!ret)
		ret = symbolized_select(&t->selection, &t->profile, &all, true, err);
	if (!ret)
		ret = symbolized_tree_plant(&t->tree, &t->selection, values,
		                            sizeof(values) / sizeof(*values), err);
	if (ret) {
		tag_tree_free(t);
		return ret;
	}
	add_outside(t->tree, r);
	finish(t->tree, r);
	*out = t;
	return 0;
}

void tag_tree_free(struct tag_tree *t)
{
	if (!t)
		return;
	view_tree_free(t->tree);
	named_selection_done(&t->selection);
	symbolized_profile_done(&t->profile);
	free(t);
}
