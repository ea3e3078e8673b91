/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/tree_json.h"

void tree_json_recursion(struct json *j, const struct branch *branch)
{
	if (!branch->levels)
		return;
	json_ku64(j, "recursion", branch->levels);
	json_ku64(j, "recursion_functions", branch->round);
}

static void close_down_to(struct json *j, unsigned *open, unsigned depth)
{
	for (; *open > depth; --*open) {
		json_end_array(j);
		json_end_object(j);
	}
}

void tree_json(struct json *j, struct branches b, const struct tree_json_node *of,
               const void *report)
{
	struct branch_walk w = {0};
	unsigned open = 0;
	bool shown;

	do {
		shown = w.node == TREE_ROOT || of->shown(report, w.node);
		if (!shown)
			continue;
		close_down_to(j, &open, w.depth);
		json_object(j);
		of->keys(j, report, w.node);
		json_key(j, "children");
		json_array(j);
		open++;
	} while (branches_step(b, &w, shown));
	close_down_to(j, &open, 0);
}
