/* SPDX-License-Identifier: MIT */
/*
 * tree: the call paths of a thread. A lookup from (parent, function) to a node tries the parent's
 * cached children, then a hash. Nodes are never moved or freed.
 */
#include "calls/fast.h"

#define HASH_FIRST 1024u
#define CHUNK_MOST (256u << 10)
/*
 * Share of the table reserved for (other), so that a call for which there is no room is counted
 * near its real path.
 */
#define KEPT_SHARE 16

static uint64_t hash_of(uint32_t parent, uint64_t function)
{
	uint64_t x = (function ^ (uint64_t)parent << 40 ^ parent) * 0x9e3779b97f4a7c15u;

	return x >> 32 ^ x >> 8;
}

static struct calls_hash *hash_new(uint64_t slots)
{
	struct calls_hash *h = port_memory(sizeof(*h) + slots * sizeof(h->slots[0]));

	if (h)
		h->mask = slots - 1;
	return h;
}

static void hash_put(struct calls_hash *h, const struct assay_calls_node *node, uint32_t id)
{
	uint64_t i = hash_of(node->parent, node->function) & h->mask;

	while (h->slots[i])
		i = (i + 1) & h->mask;
	h->slots[i] = id;
	h->count++;
}

/*
 * Doubles the hash. The old hash is not freed, since an interrupted lookup may still read it. The
 * old hashes together are no larger than the newest.
 */
static bool hash_grow(struct calls_home *home)
{
	struct calls_hash *old = home->hash, *h = hash_new((old->mask + 1) * 2);

	if (!h)
		return old->count <
		       old->mask; /* continue with longer probes while there is a free slot */
	for (uint64_t i = 0; i <= old->mask; i++)
		if (old->slots[i])
			hash_put(h, calls_node(old->slots[i]), old->slots[i]);
	__atomic_store_n(&home->hash, h, __ATOMIC_RELEASE);
	return true;
}

struct assay_calls_node *calls_tree_find(struct calls_thread *t, struct assay_calls_node *parent,
                                         uint64_t function)
{
	const struct calls_hash *h = __atomic_load_n(&calls_home(t)->hash, __ATOMIC_ACQUIRE);
	uint32_t above = calls_id(parent);

	for (uint64_t i = hash_of(above, function) & h->mask; h->slots[i]; i = (i + 1) & h->mask) {
		struct assay_calls_node *node = calls_node(h->slots[i]);

		if (node->function == function && node->parent == above) {
			if (node->calls >= CALLS_RARE)
				parent->child[calls_way(function)] = h->slots[i];
			return node;
		}
	}
	return NULL;
}

/* Allocates a chunk of nodes. Only `last_resort` may use the reserve for (other). */
static bool more_nodes(struct calls_thread *t, bool last_resort)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_header *h = calls_table.header;
	uint64_t common = calls_room() - h->limit_bytes / KEPT_SHARE;
	uint64_t room = last_resort ? calls_room() : common;
	uint64_t bytes = home->chunk_bytes ? home->chunk_bytes * 2 : ASSAY_CALLS_PAGE;
	uint32_t unit = 0;

	if (bytes > CHUNK_MOST)
		bytes = CHUNK_MOST;
	for (; !unit && bytes >= ASSAY_CALLS_PAGE; bytes /= 2) {
		if (__atomic_load_n(&h->used_bytes, __ATOMIC_RELAXED) + bytes > room)
			continue;
		unit = calls_chunk(ASSAY_CHUNK_NODES, calls_id(t->record), bytes);
		home->chunk_bytes = bytes;
	}
	if (!unit)
		return false;
	((struct assay_calls_chunk *)calls_node(unit))->unused[0] = home->chunks;
	home->is_reserve = (uint64_t)unit * ASSAY_CALLS_UNIT +
	                           ((struct assay_calls_chunk *)calls_node(unit))->bytes >
	                   common;
	home->chunks = unit;
	home->node_next = unit + 1;
	home->node_end = unit + (uint32_t)(((struct assay_calls_chunk *)calls_node(unit))->bytes /
	                                   ASSAY_CALLS_UNIT);
	return true;
}

static struct assay_calls_node *new_node(struct calls_thread *t, uint32_t parent, uint64_t function,
                                         bool last_resort)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_chunk *chunk;
	struct assay_calls_node *node;

	if (home->hash->count * 2 >= home->hash->mask && !hash_grow(home))
		return NULL;
	if (home->node_next == home->node_end && !more_nodes(t, last_resort))
		return NULL;
	if (home->is_reserve && !last_resort)
		return NULL;
	node = calls_node(home->node_next);
	node->function = function;
	node->parent = parent;
	node->min = INT64_MAX;
	node->max = INT64_MIN;
	chunk = (struct assay_calls_chunk *)calls_node(home->chunks);
	__atomic_store_n(&chunk->used, chunk->used + 1, __ATOMIC_RELEASE);
	hash_put(home->hash, node, home->node_next++);
	return node;
}

bool calls_tree_begin(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_node *root;

	home->hash = hash_new(HASH_FIRST);
	home->node_next = home->node_end = home->wait_next = home->wait_end = 0;
	home->times_next = home->times_end = home->times_items = 0;
	home->chunks = 0;
	home->chunk_bytes = 0;
	home->is_reserve = false;
	if (!home->hash)
		return false;
	root = new_node(t, 0, ASSAY_FN_OUTSIDE, true);
	if (!root)
		return false;
	t->record->root = t->record->current = calls_id(root);
	/* The root always has an (other) node, so that the search in other_of() ends. */
	return new_node(t, t->record->root, ASSAY_FN_OTHER, true) && calls_tree_begin_waits(t);
}

static struct assay_calls_node *other_of(struct calls_thread *t, struct assay_calls_node *parent)
{
	for (;;) {
		struct assay_calls_node *node = calls_tree_find(t, parent, ASSAY_FN_OTHER);

		if (!node)
			node = new_node(t, calls_id(parent), ASSAY_FN_OTHER, true);
		if (node)
			return node;
		parent = calls_node(parent->parent); /* the root has one */
	}
}

struct assay_calls_node *calls_tree_child(struct calls_thread *t, struct assay_calls_node *parent,
                                          uint64_t function)
{
	const struct calls_stack *stack = calls_stack(t);
	struct assay_calls_node *node = calls_tree_find(t, parent, function);

	if (node)
		return node;
	if (calls_home(t)->top - stack->frames >= (ptrdiff_t)calls_table.depth_limit) {
		calls_flag(ASSAY_CALLS_DEEP);
		return other_of(t, parent);
	}
	node = new_node(t, calls_id(parent), function, false);
	if (!node) {
		calls_flag(ASSAY_CALLS_FULL);
		return other_of(t, parent);
	}
	port_function(function);
	return node;
}

static struct assay_calls_wait *new_wait(struct calls_thread *t, struct assay_calls_node *node)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_chunk *chunk;
	struct assay_calls_wait *wait;

	if (home->wait_next == home->wait_end) {
		uint32_t unit =
		        calls_chunk(ASSAY_CHUNK_WAITS, calls_id(t->record), ASSAY_CALLS_PAGE);

		if (!unit)
			return NULL;
		home->wait_next = unit + 1;
		home->wait_end = unit + ASSAY_CALLS_PAGE / ASSAY_CALLS_UNIT;
	}
	wait = (struct assay_calls_wait *)calls_node(home->wait_next);
	wait->node = calls_id(node);
	chunk = (struct assay_calls_chunk *)calls_node(home->wait_end -
	                                               ASSAY_CALLS_PAGE / ASSAY_CALLS_UNIT);
	__atomic_store_n(&chunk->used, chunk->used + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&node->wait, home->wait_next++, __ATOMIC_RELEASE);
	return wait;
}

bool calls_tree_begin_waits(struct calls_thread *t)
{
	return new_wait(t, calls_node(t->record->root));
}

struct assay_calls_wait *calls_tree_wait(struct calls_thread *t, struct assay_calls_node *node)
{
	struct assay_calls_wait *wait = NULL;

	if (!node->wait) {
		wait = new_wait(t, node);
		if (!wait)
			calls_flag(ASSAY_CALLS_FULL);
	}
	while (!wait && !node->wait)
		node = calls_node(node->parent); /* the root has one */
	return wait ? wait : (struct assay_calls_wait *)calls_node(node->wait);
}

void calls_tree_restart(struct calls_thread *t)
{
	for (uint32_t unit = calls_home(t)->chunks; unit;) {
		struct assay_calls_chunk *chunk = (struct assay_calls_chunk *)calls_node(unit);
		struct assay_calls_node *nodes = (struct assay_calls_node *)(chunk + 1);

		for (uint64_t i = 0; i < chunk->used; i++) {
			nodes[i].min = INT64_MAX;
			nodes[i].max = INT64_MIN;
		}
		unit = (uint32_t)chunk->unused[0];
	}
}
