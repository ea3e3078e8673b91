/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_check: compares a map of kernel symbols with what a recording has of its kernel.
 *
 * In this order, the first that the recording has: functions with their addresses (assay's files);
 * names of sampled places (stores); the running kernel, if it is the recorded one by its build-id;
 * the end of the kernel's mapping. Errors name the map, both values and the way out. Uses: base,
 * image.
 */
#ifndef ASSAY_SYMBOL_KERNEL_CHECK_H
#define ASSAY_SYMBOL_KERNEL_CHECK_H

#include "image/kernel_anchors.h"
#include "symbol/kernel_names.h"

struct kernel_candidate {
	struct kernel_map map;
	uint64_t text, stext;       /* addresses in the map; 0: it does not have them */
	uint64_t ends[KERNEL_ENDS]; /* likewise, those of kernel_end_names */
};

/*
 * Finds the distance by which the recorded kernel moved, map.delta. -ESTALE: a kernel cannot move
 * by it, or it is not known.
 */
int kernel_check_distance(const struct kernel_names *k, struct kernel_candidate *c,
                          struct error *err);

/* 1: the map is of the recorded kernel. 0: nothing to compare with. -ESTALE: it is another one. */
int kernel_check(const struct kernel_names *k, const struct symbol_options *options,
                 const struct kernel_candidate *c, struct error *err);

/* The same for the modules in a map at the recorded addresses. */
int kernel_check_modules(const struct symbol_options *options, const struct kernel_candidate *c,
                         struct error *err);

#endif
