/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/descriptor_numbers.h"

static bool equal(const void *ctx, uint32_t id, const void *key)
{
	const struct descriptor_number *a = &((const struct descriptor_numbers *)ctx)
	                                             ->items.items[id],
	                               *b = key;

	return a->process == b->process && a->number == b->number;
}

static uint32_t find(const struct descriptor_numbers *n, uint32_t process, uint32_t number)
{
	const struct descriptor_number key = {.process = process, .number = number};

	return id_table_find(&n->index, hash_pair(process, number), equal, n, &key);
}

void descriptor_numbers_set(struct descriptor_numbers *n, uint32_t process, uint32_t number,
                            uint32_t descriptor)
{
	uint32_t id = find(n, process, number);

	if (id != ID_NONE) {
		n->items.items[id].descriptor = descriptor;
		return;
	}
	id_table_add(&n->index, hash_pair(process, number), (uint32_t)n->items.count);
	vec_push(&n->items, (struct descriptor_number){process, number, descriptor});
}

uint32_t descriptor_numbers_get(const struct descriptor_numbers *n, uint32_t process,
                                uint64_t number)
{
	uint32_t id = number > INT32_MAX ? ID_NONE : find(n, process, (uint32_t)number);

	return id == ID_NONE ? ID_NONE : n->items.items[id].descriptor;
}

void descriptor_numbers_done(struct descriptor_numbers *n)
{
	id_table_done(&n->index);
	vec_done(&n->items);
}
