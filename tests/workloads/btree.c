/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btree: inserts keys into a B-tree and looks them up, by recursive calls.
 *
 * One repeat is about 15 million calls, of btree_insert(), btree_lookup() and btree_find_slot():
 * many short functions, for which counting calls is most expensive. Usage: btree [REPEATS]. Prints
 * calls and keys found.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ORDER 16 /* most keys a node */
#define KEYS 500000u

struct node {
	unsigned count;
	int leaf;
	uint64_t keys[ORDER];
	struct node *children[ORDER + 1];
};

struct split {
	struct node *right; /* NULL: the node had room */
	uint64_t key;
};

struct btree {
	struct node *root;
	struct node *pool;
	size_t used, size;
};

static uint64_t calls;

#define COUNTED __attribute__((noinline))

struct node *btree_node_new(struct btree *t, int leaf);
unsigned btree_find_slot(const struct node *n, uint64_t key);
struct split btree_split(struct btree *t, struct node *n);
struct split btree_insert(struct btree *t, struct node *n, uint64_t key);
int btree_lookup(const struct node *n, uint64_t key);

COUNTED struct node *btree_node_new(struct btree *t, int leaf)
{
	struct node *n;

	calls++;
	if (t->used == t->size)
		abort();
	n = &t->pool[t->used++];
	n->count = 0;
	n->leaf = leaf;
	return n;
}

COUNTED unsigned btree_find_slot(const struct node *n, uint64_t key)
{
	unsigned low = 0, high = n->count;

	calls++;
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (n->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The upper half goes to a new right neighbour, the middle key to the parent. */
COUNTED struct split btree_split(struct btree *t, struct node *n)
{
	struct node *right = btree_node_new(t, n->leaf);
	unsigned half = n->count / 2;
	struct split s = {right, n->keys[half]};

	calls++;
	right->count = n->count - half - 1;
	for (unsigned i = 0; i < right->count; i++)
		right->keys[i] = n->keys[half + 1 + i];
	for (unsigned i = 0; !n->leaf && i <= right->count; i++)
		right->children[i] = n->children[half + 1 + i];
	n->count = half;
	return s;
}

COUNTED struct split btree_insert(struct btree *t, struct node *n, uint64_t key)
{
	unsigned slot = btree_find_slot(n, key);
	struct split none = {NULL, 0}, below = none;

	calls++;
	if (slot < n->count && n->keys[slot] == key)
		return none;
	if (!n->leaf) {
		below = btree_insert(t, n->children[slot], key);
		if (!below.right)
			return none;
		key = below.key;
	}
	for (unsigned i = n->count; i > slot; i--) {
		n->keys[i] = n->keys[i - 1];
		if (!n->leaf)
			n->children[i + 1] = n->children[i];
	}
	n->keys[slot] = key;
	if (!n->leaf)
		n->children[slot + 1] = below.right;
	n->count++;
	return n->count == ORDER ? btree_split(t, n) : none;
}

COUNTED int btree_lookup(const struct node *n, uint64_t key)
{
	unsigned slot = btree_find_slot(n, key);
	int found;

	calls++;
	if (slot < n->count && n->keys[slot] == key)
		return 1;
	if (n->leaf)
		return 0;
	found = btree_lookup(n->children[slot], key);
	__asm__ volatile("" : "+r"(found)); /* keep the recursion: no tail call */
	return found;
}

static uint64_t scramble(uint64_t i)
{
	i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
	i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
	return i ^ (i >> 31);
}

static void grow_root(struct btree *t, struct split s)
{
	struct node *root = btree_node_new(t, 0);

	root->count = 1;
	root->keys[0] = s.key;
	root->children[0] = t->root;
	root->children[1] = s.right;
	t->root = root;
}

int main(int argc, char **argv)
{
	unsigned repeats = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	struct btree t = {.size = KEYS / 4};
	uint64_t found = 0;

	t.pool = calloc(t.size, sizeof *t.pool);
	if (!t.pool)
		return 1;
	for (unsigned r = 0; r < repeats; r++) {
		t.used = 0;
		t.root = btree_node_new(&t, 1);
		for (uint64_t i = 0; i < KEYS; i++) {
			struct split s = btree_insert(&t, t.root, scramble(i));

			if (s.right)
				grow_root(&t, s);
		}
		for (uint64_t i = 0; i < 2 * KEYS; i++)
			found += (uint64_t)btree_lookup(t.root, scramble(i));
	}
	printf("{\"calls\": %llu, \"found\": %llu}\n", (unsigned long long)calls,
	       (unsigned long long)found);
	free(t.pool);
	return 0;
}
