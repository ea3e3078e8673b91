/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/wait_addresses.h"

/* Smaller numbers are descriptors, sizes and flags. The kernel maps nothing there by default. */
#define LOWEST_ADDRESS 65536

static bool is_address(const void *ctx, uint32_t id, const void *key)
{
	const struct wait_address *item = &((const struct wait_addresses *)ctx)->items.items[id];
	const struct wait_address *wanted = key;

	return item->process == wanted->process && item->address == wanted->address;
}

static uint32_t find(const struct wait_addresses *p, const struct wait_address *key)
{
	return id_table_find(&p->index, hash_pair(key->process, key->address), is_address, p, key);
}

void wait_addresses_add(struct wait_addresses *p, struct process_table *processes, uint32_t process,
                        uint64_t address)
{
	struct wait_address a = {.process = process, .address = address, .region = ID_NONE};
	const struct mapping *code, *region;

	if (address < LOWEST_ADDRESS || p->items.count == WAIT_ADDRESSES_MAX ||
	    find(p, &a) != ID_NONE)
		return;
	code = process_table_code_below(processes, process, address);
	if (code) {
		a.code = (struct frame){code->image, code->pgoff};
		a.code_address = code->start;
	}
	region = process_table_mapping(processes, process, address);
	if (region)
		a.region = region->image;
	id_table_add(&p->index, hash_pair(process, address), (uint32_t)p->items.count);
	vec_push(&p->items, a);
}

void wait_addresses_put(struct wait_addresses *p, const struct wait_address *address)
{
	if (p->items.count == WAIT_ADDRESSES_MAX || find(p, address) != ID_NONE)
		return;
	id_table_add(&p->index, hash_pair(address->process, address->address),
	             (uint32_t)p->items.count);
	vec_push(&p->items, *address);
}

const struct wait_address *wait_addresses_find(const struct wait_addresses *p, uint32_t process,
                                               uint64_t address)
{
	uint32_t id = find(p, &(struct wait_address){.process = process, .address = address});

	return id != ID_NONE ? &p->items.items[id] : NULL;
}

void wait_addresses_done(struct wait_addresses *p)
{
	vec_done(&p->items);
	id_table_done(&p->index);
}
