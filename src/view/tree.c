/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree_plant.h"

static void add_row(struct planting *g, uint32_t process, uint32_t id, bool wait)
{
	const struct profile_row *row = &g->tree->view->profile->rows.items[id];
	struct tree_node *nodes;
	uint32_t node = plant(g, process, row->path);

	nodes = g->tree->nodes.items;
	if (wait) {
		nodes[node].runnable_ns += row->runnable_ns;
		nodes[node].blocked_ns += row->blocked_ns;
	} else {
		nodes[node].self_samples += row->samples;
		nodes[node].self_weight += row->weight;
	}
}

/* Process by process, each one's rows in their order: the same paths are in many. */
static void add_rows(struct planting *g, const uint32_t *rows, size_t count, bool wait)
{
	struct view *v = g->tree->view;
	uint32_t *names = xcalloc(count + 1, sizeof(*names)), *sorted;
	VEC(size_t) starts = {0}; /* by name: where its rows begin */

	for (size_t i = 0; i < count; i++) {
		names[i] = view_process(v, &v->profile->rows.items[rows[i]])->name;
		while (starts.count <= (size_t)names[i] + 1)
			vec_push(&starts, 0);
		starts.items[names[i] + 1]++;
	}
	for (size_t i = 1; i < starts.count; i++)
		starts.items[i] += starts.items[i - 1];
	sorted = xcalloc(count + 1, sizeof(*sorted));
	for (size_t i = 0; i < count; i++)
		sorted[starts.items[names[i]]++] = (uint32_t)i;
	for (size_t i = 0; i < count; i++)
		add_row(g, names[sorted[i]], rows[sorted[i]], wait);
	vec_done(&starts);
	free(names);
	free(sorted);
}

/* Callees come after their callers: from the last node on, each is complete when its turn comes. */
static void sum_up(struct tree *t)
{
	struct tree_node *nodes = t->nodes.items;

	for (size_t i = t->nodes.count; i-- > 0;) {
		nodes[i].samples += nodes[i].self_samples;
		nodes[i].weight += nodes[i].self_weight;
		if (i == TREE_ROOT)
			break;
		nodes[nodes[i].parent].samples += nodes[i].samples;
		nodes[nodes[i].parent].weight += nodes[i].weight;
		nodes[nodes[i].parent].runnable_ns += nodes[i].runnable_ns;
		nodes[nodes[i].parent].blocked_ns += nodes[i].blocked_ns;
	}
}

static int compare_nodes(const void *a, const void *b, void *ctx)
{
	const struct tree_node *nodes = ctx;
	const struct tree_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];
	uint64_t wx = x->runnable_ns + x->blocked_ns, wy = y->runnable_ns + y->blocked_ns;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (wx != wy)
		return wx < wy ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* Links children, in order: nodes sorted lightest last, each put before its parent's list. */
static void link_children(struct tree *t)
{
	uint32_t *order = xmalloc(t->nodes.count * sizeof(*order));

	for (uint32_t i = 0; i < t->nodes.count; i++)
		order[i] = i;
	qsort_r(order, t->nodes.count, sizeof(*order), compare_nodes, t->nodes.items);
	for (size_t i = t->nodes.count; i-- > 0;) {
		struct tree_node *node = &t->nodes.items[order[i]];

		if (order[i] == TREE_ROOT)
			continue;
		node->next = t->nodes.items[node->parent].first_child;
		t->nodes.items[node->parent].first_child = order[i];
	}
	free(order);
}

static double share_of(const struct selection *s, uint64_t weight, uint64_t samples)
{
	if (s->base_weight)
		return (double)weight / (double)s->base_weight;
	return s->base_samples ? (double)samples / (double)s->base_samples : 0;
}

struct tree *tree_new(struct view *v, const struct selection *s, double limit)
{
	struct tree *t = xcalloc(1, sizeof(*t));
	struct planting g;

	t->view = v;
	planting_begin(&g, t, s, limit);
	add_rows(&g, s->rows.items, s->rows.count, false);
	add_rows(&g, s->waits.items, s->waits.count, true);
	sum_up(t);
	t->has_waits = s->waits.count > 0;
	link_children(t);
	vec_each (node, &t->nodes) {
		node->share = share_of(s, node->weight, node->samples);
		node->self_share = share_of(s, node->self_weight, node->self_samples);
	}
	planting_end(&g);
	return t;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	vec_done(&t->nodes);
	free(t);
}

bool tree_shown(const struct tree *t, const struct tree_node *node, double limit)
{
	const struct tree_node *root = &t->nodes.items[TREE_ROOT];
	uint64_t waits = root->runnable_ns + root->blocked_ns;

	/* Rounds of a recursion leave nodes that nothing ended in. */
	if (node != root && !node->samples && !node->weight && !node->runnable_ns &&
	    !node->blocked_ns)
		return false;
	return node->share >= limit ||
	       (waits && (double)(node->runnable_ns + node->blocked_ns) >= limit * (double)waits);
}

const char *tree_name(const struct tree *t, const struct tree_node *node)
{
	const struct symbol *symbol;

	if (node->process == ID_NONE)
		return "all";
	if (node->inlined)
		return node->inlined;
	if (node->frame == ID_NONE && node->parent != TREE_ROOT)
		return "[deeper]";
	if (node->frame == ID_NONE)
		return process_table_name(t->view->profile->processes, node->process);
	symbol = view_function(t->view, node->frame);
	return symbol->named ? symbol->name : "[no symbol]";
}
