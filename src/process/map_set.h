/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_set: the mappings of one address space. A process and its forked children share it until one
 * of them changes its mappings.
 *
 * Reference counted: map_set_new() and map_set_ref() return a reference, map_set_unref() releases
 * it. Mappings are sorted by start and never overlap: a new mapping replaces the overlapped part of
 * older ones. Addresses are bytes, ends are exclusive. Not safe for several threads. Uses: base,
 * process.h's mapping.
 */
#ifndef ASSAY_PROCESS_MAP_SET_H
#define ASSAY_PROCESS_MAP_SET_H

#include "base/memory/vec.h"
#include "process/process.h"

struct map_set {
	uint32_t refs;
	uint32_t last;    /* index of the last hit */
	uint64_t version; /* changes with the contents */
	bool generated;   /* has or had a mapping for generated code */
	size_t *held;     /* capacity in mappings of all sets of the owner */
	VEC(struct mapping) maps;
};

/* `held` must outlive the set. */
struct map_set *map_set_new(uint64_t version, size_t *held);
struct map_set *map_set_ref(struct map_set *s);
void map_set_unref(struct map_set *s); /* NULL-safe */

/*
 * Returns a set that only the caller refers to, for writing: s itself, or a copy that replaces it.
 */
struct map_set *map_set_own(struct map_set *s, uint64_t version);
/* Reserves capacity for `count` mappings. */
void map_set_reserve(struct map_set *s, size_t count);
void map_set_insert(struct map_set *s, const struct mapping *m);
/* The order of the oldest of the newest `keep` mappings. */
uint64_t map_set_order(const struct map_set *s, size_t keep);
/* Drops the mappings with an order lower than `order`. Returns their number. */
size_t map_set_drop(struct map_set *s, uint64_t order);
/* The mapping at an address, or NULL. Valid until the next insert. */
const struct mapping *map_set_find(struct map_set *s, uint64_t address);
/* The last mapping of code that begins at or below an address, or NULL. Valid as above. */
const struct mapping *map_set_code_below(const struct map_set *s, uint64_t address);

#endif
