/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug_segment.h"

#include <stdlib.h>

/* A heap of span numbers: the one that counts on top, those that ended are taken away late. */
struct pile {
	const struct debug_span *spans;
	VEC(uint32_t) items;
};

static int compare_spans(const void *pa, const void *pb)
{
	const struct debug_span *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static int compare_addresses(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

static bool counts_before(const struct pile *p, uint32_t a, uint32_t b)
{
	const struct debug_span *x = &p->spans[a], *y = &p->spans[b];

	if (x->depth != y->depth)
		return x->depth > y->depth;
	if (x->start != y->start)
		return x->start > y->start;
	return a < b;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

static void pile_push(struct pile *p, uint32_t span)
{
	size_t at = p->items.count;

	vec_push(&p->items, span);
	for (size_t up; at; at = up) {
		up = (at - 1) / 2;
		if (!counts_before(p, p->items.items[at], p->items.items[up]))
			break;
		swap(&p->items.items[at], &p->items.items[up]);
	}
}

static void pile_pop(struct pile *p)
{
	uint32_t *items = p->items.items;
	size_t count = --p->items.count, at = 0, down;

	items[0] = items[count];
	for (;; at = down) {
		down = 2 * at + 1;
		if (down >= count)
			break;
		if (down + 1 < count && counts_before(p, items[down + 1], items[down]))
			down++;
		if (!counts_before(p, items[down], items[at]))
			break;
		swap(&items[at], &items[down]);
	}
}

static void add_segment(struct debug_segments *out, size_t first, uint64_t start, uint32_t value)
{
	if (out->count > first ? vec_last(out)->value == value : value == ID_NONE)
		return;
	vec_push(out, (struct debug_segment){start, value, 0});
}

void debug_flatten(struct debug_spans *spans, struct debug_segments *out)
{
	struct pile pile = {.spans = spans->items};
	size_t bounds = 2 * spans->count, first = out->count, next = 0;
	uint64_t *bound;

	if (!spans->count)
		return;
	qsort(spans->items, spans->count, sizeof(*spans->items), compare_spans);
	bound = xcalloc(bounds, sizeof(*bound));
	for (size_t i = 0; i < spans->count; i++) {
		bound[2 * i] = spans->items[i].start;
		bound[2 * i + 1] = spans->items[i].end;
	}
	qsort(bound, bounds, sizeof(*bound), compare_addresses);
	for (size_t i = 0; i < bounds; i++) {
		if (i && bound[i] == bound[i - 1])
			continue;
		for (; next < spans->count && spans->items[next].start == bound[i]; next++)
			pile_push(&pile, (uint32_t)next);
		while (pile.items.count && spans->items[pile.items.items[0]].end <= bound[i])
			pile_pop(&pile);
		add_segment(out, first, bound[i],
		            pile.items.count ? spans->items[pile.items.items[0]].value : ID_NONE);
	}
	free(bound);
	vec_done(&pile.items);
}

uint32_t debug_segment_at(const struct debug_segment *items, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? items[low - 1].value : ID_NONE;
}
