/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children of nodes are found by parent and key, also if only one of both differs. */
#include "base/memory/path_tree.h"

#include "check.h"

enum { PARENTS = 300, KEYS = 70 };

/* Keys that differ in the low or in the high half, or that cancel the parent. */
static uint64_t key_at(uint32_t parent, uint32_t i)
{
	return i % 3 == 0 ? i : i % 3 == 1 ? (uint64_t)i << 32 : ((uint64_t)(parent ^ i) << 32) | i;
}

static void each_child_has_one_id(void)
{
	struct path_tree t = {0};
	uint32_t count = 1, again = 1;

	for (uint32_t parent = 0; parent < PARENTS; parent++)
		for (uint32_t i = 0; i < KEYS; i++, count++) {
			CHECK_EQ(path_tree_find(&t, parent, key_at(parent, i)), 0);
			CHECK_EQ(path_tree_step(&t, parent, key_at(parent, i), count), count);
		}
	CHECK_EQ(t.count, PARENTS * KEYS);
	for (uint32_t parent = 0; parent < PARENTS; parent++)
		for (uint32_t i = 0; i < KEYS; i++, again++) {
			CHECK_EQ(path_tree_step(&t, parent, key_at(parent, i), count), again);
			CHECK_EQ(path_tree_find(&t, parent, key_at(parent, i)), again);
		}
	CHECK_EQ(t.count, PARENTS * KEYS);
	path_tree_done(&t);
}

static void parents_and_keys_are_any_number(void)
{
	struct path_tree t = {0};

	CHECK_EQ(path_tree_find(&t, UINT32_MAX, UINT64_MAX), 0);
	CHECK_EQ(path_tree_step(&t, UINT32_MAX, UINT64_MAX, 7), 7);
	CHECK_EQ(path_tree_step(&t, UINT32_MAX, 0, 8), 8);
	CHECK_EQ(path_tree_step(&t, 0, 0, 9), 9);
	CHECK_EQ(path_tree_find(&t, UINT32_MAX, UINT64_MAX), 7);
	path_tree_done(&t);
	CHECK_EQ(path_tree_find(&t, UINT32_MAX, UINT64_MAX), 0);
}

int main(void)
{
	RUN(each_child_has_one_id);
	RUN(parents_and_keys_are_any_number);
	return check_end();
}
