/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neighbours: the rule by which the calls of a tree are summed up per function, per caller of a
 * function, or per callee of a function.
 *
 * The nodes of a tree without folding are entered and left in depth-first order. Each node is a
 * call path; neighbours_enter() returns the row for its figures:
 *
 *	functions  a call of f belongs to the row of f
 *	callers    a call of f belongs to the row of the caller
 *	callees    a call from f belongs to the row of the callee; f itself has a row of its own
 *
 * Figures without callees (net, calls) are added for each node. The total of a row is added for
 * the outermost node of the row on each path (`once`). The parts are added for the outermost call
 * of f on each path (`part`), so each path is in exactly one part, and the parts add up to the
 * total of f, in any recursion.
 *
 * neighbours_init() / neighbours_done(). Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_TREE_NEIGHBOURS_H
#define ASSAY_VIEW_TREE_NEIGHBOURS_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum neighbours_of { NEIGHBOURS_FUNCTIONS, NEIGHBOURS_CALLERS, NEIGHBOURS_CALLEES };

struct neighbours {
	enum neighbours_of of;
	const uint8_t *chosen;   /* per function: it is f; NULL: all are */
	uint32_t *row_of;        /* per function: its row, or ID_NONE */
	VEC(uint32_t) functions; /* per row: its function */
	uint32_t self;           /* the row of f itself in callees; ID_NONE: none yet */
	uint32_t depth;          /* number of calls of f on the current path */
	VEC(uint32_t) open;      /* per row: number of its nodes on the current path */
	VEC(struct neighbours_step {
		uint32_t function;
		uint32_t row;
	})
	path;
};

/* The rows to which a node adds its values. */
struct neighbour {
	uint32_t row;  /* row that gets its own figures; ID_NONE: none */
	bool once;     /* the row gets its total, too */
	bool part;     /* the row's part gets its total, too */
	uint32_t self; /* row that also gets its own figures, as self and as total; ID_NONE: none */
	bool self_part; /* and as a part */
};

/* `functions`: the number of functions, whose ids are dense. */
void neighbours_init(struct neighbours *n, enum neighbours_of of, const uint8_t *chosen,
                     size_t functions);
void neighbours_done(struct neighbours *n);

/* The first node is the root. New rows are appended to n->functions. */
struct neighbour neighbours_enter(struct neighbours *n, uint32_t function);
void neighbours_leave(struct neighbours *n);

#endif
