/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized_tree.h"

#include "base/memory/xalloc.h"
#include "view/tree/invert_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tree_of_selection {
	const struct named_selection *selection;
	struct view_tree *tree;
	bool processes; /* the first level is processes */
};

static uint32_t path_parent(void *ctx, uint32_t path)
{
	return ((const struct named_selection *)ctx)->n->paths.items[path].parent;
}

/* Functions are equal if name and file are equal; an inlined function differs from the same
 * function called. */
static struct tree_builder_step line_step(const struct symbolized_profile *n, uint32_t place,
                                          uint32_t line, bool inlined)
{
	const struct named_function *f = &n->functions.items[n->lines.items[line].function];
	uint32_t image = n->places.items[place].image;
	uint64_t file = image == NAMED_NONE ? 0 : n->images.items[image].name;
	uint64_t function = (uint64_t)f->name << 32 | file << 1 | inlined;

	return (struct tree_builder_step){.function = function,
	                                  .again = function,
	                                  .name = intern_text(&n->texts, f->name),
	                                  .of = image,
	                                  .inlined = inlined};
}

/* Appends the functions of the path's place, outermost first. */
static void path_steps(void *ctx, uint32_t path, struct tree_builder_steps *out)
{
	const struct named_selection *s = ctx;
	const struct symbolized_profile *n = s->n;
	uint32_t place = n->paths.items[path].place, leaf = named_leaf(s, place);
	const struct named_place *p = &n->places.items[place];
	uint32_t end = p->first + p->count;

	for (uint32_t line = end; p->count && line-- > leaf;)
		vec_push(&out->all, line_step(n, place, line, line + 1 < end));
}

static int compare_processes(const void *a, const void *b, void *ctx)
{
	const struct symbolized_profile *n = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t px = n->owners.items[n->rows.items[x].owner].process;
	uint32_t py = n->owners.items[n->rows.items[y].owner].process;

	if (px != py)
		return px < py ? -1 : 1;
	return x < y ? -1 : x > y;
}

static uint32_t first_level(const struct tree_of_selection *g, uint32_t process)
{
	const char *name = intern_text(&g->selection->n->texts, process);

	return g->processes ? view_tree_owner(g->tree, process, *name ? name : "[unknown]")
	                    : TREE_ROOT;
}

/* Adds the rows process by process, in order, because many rows share the same paths. */
static int add_rows(struct tree_of_selection *g, const unsigned *values, size_t measures,
                    struct error *err)
{
	const struct symbolized_profile *n = g->selection->n;
	size_t count = g->selection->rows.count;
	uint32_t *sorted = xcalloc(count + 1, sizeof(*sorted)), process, node;
	int ret = 0;

	if (count)
		memcpy(sorted, g->selection->rows.items, count * sizeof(*sorted));
	qsort_r(sorted, count, sizeof(*sorted), compare_processes, (void *)(uintptr_t)n);
	for (size_t i = 0; i < count && !ret; i++) {
		const struct named_row *row = &n->rows.items[sorted[i]];

		process = n->owners.items[row->owner].process;
		node = view_tree_at(g->tree, g->processes ? process : 0, first_level(g, process),
		                    row->path);
		for (size_t m = 0; m < measures; m++)
			view_tree_add(g->tree, node, m, cell_int(row->values[values[m]]));
		if (named_is_removed(g->selection, row->path))
			without_tree_add(g->tree, measures, row->values[values[0]]);
		else if (g->selection->removed)
			view_tree_add(g->tree, node, measures, cell_int(row->values[values[0]]));
		if (g->tree->nodes.count > NAMED_NODES_MAX)
			ret = error_set(err, EFBIG,
			                "the call tree has more than %zu nodes: select a process "
			                "or function, or use 'assay sql'",
			                NAMED_NODES_MAX);
	}
	free(sorted);
	return ret;
}

struct cell symbolized_tree_name(const struct row_source *s, const struct column *c, uint32_t row,
                                 struct buf *text)
{
	const struct view_tree *t = s->model;

	return cell_text(row == TREE_ROOT ? "all" : t->nodes.items[row].name);
}

/* Processes have no image. */
static void image_json(const struct row_source *s, const struct column *c, uint32_t row,
                       struct json *j)
{
	const struct view_tree *t = s->model;
	const struct named_selection *selection = t->ctx;
	const struct view_node *node = &t->nodes.items[row];

	if (row != TREE_ROOT && !node->is_owner)
		json_kstr(j, "image", named_image_name(selection->n, node->of, false));
}

static void add_columns(struct row_source *s, const struct named_selection *selection,
                        const struct unit *unit)
{
	struct cell base = cell_int(selection->base);
	const struct column columns[] = {
	        {.name = "total",
	         .title = "total",
	         .key = "total",
	         .unit = unit,
	         .role = ROLE_TOTAL,
	         .get = view_tree_total},
	        {.name = "share",
	         .title = "",
	         .key = "share",
	         .unit = &unit_share,
	         .role = ROLE_RATIO,
	         .of = "total",
	         .base = base,
	         .cut = true},
	        {.name = "self",
	         .title = "self",
	         .key = "self",
	         .unit = unit,
	         .role = ROLE_SUM,
	         .blank_zero = true,
	         .get = view_tree_self},
	        {.name = "self_share",
	         .key = "self_share",
	         .unit = &unit_share,
	         .role = ROLE_RATIO,
	         .of = "self",
	         .base = base},
	};
	static const struct column names[] = {
	        {.name = "image", .unit = &unit_text, .json = image_json},
	        {.name = "name",
	         .title = "call tree",
	         .key = "name",
	         .unit = &unit_text,
	         .get = symbolized_tree_name},
	};

	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	if (selection->removed)
		without_tree_columns(s, &selection->without, 1, unit);
	row_source_columns(s, names, sizeof(names) / sizeof(*names));
}

int symbolized_tree_plant(struct view_tree **out, const struct named_selection *s,
                          const unsigned *values, size_t count, bool whole, struct error *err)
{
	static const struct view_tree_model model = {path_parent, path_steps};
	struct tree_of_selection g = {.selection = s};
	int ret;

	vec_each (o, &s->n->owners)
		g.processes |= o->process && !whole;
	g.tree = view_tree_new(&model, (void *)(uintptr_t)s, s->n->paths.count,
	                       count + (s->removed != NULL));
	if (whole)
		view_tree_whole(g.tree);
	ret = add_rows(&g, values, count, err);
	if (ret) {
		view_tree_finish(g.tree, NULL, 0);
		view_tree_free(g.tree);
		return ret;
	}
	*out = g.tree;
	return 0;
}

int symbolized_tree_new(struct view_tree **out, const struct named_selection *s,
                        const struct report_request *q, const struct unit *unit, bool whole,
                        struct error *err)
{
	static const char *const by[] = {"total"};
	column_names order;
	bool inverted = q->inverted && !whole;
	int ret = symbolized_tree_plant(out, s, &s->n->main_value, 1, whole || inverted, err);

	if (ret)
		return ret;
	add_columns((*out)->source, s, unit);
	if (inverted) {
		invert_tree(*out, NULL, NULL);
		invert_tree_columns((*out)->source, view_tree_self, view_tree_total);
	}
	order = request_order(q, by, 1);
	view_tree_finish(*out, order.items, order.count);
	vec_done(&order);
	return 0;
}
