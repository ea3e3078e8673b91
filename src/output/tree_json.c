/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/tree_json.h"

static void close_down_to(struct tree_json *t, unsigned depth)
{
	for (; t->open > depth; t->open--) {
		json_end_array(t->j);
		json_end_object(t->j);
	}
}

void tree_json_node(struct tree_json *t, unsigned depth)
{
	close_down_to(t, depth);
	json_object(t->j);
	t->open++;
}

void tree_json_recursion(struct tree_json *t, const struct branch *branch)
{
	if (!branch->levels)
		return;
	json_ku64(t->j, "recursion", branch->levels);
	json_ku64(t->j, "recursion_functions", branch->round);
}

void tree_json_children(struct tree_json *t)
{
	json_key(t->j, "children");
	json_array(t->j);
}

void tree_json_end(struct tree_json *t)
{
	close_down_to(t, 0);
}
