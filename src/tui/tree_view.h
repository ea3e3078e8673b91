/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_view: a call tree of a document (view/tree/view_tree.h) on the screen; nodes open and close.
 *
 * A new struct is all zeros. At first the nodes with a large part of the whole are open. A node is
 * identified by the names on the way to it, so the nodes that a user opened or closed stay so when
 * tree_view_show() gets the tree of a second later. A filter shows the nodes that match, with the
 * nodes above them. The tree must outlive the next tree_view_show() or tree_view_done(). No
 * function fails. One thread. Uses: base, view, tui.
 */
#ifndef ASSAY_TUI_TREE_VIEW_H
#define ASSAY_TUI_TREE_VIEW_H

#include "tui/table_view.h"
#include "view/tree/view_tree.h"

struct tree_view_line {
	uint32_t node;
	unsigned depth;
	uint64_t path; /* hash of the names on the way */
	bool open, leaf;
};

struct tree_view {
	const struct view_tree *tree; /* NULL: none yet */
	struct line_filter filter;
	struct scroll scroll;
	VEC(struct tree_view_line) lines;
	VEC(uint64_t) turned; /* paths of nodes that are not as they were at first */
	bool all;             /* all nodes are open at first */
	uint64_t selected;    /* path; 0: the first line */
	table_view_widths widths;
};

void tree_view_show(struct tree_view *v, const struct view_tree *tree);
void tree_view_done(struct tree_view *v);
int tree_view_filter(struct tree_view *v, const char *text, struct error *err);
void tree_view_move(struct tree_view *v, long lines);
void tree_view_go(struct tree_view *v, size_t line);
/* Opens (1), closes (-1) or turns (0) the selected node. Closing a closed node selects its parent.
 */
void tree_view_turn(struct tree_view *v, int open);
/* Opens or closes all nodes. */
void tree_view_turn_all(struct tree_view *v);
/* The selected node; ID_NONE: there is none. */
uint32_t tree_view_node(const struct tree_view *v);
void tree_view_draw(struct tree_view *v, struct canvas *c, unsigned line, unsigned lines);

#endif
