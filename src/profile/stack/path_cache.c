/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stack/path_cache.h"

#include <string.h>

#define LAST_CHAINS 64 /* CPUs whose last chain is stored; a power of two */

struct cache_slot {
	uint64_t address;
	uint64_t version; /* of the mappings; 0: no mappings, never cached */
	uint32_t parent, path;
	uint8_t mode; /* enum cpu_mode */
	bool caller;
};

struct chain_frame {
	uint64_t address;
	uint32_t path; /* the path up to this frame, if it is known */
	/* Hash of the addresses up to this frame; determines its slot in the cache. */
	uint32_t hash;
	uint8_t mode; /* enum cpu_mode */
	bool caller;
};

/*
 * The last chain of a CPU, outermost frame first. Successive samples differ in their inner frames,
 * so the path of the common outer frames is found only by comparison.
 */
struct last_chain {
	uint64_t user, kernel; /* versions of the mappings; 0: not valid */
	uint32_t base;         /* path below the first frame */
	VEC(struct chain_frame) frames;
};

/* The outermost frames of deep stacks. Parents are defined earlier, so a cycle is impossible. */
struct outer_stack {
	uint32_t id;     /* its number in the file */
	uint32_t parent; /* index; ID_NONE: none */
	size_t first;    /* in addresses */
	uint32_t count;
	uint32_t depth;   /* frames up to the thread's first */
	uint64_t version; /* of the mappings for which `path` was computed; 0: not computed */
	uint32_t path;
	bool wanted; /* used since the last renewal */
};

struct path_cache {
	struct profile *profile;
	struct cache_slot *slots;
	uint32_t slot_mask;
	VEC(struct outer_stack) outers;
	VEC(uint64_t) addresses; /* of outer stacks, innermost first */
	VEC(uint32_t) way;       /* outer stacks without a path */
	struct id_table outer_index;
	struct last_chain last[LAST_CHAINS];
	struct chain_frame frames[CHAIN_FRAMES]; /* of the current sample, innermost first */
	size_t count;
};

struct path_cache *path_cache_new(struct profile *p, uint32_t slots)
{
	struct path_cache *c = xcalloc(1, sizeof(*c));

	c->profile = p;
	c->slots = xcalloc(slots, sizeof(*c->slots));
	c->slot_mask = slots - 1;
	return c;
}

void path_cache_free(struct path_cache *c)
{
	if (!c)
		return;
	free(c->slots);
	for (size_t i = 0; i < LAST_CHAINS; i++)
		vec_done(&c->last[i].frames);
	vec_done(&c->outers);
	vec_done(&c->addresses);
	vec_done(&c->way);
	id_table_done(&c->outer_index);
	free(c);
}

static void push_frame(struct path_cache *c, uint64_t address, enum cpu_mode mode, bool caller)
{
	if (c->count < CHAIN_FRAMES)
		c->frames[c->count++] = (struct chain_frame){
		        .address = address, .mode = (uint8_t)mode, .caller = caller};
}

/* The mode that a context mark begins; false: the next entries are not addresses. */
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
 * The innermost frame is always the sampled address: a chain may lack the kernel's part
 * (exclude_callchain_kernel), or begin at another instruction than a precise event.
 */
static void read_chain(struct path_cache *c, const struct event *e, bool flat)
{
	const struct event_sample *s = &e->sample;
	enum cpu_mode mode = e->mode;
	bool first =
	        true; /* first address of its mode: the interrupted address, not a return address */

	c->count = 0;
	push_frame(c, s->ip, e->mode, false);
	for (uint32_t i = 0; !flat && s->chain && i < s->chain_count; i++) {
		if (s->chain[i] >= CHAIN_CONTEXT_MAX) {
			if (!mark_mode(s->chain[i], &mode)) {
				c->profile->unknown_marks++;
				return;
			}
			first = true;
			continue;
		}
		/* The first address of the sample's own mode is the sampled address again. */
		if (!(first && c->count == 1 && mode == e->mode) && s->chain[i])
			push_frame(c, s->chain[i], mode, !first);
		first = false;
	}
}

/*
 * An address in no mapping at the place of a return address: chains that follow frame pointers
 * through code without frame pointers contain many such addresses. They all differ and have no
 * meaning, so they become one frame.
 */
static void fold_unknown(struct profile_frame *f)
{
	if (f->caller && f->frame.image == IMAGE_ID_UNKNOWN)
		f->frame.offset = 0;
}

/*
 * The slot in the cache depends only on addresses, not on the paths of the outer frames. So the
 * slots of all frames of a chain can be computed and prefetched before the first one is read.
 */
static uint32_t hash_start(uint64_t version, uint32_t base)
{
	return (uint32_t)hash_pair(version, base);
}

static uint32_t hash_frame(uint32_t hash, uint64_t address)
{
	uint64_t mixed = (address ^ (uint64_t)hash << 32) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(mixed >> 32);
}

static struct cache_slot *slot_of(const struct path_cache *c, uint32_t hash)
{
	return &c->slots[hash & c->slot_mask];
}

static uint32_t step(struct path_cache *c, uint32_t process, uint64_t version, uint32_t parent,
                     const struct chain_frame *f)
{
	struct profile *p = c->profile;
	struct cache_slot *slot = slot_of(c, f->hash);
	struct profile_frame frame = {.kernel = f->mode == CPU_MODE_KERNEL, .caller = f->caller};

	if (slot->address == f->address && slot->parent == parent && slot->version == version &&
	    slot->mode == f->mode && slot->caller == f->caller && version)
		return slot->path;
	frame.frame =
	        process_table_resolve(p->processes, process, (enum cpu_mode)f->mode, f->address);
	fold_unknown(&frame);
	*slot = (struct cache_slot){.address = f->address,
	                            .version = version,
	                            .parent = parent,
	                            .mode = f->mode,
	                            .caller = f->caller};
	slot->path = profile_path_step(p, parent, &frame);
	return slot->path;
}

static bool outer_equal(const void *ctx, uint32_t index, const void *key)
{
	const struct path_cache *c = ctx;

	return c->outers.items[index].id == *(const uint32_t *)key;
}

/* The index of an outer stack; ID_NONE if it was not defined. */
static uint32_t find_outer(const struct path_cache *c, uint32_t id)
{
	return id ? id_table_find(&c->outer_index, hash_u64(id), outer_equal, c, &id) : ID_NONE;
}

void path_cache_define(struct path_cache *c, const struct event_outer_stack *outer)
{
	struct outer_stack new = {.id = outer->id,
	                          .parent = find_outer(c, outer->parent),
	                          .first = c->addresses.count,
	                          .count = outer->count,
	                          .depth = outer->count,
	                          .wanted = true};

	/* A number identifies one stack; a second definition means damage. */
	if (!outer->id || outer->count > OUTER_FRAMES || find_outer(c, outer->id) != ID_NONE)
		return;
	if (new.parent != ID_NONE &&
	    c->outers.items[new.parent].depth > OUTER_FRAMES - outer->count)
		new.parent = ID_NONE;
	if (new.parent != ID_NONE)
		new.depth += c->outers.items[new.parent].depth;
	for (uint32_t i = 0; i < outer->count; i++)
		vec_push(&c->addresses, outer->addresses[i]);
	id_table_add(&c->outer_index, hash_u64(outer->id), (uint32_t)c->outers.count);
	vec_push(&c->outers, new);
}

/* The path of an outer stack in that process: computed from the first parent that has a path. */
static uint32_t outer_path(struct path_cache *c, uint32_t process, uint32_t index)
{
	uint64_t version =
	        process_table_maps_version(c->profile->processes, process, CPU_MODE_USER);
	uint32_t path = PATH_ROOT, hash;

	c->way.count = 0;
	for (; index != ID_NONE; index = c->outers.items[index].parent) {
		struct outer_stack *o = &c->outers.items[index];

		o->wanted = true;
		if (version && o->version == version) {
			path = o->path;
			break;
		}
		vec_push(&c->way, index);
	}
	for (size_t i = c->way.count; i-- > 0;) {
		struct outer_stack *o = &c->outers.items[c->way.items[i]];

		hash = hash_start(version, path);
		for (uint32_t k = o->count; k-- > 0;) {
			struct chain_frame f = {.address = c->addresses.items[o->first + k],
			                        .hash = 0,
			                        .mode = CPU_MODE_USER,
			                        .caller = true};

			f.hash = hash = hash_frame(hash, f.address);
			path = step(c, process, version, path, &f);
		}
		o->version = version;
		o->path = path;
	}
	return path;
}

/* Moves the outer stacks that were used, with their addresses, to the front. */
static void keep_wanted(struct path_cache *c)
{
	size_t kept = 0, addresses = 0;
	uint32_t *moved = xmalloc((c->outers.count + 1) * sizeof(*moved));

	/* Parents precede their children. */
	for (size_t i = c->outers.count; i-- > 0;)
		if (c->outers.items[i].wanted && c->outers.items[i].parent != ID_NONE)
			c->outers.items[c->outers.items[i].parent].wanted = true;
	id_table_clear(&c->outer_index);
	for (size_t i = 0; i < c->outers.count; i++) {
		struct outer_stack o = c->outers.items[i];

		if (!o.wanted)
			continue;
		memmove(c->addresses.items + addresses, c->addresses.items + o.first,
		        o.count * sizeof(*c->addresses.items));
		o.first = addresses;
		o.parent = o.parent == ID_NONE ? ID_NONE : moved[o.parent];
		o.version = 0;
		o.wanted = false;
		moved[i] = (uint32_t)kept;
		id_table_add(&c->outer_index, hash_u64(o.id), (uint32_t)kept);
		c->outers.items[kept++] = o;
		addresses += o.count;
	}
	c->outers.count = kept;
	c->addresses.count = addresses;
	free(moved);
}

void path_cache_renew(struct path_cache *c)
{
	memset(c->slots, 0, (c->slot_mask + (size_t)1) * sizeof(*c->slots));
	for (size_t i = 0; i < LAST_CHAINS; i++)
		c->last[i].user = c->last[i].kernel = 0;
	keep_wanted(c);
}

/* The number of outermost frames that are equal to the CPU's last chain. */
static size_t common_frames(const struct path_cache *c, const struct last_chain *last)
{
	size_t most = last->frames.count < c->count ? last->frames.count : c->count, i;

	for (i = 0; i < most; i++) {
		const struct chain_frame *a = &last->frames.items[i];
		const struct chain_frame *b = &c->frames[c->count - 1 - i];

		if (a->address != b->address || a->mode != b->mode || a->caller != b->caller)
			break;
	}
	return i;
}

/* Copies the frames from `from` on into `last`, and prefetches their slots. */
static void take_frames(struct path_cache *c, struct last_chain *last, size_t from)
{
	uint32_t hash = from ? last->frames.items[from - 1].hash
	                     : hash_start(last->user ^ last->kernel << 32, last->base);

	vec_reserve(&last->frames, c->count);
	for (size_t i = from; i < c->count; i++) {
		struct chain_frame *f = &last->frames.items[i];

		*f = c->frames[c->count - 1 - i];
		f->hash = hash = hash_frame(hash, f->address);
		__builtin_prefetch(slot_of(c, hash));
	}
	last->frames.count = c->count;
}

/* Makes `last` the current chain, on top of path `base`. */
static uint32_t follow(struct path_cache *c, struct last_chain *last, uint32_t process,
                       uint32_t base)
{
	struct process_table *t = c->profile->processes;
	uint64_t user = process_table_maps_version(t, process, CPU_MODE_USER);
	uint64_t kernel = process_table_maps_version(t, process, CPU_MODE_KERNEL);
	bool same = user && kernel && last->user == user && last->kernel == kernel &&
	            last->base == base;
	size_t common = same ? common_frames(c, last) : 0;
	uint32_t path = common ? last->frames.items[common - 1].path : base;

	last->user = user;
	last->kernel = kernel;
	last->base = base;
	take_frames(c, last, common);
	for (size_t i = common; i < c->count; i++) {
		struct chain_frame *f = &last->frames.items[i];
		uint64_t version = f->mode == CPU_MODE_KERNEL ? kernel
		                   : f->mode == CPU_MODE_USER ? user
		                                              : 0;

		path = f->path = step(c, process, version, path, f);
	}
	return path;
}

uint32_t path_cache_path(struct path_cache *c, uint32_t process, const struct event *e, bool flat)
{
	uint32_t base = PATH_ROOT;

	read_chain(c, e, flat);
	if (e->sample.outer && !flat)
		base = outer_path(c, process, find_outer(c, e->sample.outer));
	return follow(c, &c->last[e->cpu & (LAST_CHAINS - 1)], process, base);
}
