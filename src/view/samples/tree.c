/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/tree.h"

#include "view/samples/tree_steps.h"

struct tree_view_growth {
	struct tree *tree;
	struct tree_steps steps;
	struct planting planting;
};

static uint32_t path_parent(void *model, uint32_t path)
{
	return ((struct tree_view_growth *)model)->tree->view->profile->paths.items[path].parent;
}

static void path_steps(void *model, uint32_t path, struct planting_steps *out)
{
	struct tree_view_growth *g = model;

	tree_steps_add(&g->steps, g->tree->view->profile->paths.items[path].frame, out);
}

/* The first level is processes: their steps have the process's name id as function. */
static void add_node(void *model, struct branch branch, const struct planting_step *step)
{
	struct tree *t = ((struct tree_view_growth *)model)->tree;
	struct tree_node node = {.branch = branch, .process = ID_NONE, .frame = ID_NONE};

	if (step) {
		node.process = branch.parent == TREE_ROOT ? (uint32_t)step->function
		                                          : t->nodes.items[branch.parent].process;
		node.frame = step->of;
		node.inlined = step->inlined ? step->name : NULL;
	}
	vec_push(&t->nodes, node);
}

static const struct planting_model model = {path_parent, path_steps, add_node};

static void add_row(struct tree_view_growth *g, uint32_t process, uint32_t id, bool wait)
{
	const struct profile_row *row = &g->tree->view->profile->rows.items[id];
	const struct planting_step itself = {.function = process, .of = ID_NONE};
	uint32_t first = planting_node(&g->planting, TREE_ROOT, &itself);
	uint32_t node = plant(&g->planting, process, first, row->path);
	struct tree_node *nodes = g->tree->nodes.items;

	if (wait) {
		nodes[node].runnable_ns += row->runnable_ns;
		nodes[node].blocked_ns += row->blocked_ns;
	} else {
		nodes[node].self_samples += row->samples;
		nodes[node].self_weight += row->weight;
	}
}

/* Plants the rows process by process, in order, because many rows share the same paths. */
static void add_rows(struct tree_view_growth *g, const uint32_t *rows, size_t count, bool wait)
{
	struct view *v = g->tree->view;
	uint32_t *names = xcalloc(count + 1, sizeof(*names)), *sorted;
	VEC(size_t) starts = {0}; /* per name: index of its first row */

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

/* Callees come after their callers: going backwards, each node is complete when it is added to its
 * parent. */
static void sum_up(struct tree *t)
{
	struct tree_node *nodes = t->nodes.items;

	for (size_t i = t->nodes.count; i-- > 0;) {
		nodes[i].samples += nodes[i].self_samples;
		nodes[i].weight += nodes[i].self_weight;
		if (i == TREE_ROOT)
			break;
		nodes[nodes[i].branch.parent].samples += nodes[i].samples;
		nodes[nodes[i].branch.parent].weight += nodes[i].weight;
		nodes[nodes[i].branch.parent].runnable_ns += nodes[i].runnable_ns;
		nodes[nodes[i].branch.parent].blocked_ns += nodes[i].blocked_ns;
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

static double share_of(const struct selection *s, uint64_t weight, uint64_t samples)
{
	if (s->base_weight)
		return (double)weight / (double)s->base_weight;
	return s->base_samples ? (double)samples / (double)s->base_samples : 0;
}

struct tree *tree_new(struct view *v, const struct selection *s, double limit)
{
	struct tree *t = xcalloc(1, sizeof(*t));
	struct tree_view_growth g = {.tree = t};

	t->view = v;
	tree_steps_begin(&g.steps, v, s, limit);
	planting_begin(&g.planting, &model, &g, v->profile->paths.count);
	add_rows(&g, s->rows.items, s->rows.count, false);
	add_rows(&g, s->waits.items, s->waits.count, true);
	planting_end(&g.planting, BRANCHES(&t->nodes));
	tree_steps_done(&g.steps);
	sum_up(t);
	t->has_waits = s->waits.count > 0;
	branches_link(BRANCHES(&t->nodes), compare_nodes, t->nodes.items);
	vec_each (node, &t->nodes) {
		node->share = share_of(s, node->weight, node->samples);
		node->self_share = share_of(s, node->self_weight, node->self_samples);
	}
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

	/* Folding a recursion leaves nodes without samples. */
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
	if (node->frame == ID_NONE && node->branch.parent != TREE_ROOT)
		return "[deeper]";
	if (node->frame == ID_NONE)
		return process_table_name(t->view->profile->processes, node->process);
	symbol = view_function(t->view, node->frame);
	return symbol->named ? symbol->name : "[no symbol]";
}
