/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_text: the text around a function's name in a tree of any kind.
 *
 * The caller composes a name in a buffer: tree_text_indent(), then tree_text_name() or the name and
 * tree_text_recursion(). Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_TEXT_TREE_TEXT_H
#define ASSAY_OUTPUT_TEXT_TREE_TEXT_H

#include "base/memory/buf.h"
#include "view/tree/view_tree.h"

#include <stdint.h>

/* Appends one space per level, up to a limit; deeper levels are printed as a number, so that lines
 * do not grow with the depth. */
void tree_text_indent(struct buf *name, unsigned depth);

/* Appends the levels of the recursion that begins here (0: none), of `round` functions that call
 * each other. */
void tree_text_recursion(struct buf *name, uint32_t levels, uint32_t round);

/* Appends a node's name, which is in `cell`, with its recursion and marks. */
void tree_text_name(struct buf *name, const struct view_tree *t, uint32_t node,
                    const struct unit *unit, struct cell cell);

#endif
