/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view_tree: a call tree of any model, callers above callees, with any number of measures.
 *
 * An adapter describes its call paths (struct view_tree_model), adds the value of each path to the
 * node of the path, and declares the columns in `source`: the nodes are the rows of this source,
 * and view_tree_self() and view_tree_total() make the cells of a measure.
 *
 *	t = view_tree_new(&model, ctx, paths, measures);
 *	node = view_tree_at(t, owner, view_tree_owner(t, owner, "cat"), path);
 *	view_tree_add(t, node, measure, cell_int(7));
 *	view_tree_finish(t, by, count);
 *
 * One rule for recursion holds for all trees: whole repeated rounds are folded (recursion.h), and
 * no path is moved below another caller. A node's total includes all its descendants. Functions
 * deeper than TREE_DEPTH_MAX share one node, "[deeper]". Children are sorted by the columns of
 * view_tree_finish(). Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_TREE_VIEW_TREE_H
#define ASSAY_VIEW_TREE_VIEW_TREE_H

#include "base/memory/hash.h"
#include "view/rows/rows.h"
#include "view/tree/tree_builder.h"

struct view_tree_model {
	uint32_t (*parent)(void *ctx, uint32_t path); /* the root's path is 0 */
	/* Appends the steps of the path's last place, outermost first. */
	void (*steps)(void *ctx, uint32_t path, struct tree_builder_steps *out);
};

/* The value of a measure of whole or of real numbers. */
union view_value {
	int64_t i;
	double d;
};

#define TREE_ROOT 0

struct view_node {
	uint32_t parent;            /* for the root: the root itself */
	uint32_t first_child, next; /* ID_NONE: none; set by view_tree_finish() */
	uint32_t owner;    /* owner of the first node on the path to this node; ID_NONE: none */
	uint64_t function; /* function, name and `of` are as in struct tree_builder_step */
	const char *name;
	uint32_t of;
	uint32_t levels; /* depth of the recursion that begins here; 0: none */
	uint8_t round;   /* number of functions that call each other in this recursion */
	bool inlined;
	bool is_owner; /* a process, not a function */
	bool empty;    /* neither the node nor a descendant has a value */
};

struct view_tree {
	const struct view_tree_model *model;
	void *ctx;                   /* for the model and the columns */
	void (*free)(void *ctx);     /* NULL: the context has another owner */
	VEC(struct view_node) nodes; /* [0] is the root; callers come before callees */
	size_t measures;
	uint32_t real;              /* a bit for each measure of real numbers */
	VEC(union view_value) self; /* node * measures + measure */
	union view_value *total;    /* the same, since view_tree_finish() */
	uint32_t removed;           /* the owner that is shown whatever its share; 0: none */
	struct row_source *source;  /* rows are nodes; its model is this tree */
	/* Appends text after a node's name: "  open so far"; NULL: none. */
	void (*marks)(const struct view_tree *t, uint32_t node, struct buf *out);
	struct tree_builder builder;
};

struct view_tree *view_tree_new(const struct view_tree_model *model, void *ctx, size_t paths,
                                size_t measures);
void view_tree_free(struct view_tree *t);
/* Makes room for this number of nodes at once, if it is known. */
void view_tree_reserve(struct view_tree *t, size_t nodes);
/* Nothing is folded or cut: each path has nodes of its own. Before the first path. */
void view_tree_whole(struct view_tree *t);

/* The node of the first level for an owner of paths, such as a process; made if it does not
 * exist. `name` must outlive the tree; NULL: a column knows the name. */
uint32_t view_tree_owner(struct view_tree *t, uint32_t owner, const char *name);
/* The node of a path of `owner` below `first` (TREE_ROOT: there is no level of owners). */
uint32_t view_tree_at(struct view_tree *t, uint32_t owner, uint32_t first, uint32_t path);
/* A measure has either whole or real numbers; there are at most 32 measures. */
void view_tree_add(struct view_tree *t, uint32_t node, size_t measure, struct cell value);

/* Sums the totals. The columns of `source` must be declared; children are sorted by `by`. */
void view_tree_finish(struct view_tree *t, const char *const *by, size_t count);

/* The position of a walk; zeros: at the root. */
struct view_tree_walk {
	uint32_t node;
	unsigned depth;
};

/*
 * Moves to the next node of a finished tree, depth first and without recursion: a hostile file may
 * hold very deep paths. `into`: visit the children of this node too. Returns false after the last
 * node.
 *
 *	struct view_tree_walk w = {0};
 *	do
 *		shown = ...nodes.items[w.node]...
 *	while (view_tree_step(t, &w, shown));
 */
bool view_tree_step(const struct view_tree *t, struct view_tree_walk *w, bool into);

/* Values of a finished tree. */
struct cell view_tree_self_of(const struct view_tree *t, uint32_t node, size_t measure);
struct cell view_tree_total_of(const struct view_tree *t, uint32_t node, size_t measure);

/* Column functions; `argument` is the measure. */
column_get view_tree_self, view_tree_total;

/* For tree_builder.h: appends a node without children. */
void view_tree_add_node(struct view_tree *t, uint32_t parent, const struct tree_builder_step *step);

/* True for the node of removed values, which is shown whatever its share and place. */
bool view_tree_is_removed(const struct view_tree *t, uint32_t node);
/* Whether the node is shown: it has a value, and a column with `cut` reaches the limit. The limit
 * is a share of what was selected: of the root. */
bool view_tree_shown(const struct view_tree *t, uint32_t node, double limit);

#endif
