/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A treap: random weights keep it balanced for any addresses.
 */
#include "image/elf/span_tree.h"

#define NODE(t, n) (&(t)->nodes.items[n])

static uint32_t node_new(struct span_tree *t, uint64_t start, uint64_t end, uint32_t id)
{
	uint32_t n = t->unused;

	if (!t->nodes.count)
		(void)vec_add(&t->nodes);
	if (n) {
		t->unused = NODE(t, n)->left;
	} else {
		n = (uint32_t)t->nodes.count;
		(void)vec_add(&t->nodes);
	}
	/*
	 * Weights depend on the address of the nodes, so that an attacker who chooses spans cannot
	 * predict them.
	 */
	*NODE(t, n) = (struct span_node){
	        .start = start,
	        .end = end,
	        .weight = (uint32_t)hash_u64(n ^ (uint64_t)(uintptr_t)t->nodes.items),
	        .id = id};
	return n;
}

/* Splits a tree into the spans that start before an address, and the others. */
static void split(struct span_tree *t, uint32_t n, uint64_t address, uint32_t *before,
                  uint32_t *after)
{
	while (n) {
		struct span_node *node = NODE(t, n);

		if (node->start < address) {
			*before = n;
			before = &node->right;
			n = node->right;
		} else {
			*after = n;
			after = &node->left;
			n = node->left;
		}
	}
	*before = *after = 0;
}

/* Joins two trees; all spans of `a` are before all spans of `b`. */
static uint32_t join(struct span_tree *t, uint32_t a, uint32_t b)
{
	uint32_t root = 0, *place = &root;

	while (a && b) {
		if (NODE(t, a)->weight > NODE(t, b)->weight) {
			*place = a;
			place = &NODE(t, a)->right;
			a = *place;
		} else {
			*place = b;
			place = &NODE(t, b)->left;
			b = *place;
		}
	}
	*place = a ? a : b;
	return root;
}

static uint32_t last_of(const struct span_tree *t, uint32_t n)
{
	while (n && NODE(t, n)->right)
		n = NODE(t, n)->right;
	return n;
}

/* Frees a tree without recursion: left children are rotated up. */
static void give_back(struct span_tree *t, uint32_t n)
{
	while (n) {
		struct span_node *node = NODE(t, n);
		uint32_t left = node->left;

		if (left) {
			node->left = NODE(t, left)->right;
			NODE(t, left)->right = n;
			n = left;
			continue;
		}
		left = node->right;
		node->left = t->unused;
		t->unused = n;
		n = left;
	}
}

void span_tree_set(struct span_tree *t, uint64_t start, uint64_t end, uint32_t id)
{
	uint32_t before = 0, within = 0, after = 0, cut, tail = 0, fresh = 0;

	if (start >= end)
		return;
	split(t, t->root, start, &before, &within);
	split(t, within, end, &within, &after);
	/* Only the last of the spans that start before `end` can extend beyond it. */
	cut = within ? last_of(t, within) : last_of(t, before);
	if (cut && NODE(t, cut)->end > end)
		tail = node_new(t, end, NODE(t, cut)->end, NODE(t, cut)->id);
	cut = last_of(t, before);
	if (cut && NODE(t, cut)->end > start)
		NODE(t, cut)->end = start;
	give_back(t, within);
	if (id != ID_NONE)
		fresh = node_new(t, start, end, id);
	t->root = join(t, join(t, before, fresh), join(t, tail, after));
}

uint32_t span_tree_find(const struct span_tree *t, uint64_t address)
{
	uint32_t n = t->root, best = 0;

	while (n) {
		if (NODE(t, n)->start <= address) {
			best = n;
			n = NODE(t, n)->right;
		} else {
			n = NODE(t, n)->left;
		}
	}
	return best && address < NODE(t, best)->end ? NODE(t, best)->id : ID_NONE;
}

void span_tree_done(struct span_tree *t)
{
	vec_done(&t->nodes);
	t->root = t->unused = 0;
}
