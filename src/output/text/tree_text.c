/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/text/tree_text.h"

#include "base/text/plural.h"

#include <inttypes.h>

#define INDENT_MAX 60

void tree_text_indent(struct buf *name, unsigned depth)
{
	buf_pad(name, ' ', depth < INDENT_MAX ? depth : INDENT_MAX);
	if (depth > INDENT_MAX)
		buf_addf(name, "+%u ", depth - INDENT_MAX);
}

void tree_text_recursion(struct buf *name, uint32_t levels, uint32_t round)
{
	if (levels && round > 1)
		buf_addf(name, "  (recursion of %" PRIu32 " functions, %" PRIu32 " %s)", round,
		         levels, plural(levels, "level", "levels"));
	else if (levels)
		buf_addf(name, "  (recursion, %" PRIu32 " %s)", levels,
		         plural(levels, "level", "levels"));
}

void tree_text_name(struct buf *name, const struct view_tree *t, uint32_t node,
                    const struct unit *unit, struct cell cell)
{
	const struct view_node *n = &t->nodes.items[node];

	unit_text_add(unit, cell, name);
	buf_puts(name, n->inlined ? " (inlined)" : "");
	tree_text_recursion(name, n->levels, n->round);
	if (t->marks)
		t->marks(t, node, name);
}
