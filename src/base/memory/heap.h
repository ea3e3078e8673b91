/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap: a binary heap in a VEC, for merges and for lists of due times. The first item is the
 * least.
 *
 *	static bool earlier(const struct run *a, const struct run *b) { ... }
 *	VEC(struct run *) heap = {0};
 *	vec_push(&heap, run);          for each; then once:
 *	heap_make(&heap, earlier);
 *	while (heap.count) {
 *		if (advance(heap.items[0]))            the item has a new key
 *			heap_settle(&heap, earlier);
 *		else
 *			heap_pop(&heap, earlier);
 *	}
 *
 * `before(a, b)` is a function of two items of the VEC, which the compiler inlines; for large items
 * it can be a macro, which copies nothing. The order of equal items is undefined. Uses: base.
 */
#ifndef ASSAY_BASE_MEMORY_HEAP_H
#define ASSAY_BASE_MEMORY_HEAP_H

#include "base/memory/vec.h"

/* Moves the item at `place` down, below the items that are before it. */
#define heap_sink(v, place, before)                                                                \
	do {                                                                                       \
		__typeof__((v)->items) heap_ = (v)->items;                                         \
		size_t heap_count_ = (v)->count, at_ = (place), child_;                            \
		__typeof__(*heap_) sinking_ = heap_[at_];                                          \
		while ((child_ = 2 * at_ + 1) < heap_count_) {                                     \
			child_ += child_ + 1 < heap_count_ &&                                      \
			          before(heap_[child_ + 1], heap_[child_]);                        \
			if (!before(heap_[child_], sinking_))                                      \
				break;                                                             \
			heap_[at_] = heap_[child_];                                                \
			at_ = child_;                                                              \
		}                                                                                  \
		heap_[at_] = sinking_;                                                             \
	} while (0)

/* Builds the heap from items in any order. */
#define heap_make(v, before)                                                                       \
	do {                                                                                       \
		for (size_t rest_ = (v)->count / 2; rest_-- > 0;)                                  \
			heap_sink(v, rest_, before);                                               \
	} while (0)

/* Restores the heap after a change of the first item. */
#define heap_settle(v, before) heap_sink(v, 0, before)

/* Removes the first item; the heap must not be empty. */
#define heap_pop(v, before)                                                                        \
	do {                                                                                       \
		(v)->items[0] = (v)->items[--(v)->count];                                          \
		if ((v)->count)                                                                    \
			heap_settle(v, before);                                                    \
	} while (0)

#define heap_push(v, item, before)                                                                 \
	do {                                                                                       \
		size_t free_ = (v)->count, above_;                                                 \
		vec_push(v, item);                                                                 \
		__typeof__((v)->items) heap_ = (v)->items;                                         \
		__typeof__(*heap_) rising_ = heap_[free_];                                         \
		for (; free_; free_ = above_) {                                                    \
			above_ = (free_ - 1) / 2;                                                  \
			if (!before(rising_, heap_[above_]))                                       \
				break;                                                             \
			heap_[free_] = heap_[above_];                                              \
		}                                                                                  \
		heap_[free_] = rising_;                                                            \
	} while (0)

#endif
