/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sorted: arrays in order: where a value stands in one, and plain numbers put in order.
 *
 *	size_t at = sorted_count(i, ranges.count, ranges.items[i].start <= address);
 *
 * is the count of ranges that start at the address or before it: the last of them is at - 1, the
 * first that starts later is at `at`. Where an item equals a key or is of no use, there is
 * bsearch(). Uses: base.
 */
#ifndef ASSAY_BASE_MEMORY_SORTED_H
#define ASSAY_BASE_MEMORY_SORTED_H

#include <stddef.h>
#include <stdint.h>

/*
 * How many of `count` items hold `condition`, an expression of their index `i`, where the first
 * ones hold it and the others do not.
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

/* Sorts, least first; `values` may be NULL where there are none. */
void sorted_u64(uint64_t *values, size_t count);
void sorted_doubles(double *values, size_t count); /* no NAN among them */

#endif
