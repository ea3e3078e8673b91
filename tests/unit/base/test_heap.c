/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of a heap's items is compared with qsort; counts in a sorted array are compared with a
 * linear search.
 */
#include "base/memory/heap.h"
#include "base/memory/sorted.h"
#include "check.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { ROUNDS = 60, MOST = 70 };

struct item {
	uint32_t key, number; /* numbers differ */
};

typedef VEC(struct item) item_list;

/* There are few keys, so that many are equal. */
static uint32_t random_below(uint32_t end)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % end;
}

static bool is_before(struct item a, struct item b)
{
	return a.key != b.key ? a.key < b.key : a.number < b.number;
}

static int compare(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return is_before(*a, *b) ? -1 : is_before(*b, *a);
}

static void sort(item_list *l)
{
	if (l->count)
		qsort(l->items, l->count, sizeof(*l->items), compare);
}

static size_t differences(const item_list *a, const item_list *b)
{
	size_t wrong = a->count != b->count;

	for (size_t i = 0; i < a->count && i < b->count; i++)
		wrong += a->items[i].key != b->items[i].key ||
		         a->items[i].number != b->items[i].number;
	return wrong;
}

static void fill(item_list *l, uint32_t count, uint32_t keys)
{
	l->count = 0;
	for (uint32_t i = 0; i < count; i++)
		vec_push(l, (struct item){random_below(keys), i});
}

/* Drains `heap` in order. */
static void drain(item_list *heap, item_list *out)
{
	out->count = 0;
	while (heap->count) {
		vec_push(out, heap->items[0]);
		heap_pop(heap, is_before);
	}
}

static void items_pushed_come_out_in_order(void)
{
	item_list want = {0}, heap = {0}, got = {0};
	size_t wrong = 0;

	for (uint32_t count = 0; count < MOST; count++) {
		fill(&want, count, 1 + count / 2);
		vec_each (item, &want)
			heap_push(&heap, *item, is_before);
		sort(&want);
		drain(&heap, &got);
		wrong += differences(&got, &want);
	}
	CHECK_EQ(wrong, 0);
	vec_done(&want);
	vec_done(&heap);
	vec_done(&got);
}

static void a_heap_is_made_of_any_order(void)
{
	item_list want = {0}, heap = {0}, got = {0};
	size_t wrong = 0;

	for (uint32_t count = 0; count < MOST; count++) {
		fill(&want, count, 1 + count / 2);
		heap.count = 0;
		vec_each (item, &want)
			vec_push(&heap, *item);
		heap_make(&heap, is_before);
		sort(&want);
		drain(&heap, &got);
		wrong += differences(&got, &want);
	}
	CHECK_EQ(wrong, 0);
	vec_done(&want);
	vec_done(&heap);
	vec_done(&got);
}

/* After mixed pushes and pops, each popped item is the least of those in the heap. */
static void the_least_is_first_whatever_came_before(void)
{
	item_list heap = {0};
	size_t wrong = 0;

	for (uint32_t i = 0; i < 4000; i++) {
		if (heap.count && random_below(MOST) < heap.count)
			heap_pop(&heap, is_before);
		else
			heap_push(&heap, ((struct item){random_below(20), i}), is_before);
		vec_each (item, &heap)
			wrong += is_before(*item, heap.items[0]);
	}
	CHECK(heap.count > 5);
	CHECK_EQ(wrong, 0);
	vec_done(&heap);
}

struct source {
	item_list left;
	size_t at;
};

static bool comes_first(const struct source *a, const struct source *b)
{
	return is_before(a->left.items[a->at], b->left.items[b->at]);
}

/* Sorted lists, some of them empty, become one. */
static void merge(struct source *sources, size_t count, item_list *out)
{
	VEC(struct source *) heap = {0};

	out->count = 0;
	for (size_t i = 0; i < count; i++)
		if (sources[i].left.count)
			vec_push(&heap, &sources[i]);
	heap_make(&heap, comes_first);
	while (heap.count) {
		struct source *s = heap.items[0];

		vec_push(out, s->left.items[s->at]);
		if (++s->at < s->left.count)
			heap_settle(&heap, comes_first);
		else
			heap_pop(&heap, comes_first);
	}
	vec_done(&heap);
}

static void random_merges_are_a_sort(void)
{
	item_list want = {0}, got = {0};
	size_t wrong = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct source sources[17] = {0};
		uint32_t count = round % 18;

		fill(&want, count ? random_below(400) : 0, 30);
		vec_each (item, &want) {
			struct source *to = &sources[random_below(count)];

			vec_push(&to->left, *item);
		}
		sort(&want);
		for (uint32_t i = 0; i < count; i++)
			sort(&sources[i].left);
		merge(sources, count, &got);
		wrong += differences(&got, &want);
		for (uint32_t i = 0; i < count; i++)
			vec_done(&sources[i].left);
	}
	CHECK_EQ(wrong, 0);
	vec_done(&want);
	vec_done(&got);
}

static void counts_in_sorted_arrays(void)
{
	item_list list = {0};
	size_t wrong = 0, tries = 0;

	for (uint32_t count = 0; count < MOST; count++) {
		fill(&list, count, 1 + count / 2);
		sort(&list);
		for (uint32_t key = 0; key < 2 + count / 2; key++, tries++) {
			size_t below = 0, upto = 0;

			vec_each (item, &list) {
				below += item->key < key;
				upto += item->key <= key;
			}
			wrong += sorted_count(i, list.count, list.items[i].key < key) != below;
			wrong += sorted_count(i, list.count, list.items[i].key <= key) != upto;
		}
	}
	CHECK_EQ(wrong, 0);
	CHECK(tries > 1000);
	vec_done(&list);
}

static void plain_numbers_are_sorted(void)
{
	uint64_t numbers[] = {3, UINT64_MAX, 0, (uint64_t)INT64_MAX + 1, 3, 1};
	double values[] = {0.5, -HUGE_VAL, HUGE_VAL, -0.25, 0.5, 1e-300};

	sorted_u64(NULL, 0);
	sorted_doubles(NULL, 0);
	sorted_u64(numbers, 6);
	sorted_doubles(values, 6);
	for (size_t i = 1; i < 6; i++)
		CHECK(numbers[i - 1] <= numbers[i] && values[i - 1] <= values[i]);
	CHECK(numbers[0] == 0 && numbers[1] == 1 && numbers[5] == UINT64_MAX);
	CHECK(values[0] == -HUGE_VAL && values[1] == -0.25 && values[5] == HUGE_VAL);
}

int main(void)
{
	RUN(items_pushed_come_out_in_order);
	RUN(a_heap_is_made_of_any_order);
	RUN(the_least_is_first_whatever_came_before);
	RUN(random_merges_are_a_sort);
	RUN(counts_in_sorted_arrays);
	RUN(plain_numbers_are_sorted);
	return check_end();
}
