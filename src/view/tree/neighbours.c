/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/neighbours.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>

void neighbours_init(struct neighbours *n, enum neighbours_of of, const uint8_t *chosen,
                     size_t functions)
{
	*n = (struct neighbours){.of = of, .chosen = chosen, .self = ID_NONE};
	n->row_of = xcalloc(functions + 1, sizeof(*n->row_of));
	for (size_t i = 0; i < functions; i++)
		n->row_of[i] = ID_NONE;
}

void neighbours_done(struct neighbours *n)
{
	free(n->row_of);
	vec_done(&n->functions);
	vec_done(&n->open);
	vec_done(&n->path);
}

static uint32_t new_row(struct neighbours *n, uint32_t function)
{
	vec_push(&n->functions, function);
	vec_push(&n->open, 0);
	return (uint32_t)n->functions.count - 1;
}

static uint32_t row_of(struct neighbours *n, uint32_t function)
{
	if (n->row_of[function] == ID_NONE)
		n->row_of[function] = new_row(n, function);
	return n->row_of[function];
}

static bool is_chosen(const struct neighbours *n, uint32_t function)
{
	return !n->chosen || n->chosen[function];
}

/* The function whose row gets the figures of the node; ID_NONE: none. */
static uint32_t function_of_row(const struct neighbours *n, uint32_t function)
{
	uint32_t caller = n->path.count ? vec_last(&n->path)->function : ID_NONE;

	switch (n->of) {
	case NEIGHBOURS_CALLERS:
		return is_chosen(n, function) ? caller : ID_NONE;
	case NEIGHBOURS_CALLEES:
		return caller != ID_NONE && is_chosen(n, caller) ? function : ID_NONE;
	default:
		return is_chosen(n, function) ? function : ID_NONE;
	}
}

struct neighbour neighbours_enter(struct neighbours *n, uint32_t function)
{
	uint32_t of = function_of_row(n, function);
	struct neighbour found = {ID_NONE, .self = ID_NONE};
	bool is_f = is_chosen(n, function);

	if (of != ID_NONE) {
		found.row = row_of(n, of);
		found.once = !n->open.items[found.row]++;
		found.part = n->depth == (n->of == NEIGHBOURS_CALLEES);
	}
	if (is_f && n->of == NEIGHBOURS_CALLEES) {
		if (n->self == ID_NONE)
			n->self = new_row(n, function);
		found.self = n->self;
		found.self_part = !n->depth;
	}
	n->depth += is_f;
	vec_push(&n->path, (struct neighbours_step){function, found.row});
	return found;
}

void neighbours_leave(struct neighbours *n)
{
	struct neighbours_step step = *vec_last(&n->path);

	n->path.count--;
	n->depth -= is_chosen(n, step.function);
	if (step.row != ID_NONE)
		n->open.items[step.row]--;
}
