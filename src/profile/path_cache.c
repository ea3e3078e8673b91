/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/path_cache.h"

#define CACHE_SLOTS (1u << 15)

struct cache_slot {
	uint64_t address;
	uint64_t version; /* of the maps; 0: no maps, never cached */
	uint32_t parent;
	uint16_t mode; /* enum cpu_mode */
	bool caller;
	uint32_t path;
};

struct chain_frame {
	uint64_t address;
	enum cpu_mode mode;
	bool caller;
};

struct path_cache {
	struct profile *profile;
	struct cache_slot *slots;
	struct chain_frame frames[CHAIN_FRAMES];
	size_t count;
};

struct path_cache *path_cache_new(struct profile *p)
{
	struct path_cache *c = xcalloc(1, sizeof(*c));

	c->profile = p;
	c->slots = xcalloc(CACHE_SLOTS, sizeof(*c->slots));
	return c;
}

void path_cache_free(struct path_cache *c)
{
	if (!c)
		return;
	free(c->slots);
	free(c);
}

static void push_frame(struct path_cache *c, uint64_t address, enum cpu_mode mode, bool caller)
{
	if (c->count < CHAIN_FRAMES)
		c->frames[c->count++] = (struct chain_frame){address, mode, caller};
}

/* The mode that a mark announces; false: what follows is no address. */
static bool mark_mode(uint64_t mark, enum cpu_mode *mode)
{
	static const uint64_t guest[] = {(uint64_t)-2048, (uint64_t)-2176, (uint64_t)-2560};

	*mode = CPU_MODE_UNKNOWN;
	if (mark == CHAIN_CONTEXT_KERNEL)
		*mode = CPU_MODE_KERNEL;
	else if (mark == CHAIN_CONTEXT_USER)
		*mode = CPU_MODE_USER;
	else if (mark == CHAIN_CONTEXT_HYPERVISOR)
		*mode = CPU_MODE_HYPERVISOR;
	for (size_t i = 0; i < sizeof(guest) / sizeof(*guest); i++)
		if (mark == guest[i])
			*mode = CPU_MODE_GUEST;
	return *mode != CPU_MODE_UNKNOWN;
}

/*
 * The innermost frame is the sampled address, whatever the chain says: a chain
 * may lack the part of the kernel (exclude_callchain_kernel) or start at
 * another instruction than a precise event did.
 */
static void read_chain(struct path_cache *c, const struct event *e, bool flat)
{
	const struct event_sample *s = &e->sample;
	enum cpu_mode mode = e->mode;
	bool first = true; /* of its mode: where it was interrupted, not a return address */

	c->count = 0;
	push_frame(c, s->ip, e->mode, false);
	for (uint32_t i = 0; !flat && s->chain && i < s->chain_count; i++) {
		if (s->chain[i] >= CHAIN_CONTEXT_MAX) {
			if (!mark_mode(s->chain[i], &mode))
				return;
			first = true;
			continue;
		}
		/* The first address of the sample's own mode is the sampled one again. */
		if (!(first && c->count == 1 && mode == e->mode) && s->chain[i])
			push_frame(c, s->chain[i], mode, !first);
		first = false;
	}
}

static uint32_t step(struct path_cache *c, uint32_t process, uint32_t parent,
                     const struct chain_frame *f)
{
	struct profile *p = c->profile;
	uint64_t version = process_table_maps_version(p->processes, process, f->mode);
	uint64_t hash =
	        (f->address ^ version << 40) * 0x9e3779b97f4a7c15u ^ parent * 0xd6e8feb86659fd93u;
	struct cache_slot *slot = &c->slots[hash >> 32 & (CACHE_SLOTS - 1)];
	struct profile_frame frame = {.kernel = f->mode == CPU_MODE_KERNEL, .caller = f->caller};

	if (slot->address == f->address && slot->parent == parent && slot->version == version &&
	    slot->mode == f->mode && slot->caller == f->caller && version)
		return slot->path;
	frame.frame = process_table_resolve(p->processes, process, f->mode, f->address);
	*slot = (struct cache_slot){.address = f->address,
	                            .version = version,
	                            .parent = parent,
	                            .mode = (uint16_t)f->mode,
	                            .caller = f->caller};
	slot->path = profile_path_add(p, parent, profile_frame_add(p, &frame));
	return slot->path;
}

uint32_t path_cache_path(struct path_cache *c, uint32_t process, const struct event *e, bool flat)
{
	uint32_t path = PATH_ROOT;

	read_chain(c, e, flat);
	for (size_t i = c->count; i-- > 0;)
		path = step(c, process, path, &c->frames[i]);
	return path;
}
