/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sorted: binary search in sorted arrays, and sorting of plain numbers.
 *
 *	size_t at = sorted_count(i, ranges.count, ranges.items[i].start <= address);
 *
 * is the count of ranges that start at or before the address: the last of them has index at - 1,
 * and the first range that starts later has index `at`. To find only an item that equals a key, use
 * bsearch(). Uses: base.
 */
#ifndef ASSAY_BASE_MEMORY_SORTED_H
#define ASSAY_BASE_MEMORY_SORTED_H

#include <stddef.h>
#include <stdint.h>

/*
 * How many of `count` items satisfy `condition`, an expression of their index `i`. The items that
 * satisfy it must come before all others.
 */
#define sorted_count(i, count, condition)                                                          \
	({                                                                                         \
		size_t low_ = 0, high_ = (count);                                                  \
		while (low_ < high_) {                                                             \
			size_t i = low_ + (high_ - low_) / 2;                                      \
			if (condition)                                                             \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

/* Sorts in ascending order; `values` may be NULL if `count` is 0. */
void sorted_u64(uint64_t *values, size_t count);
/* Without NAN. */
void sorted_doubles(double *values, size_t count);
void sorted_floats(float *values, size_t count);

#endif
