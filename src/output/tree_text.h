/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_text: what stands around a function's name in a tree, whatever the tree is of.
 *
 * A name is put together in a buffer: tree_text_indent(), the name, tree_text_recursion().
 * Nothing fails. Uses: base.
 */
#ifndef ASSAY_OUTPUT_TREE_TEXT_H
#define ASSAY_OUTPUT_TREE_TEXT_H

#include "base/buf.h"

#include <stdint.h>

/* A blank a level; levels beyond a bound are told as a number, or lines would be depth long. */
void tree_text_indent(struct buf *name, unsigned depth);

/* Levels of recursion that begin here (0: none), of `round` functions that take turns. */
void tree_text_recursion(struct buf *name, uint32_t levels, uint32_t round);

#endif
