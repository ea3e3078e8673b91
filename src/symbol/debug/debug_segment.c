/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debug_segment.h"

#include "base/memory/heap.h"
#include "base/memory/sorted.h"

#include <stdlib.h>

static int compare_spans(const void *pa, const void *pb)
{
	const struct debug_span *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static bool counts_before(const struct debug_span *a, const struct debug_span *b)
{
	if (a->depth != b->depth)
		return a->depth > b->depth;
	if (a->start != b->start)
		return a->start > b->start;
	return a < b;
}

static void add_segment(struct debug_segments *out, size_t first, uint64_t start, uint32_t value)
{
	if (out->count > first ? vec_last(out)->value == value : value == ID_NONE)
		return;
	vec_push(out, (struct debug_segment){start, value, 0});
}

void debug_flatten(struct debug_spans *spans, struct debug_segments *out)
{
	VEC(const struct debug_span *)
	pile = {0}; /* the top is the current span; ended spans are removed late */
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
	sorted_u64(bound, bounds);
	for (size_t i = 0; i < bounds; i++) {
		if (i && bound[i] == bound[i - 1])
			continue;
		for (; next < spans->count && spans->items[next].start == bound[i]; next++)
			heap_push(&pile, &spans->items[next], counts_before);
		while (pile.count && pile.items[0]->end <= bound[i])
			heap_pop(&pile, counts_before);
		add_segment(out, first, bound[i], pile.count ? pile.items[0]->value : ID_NONE);
	}
	free(bound);
	vec_done(&pile);
}

uint32_t debug_segment_at(const struct debug_segment *items, size_t count, uint64_t address)
{
	size_t begun = sorted_count(i, count, items[i].start <= address);

	return begun ? items[begun - 1].value : ID_NONE;
}
