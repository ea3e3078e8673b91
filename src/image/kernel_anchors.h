/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_anchors: some functions of a kernel with their addresses, by which a map of its symbols is
 * recognised.
 *
 * A map has no build-id. Another kernel, or another build of the same release, has other distances
 * between its functions, so a few dozen global functions identify a kernel, and two functions of
 * each module identify where the module was loaded. A recording contains those of its kernel.
 *
 * kernel_anchors_add() or kernel_anchors_running(); kernel_anchors_check(); kernel_anchors_done(),
 * which accepts zeros. Errors name the map and the way out. One thread. Uses: base.
 */
#ifndef ASSAY_IMAGE_KERNEL_ANCHORS_H
#define ASSAY_IMAGE_KERNEL_ANCHORS_H

#include "image/kernel.h"

struct kernel_anchor {
	uint64_t address;
	char *name, *module; /* module: "[ext4]"; NULL: the kernel itself */
};

struct kernel_anchors {
	VEC(struct kernel_anchor) items;
	uint64_t text; /* address of _text, else of _stext, of the same kernel; 0: unknown */
};

/* module NULL: the kernel itself. The texts are copied. */
void kernel_anchors_add(struct kernel_anchors *a, uint64_t address, const char *name,
                        const char *module);
void kernel_anchors_done(struct kernel_anchors *a);

/* Chooses the anchors of a complete table. */
void kernel_anchors_choose(struct kernel_anchors *a, const struct kallsyms *k);

/*
 * Those of the running kernel, from the cache if it has those of this boot and of the modules that
 * are now loaded. None if its addresses are hidden. `cache` may be NULL; places NULL: the default
 * files.
 */
void kernel_anchors_running(struct kernel_anchors *a, struct cache_dir *cache,
                            const struct kernel_places *places);

#define KERNEL_ANCHORS_CACHE_KIND "anchors"

/* A table of symbols that is compared. */
struct kernel_map {
	const struct symbol_table *table;
	uint64_t delta;   /* address in the table = address of the anchors' kernel + delta */
	const char *name; /* for errors: "FILE", "/proc/kallsyms" */
};

/*
 * 1: the map has the functions of the kernel at their places. 0: there are too few of them to
 * compare. -ESTALE: it is the map of another kernel, or was changed, or is cut short.
 */
int kernel_anchors_check(const struct kernel_anchors *a, const struct kernel_map *m,
                         struct error *err);
/* The same for the modules. Modules that the map does not have are not compared. */
int kernel_anchors_check_modules(const struct kernel_anchors *a, const struct kernel_map *m,
                                 struct error *err);

#endif
