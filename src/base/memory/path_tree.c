/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/path_tree.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>

/* The slot of the child, or the free slot in which it would be stored. */
static struct path_slot *slot_of(const struct path_tree *t, uint32_t parent, uint64_t key)
{
	uint64_t mixed = (key ^ parent * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
	size_t i = (mixed ^ mixed >> 32) & t->mask;

	while (t->slots[i].id && (t->slots[i].parent != parent || t->slots[i].key != key))
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

/*
 * The load is at most 5/8: with 16 bytes for each slot, memory costs more than a few more probes.
 */
static void grow(struct path_tree *t, size_t slots)
{
	struct path_tree old = *t;

	t->mask = slots - 1;
	t->slots = xcalloc(t->mask + 1, sizeof(*t->slots));
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].id)
			*slot_of(t, old.slots[i].parent, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

void path_tree_reserve(struct path_tree *t, size_t count)
{
	size_t slots = t->slots ? t->mask + 1 : 64;

	while (t->count + count > slots / 8 * 5)
		slots *= 2;
	if (!t->slots || slots > t->mask + 1)
		grow(t, slots);
}

uint32_t path_tree_find(const struct path_tree *t, uint32_t parent, uint64_t key)
{
	return t->slots ? slot_of(t, parent, key)->id : 0;
}

uint32_t path_tree_step(struct path_tree *t, uint32_t parent, uint64_t key, uint32_t next)
{
	struct path_slot *slot;

	path_tree_reserve(t, 1);
	slot = slot_of(t, parent, key);
	if (!slot->id) {
		*slot = (struct path_slot){key, parent, next};
		t->count++;
	}
	return slot->id;
}

void path_tree_done(struct path_tree *t)
{
	free(t->slots);
	*t = (struct path_tree){0};
}
