/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_levels: call paths as the levels of a flame graph, the form that Pyroscope's query API
 * returns: each level is a row of bars, and a bar is its distance from the bar to the left, its
 * width, its own width (self), and its name.
 *
 *	flame_levels_init(&f)
 *	flame_levels_add(&f, 0, profile, value)		side 0; of a comparison also side 1
 *	flame_levels_write(&f, sides, nodes_max, &w)	the fields of FlameGraph or FlameGraphDiff
 *	flame_levels_done(&f)
 *
 * Paths with the same names of functions are one bar. Inlined functions are bars of their own.
 * Above nodes_max bars (0: no limit) the smallest ones below one bar become the bar "other".
 * Values below 0 count as 0. Sums saturate. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_FLAME_LEVELS_H
#define ASSAY_EXPORT_FLAME_LEVELS_H

#include "export/querier_write.h"
#include "profile/symbolized_profile.h"

struct flame_node {
	uint32_t parent, name, first, next; /* first child, next one of the same parent; 0: none */
	int64_t self[2], total[2];
};

struct flame_levels {
	VEC(struct flame_node) nodes; /* [0] is the root, "total" */
	struct path_tree index;
	struct intern names;
};

void flame_levels_init(struct flame_levels *f);
void flame_levels_add(struct flame_levels *f, unsigned side, const struct symbolized_profile *n,
                      unsigned value);
void flame_levels_write(struct flame_levels *f, unsigned sides, int64_t nodes_max,
                        struct querier_writer *w);
void flame_levels_done(struct flame_levels *f);

#endif
