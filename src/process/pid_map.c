/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/pid_map.h"

#include "base/memory/hash.h"
#include "base/memory/xalloc.h"

#include <stdlib.h>

static struct pid_slot *slot_of(const struct pid_map *m, int32_t pid)
{
	size_t i = hash_u64((uint32_t)pid) & m->mask;

	while (m->slots[i].used && m->slots[i].pid != pid)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

uint32_t pid_map_get(const struct pid_map *m, int32_t pid)
{
	const struct pid_slot *slot;

	if (!m->slots)
		return ID_NONE;
	slot = slot_of(m, pid);
	return slot->used ? slot->id : ID_NONE;
}

static void grow(struct pid_map *m)
{
	struct pid_map old = *m;
	size_t room = old.slots ? (old.mask + 1) * 2 : 64;

	m->slots = xcalloc(room, sizeof(*m->slots));
	m->mask = room - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].used)
			*slot_of(m, old.slots[i].pid) = old.slots[i];
	free(old.slots);
}

void pid_map_set(struct pid_map *m, int32_t pid, uint32_t id)
{
	struct pid_slot *slot;

	if (!m->slots || m->count * 2 > m->mask)
		grow(m);
	slot = slot_of(m, pid);
	m->count += !slot->used;
	*slot = (struct pid_slot){pid, id, 1};
}

/* Entries after it that were pushed on by others take the free slot, so a search finds them. */
void pid_map_remove(struct pid_map *m, int32_t pid)
{
	struct pid_slot *gap = m->slots ? slot_of(m, pid) : NULL;

	if (!gap || !gap->used)
		return;
	m->count--;
	for (size_t at = (size_t)(gap - m->slots), i = (at + 1) & m->mask; m->slots[i].used;
	     i = (i + 1) & m->mask) {
		size_t home = hash_u64((uint32_t)m->slots[i].pid) & m->mask;

		/* It may move back if the free slot is between its home and its place. */
		if (((i - home) & m->mask) < ((i - at) & m->mask))
			continue;
		m->slots[at] = m->slots[i];
		gap = &m->slots[i];
		at = i;
	}
	*gap = (struct pid_slot){0};
}

void pid_map_done(struct pid_map *m)
{
	free(m->slots);
	*m = (struct pid_map){0};
}
