/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_times: how many calls of each function took how long, for percentiles.
 *
 * A zeroed struct is empty; tag_times_done() frees. Durations are in the buckets of
 * assay_times_bucket() (include/assay/wire.h), in ticks: eight for each power of two. Memory is
 * bounded: for each function 248 bytes, and 64 bytes for each power of two in which a call was.
 * Nothing fails. One thread. Uses: base, include/assay.
 */
#ifndef ASSAY_TAGS_TAG_TIMES_H
#define ASSAY_TAGS_TAG_TIMES_H

#include "assay/wire.h"
#include "base/memory/vec.h"

#include <stdint.h>

#define TAG_TIMES_BUCKETS 496u
#define TAG_TIMES_PAGES (TAG_TIMES_BUCKETS / 8)

struct tag_times_page {
	uint64_t count[8];
};

struct tag_times {
	VEC(uint32_t) index;              /* TAG_TIMES_PAGES for each function; 0: no page */
	VEC(struct tag_times_page) pages; /* [0] is none */
};

void tag_times_done(struct tag_times *t);
/* Makes room for functions below `count`. */
void tag_times_reserve(struct tag_times *t, size_t count);
/* Adds the page of a function's bucket, and returns its index. */
uint32_t tag_times_add_page(struct tag_times *t, uint32_t function, uint32_t bucket);
/* Removes all calls, and keeps the room. */
void tag_times_clear(struct tag_times *t);
static inline uint32_t tag_times_bucket(uint64_t ticks)
{
	return assay_times_bucket(ticks > INT64_MAX ? INT64_MAX : (int64_t)ticks);
}
/* tag_times_reserve() must have made room for the function. */
static inline void tag_times_add(struct tag_times *t, uint32_t function, uint32_t bucket,
                                 uint64_t calls)
{
	uint32_t page = t->index.items[function * TAG_TIMES_PAGES + bucket / 8];

	if (__builtin_expect(!page, 0))
		page = tag_times_add_page(t, function, bucket);
	t->pages.items[page].count[bucket % 8] += calls;
}
static inline void tag_times_count(struct tag_times *t, uint32_t function, uint64_t ticks,
                                   uint64_t calls)
{
	tag_times_add(t, function, tag_times_bucket(ticks), calls);
}
/* Calls in a bucket; 0 for functions without room. */
uint64_t tag_times_at(const struct tag_times *t, uint32_t function, uint32_t bucket);
/* Adds the calls of a function of `from`. */
void tag_times_merge(struct tag_times *t, uint32_t function, const struct tag_times *from,
                     uint32_t other);

#endif
