/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The off-wake tree as a symbolized profile, for graphs of call paths. */
#include "view/waits/wait_document.h"

#include "view/waits/wait_tree.h"

#include <stdlib.h>

struct wait_naming {
	struct symbolized_profile *n;
	struct view *view;
	uint32_t *images; /* per image: id + 1, 0: not made yet */
	uint32_t *paths;  /* per node of the tree */
	uint32_t *owners; /* likewise */
};

static uint32_t image_of(struct wait_naming *g, uint32_t frame)
{
	const struct profile *p = g->view->profile;
	uint32_t id = p->frames.items[frame].frame.image;
	struct named_image *made;

	if (!g->images[id]) {
		g->images[id] = (uint32_t)g->n->images.count + 1;
		made = vec_add(&g->n->images);
		made->name = named_text(g->n, image_path(&p->images, id));
		made->low = 1;
	}
	return g->images[id] - 1;
}

/* A thread that waits is the owner of all below it, and no step of the path. */
static void name_node(struct wait_naming *g, const struct view_tree *t, uint32_t i)
{
	const struct view_node *node = &t->nodes.items[i];
	const char *name = wait_tree_name(t, i);
	uint32_t image;

	if (node->parent == TREE_ROOT) {
		struct named_owner who = {.process = named_text(g->n, name)};

		g->owners[i] = named_owner_id(g->n, &who);
		g->paths[i] = NAMED_ROOT;
		return;
	}
	image = node->of == ID_NONE ? NAMED_NONE : image_of(g, node->of);
	g->owners[i] = g->owners[node->parent];
	g->paths[i] =
	        named_path_step(g->n, g->paths[node->parent], named_place_in(g->n, image, name));
}

static void add_values(struct wait_naming *g, const struct view_tree *t, uint32_t i)
{
	struct named_row *row = NULL;

	for (unsigned m = 0; m < WAIT_MEASURES; m++) {
		struct cell own = view_tree_self_of(t, i, m);

		if (own.kind != CELL_INT || !own.i)
			continue;
		row = named_row_of(g->n, g->paths[i], g->owners[i]);
		row->values[m] = named_add(row->values[m], own.i);
	}
}

void named_of_waits(struct symbolized_profile *n, struct wait_report *r)
{
	struct view_tree *t = wait_tree(r);
	struct wait_naming g = {.n = n, .view = r->view};

	n->values[WAIT_MEASURE_BLOCKED] = (struct named_value){"blocked", "nanoseconds"};
	n->values[WAIT_MEASURE_RUNNABLE] = (struct named_value){"runnable", "nanoseconds"};
	n->values[WAIT_MEASURE_COUNT] = (struct named_value){"waits", "count"};
	n->value_count = WAIT_MEASURES;
	n->main_value = WAIT_MEASURE_BLOCKED;
	g.images = xcalloc(r->view->profile->images.images.count + 1, sizeof(*g.images));
	g.paths = xcalloc(t->nodes.count + 1, sizeof(*g.paths));
	g.owners = xcalloc(t->nodes.count + 1, sizeof(*g.owners));
	for (uint32_t i = TREE_ROOT + 1; i < t->nodes.count; i++) { /* parents come first */
		name_node(&g, t, i);
		add_values(&g, t, i);
	}
	free(g.images);
	free(g.paths);
	free(g.owners);
	view_tree_free(t);
}
