/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_set: the mappings of one address space, shared between a process and
 * what it forked until one of them changes.
 *
 * Reference counted: map_set_new() and map_set_ref() give a reference,
 * map_set_unref() takes it back. Mappings are sorted by start and never
 * overlap: a newer one cuts what was there. Addresses are bytes, ends are
 * exclusive. Not safe for several threads. Uses: base, process.h's mapping.
 */
#ifndef ASSAY_PROCESS_MAP_SET_H
#define ASSAY_PROCESS_MAP_SET_H

#include "base/vec.h"
#include "process/process.h"

struct map_set {
	uint32_t refs;
	uint32_t last;    /* index of the last hit */
	uint64_t version; /* changes with the contents */
	bool generated;   /* there was a mapping for generated code */
	size_t *held;     /* mappings that all sets of the owner have room for */
	VEC(struct mapping) maps;
};

/* `held` must outlive it. */
struct map_set *map_set_new(uint64_t version, size_t *held);
struct map_set *map_set_ref(struct map_set *s);
void map_set_unref(struct map_set *s); /* NULL-safe */

/* A set that the caller alone holds, for writing: s itself, or a copy in its place. */
struct map_set *map_set_own(struct map_set *s, uint64_t version);
/* Makes room for so many mappings. */
void map_set_reserve(struct map_set *s, size_t count);
void map_set_insert(struct map_set *s, const struct mapping *m);
/* The order of the oldest of the newest `keep` mappings. */
uint64_t map_set_order(const struct map_set *s, size_t keep);
/* Drops the mappings of a lower order; how many. */
size_t map_set_drop(struct map_set *s, uint64_t order);
/* The mapping at an address, NULL where none; good until the next insert. */
const struct mapping *map_set_find(struct map_set *s, uint64_t address);

#endif
