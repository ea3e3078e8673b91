/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The durations of calls in a table: items of 64 bytes, each with a part of a node's buckets. */
#include "format/calls/calls_file_internal.h"

#include "base/memory/sorted.h"

#include <math.h>
#include <string.h>

/* The `first` of the last item that can have a bucket. */
#define FIRST_MOST (488 / ASSAY_TIMES_BUCKETS * ASSAY_TIMES_BUCKETS)

void calls_times_read(struct calls_file_table *t, const struct calls_chunk *c)
{
	struct calls_times_item item;

	for (uint64_t i = 0; i < c->used; i++) {
		uint64_t at = c->offset + i * sizeof(item.raw);

		memcpy(&item.raw, t->bytes + at, sizeof(item.raw));
		item.unit = (uint32_t)(at / ASSAY_CALLS_UNIT);
		item.node = calls_table_node(t, item.raw.node);
		if (item.node == ID_NONE ||
		    (item.raw.first != ASSAY_TIMES_SUMS &&
		     (item.raw.first > FIRST_MOST || item.raw.first % ASSAY_TIMES_BUCKETS))) {
			t->damaged |= item.raw.node != 0;
			continue;
		}
		vec_push(&t->times, item);
	}
}

void calls_times_subtract(const struct calls_file_table *base, struct calls_file_table *t)
{
	vec_each (item, &t->times) {
		size_t at =
		        sorted_count(i, base->times.count, base->times.items[i].unit < item->unit);
		const struct calls_times_item *was = &base->times.items[at];

		if (at == base->times.count || was->unit != item->unit ||
		    was->raw.node != item->raw.node || was->raw.first != item->raw.first)
			continue;
		for (unsigned i = 0; i < ASSAY_TIMES_BUCKETS; i++)
			item->raw.counts[i] -= was->raw.counts[i];
	}
}

void calls_times_add(const struct calls_times_item *item, double rate,
                     const struct calls_node *node, struct call_times *to)
{
	const uint64_t *counts = item->raw.counts;

	if (item->raw.first == ASSAY_TIMES_SUMS) {
		to->timed += counts[ASSAY_TIMES_TIMED];
		to->squares += counts[ASSAY_TIMES_SQUARES];
		to->missed += counts[ASSAY_TIMES_MISSED];
		to->error_ns += (double)counts[ASSAY_TIMES_TIMED] * node->times_error_ns +
		                (double)counts[ASSAY_TIMES_ERROR] * rate;
		return;
	}
	for (uint32_t i = 0; i < ASSAY_TIMES_BUCKETS; i++)
		if (counts[i])
			call_times_count(
			        to, call_times_middle(item->raw.first + i) * rate + node->shift_ns,
			        counts[i]);
}

void calls_times_write(const struct call_times *times, double scale, uint32_t node, struct buf *out)
{
	struct assay_calls_times item = {.node = node, .first = ASSAY_TIMES_SUMS};
	uint32_t bucket, first;

	item.counts[ASSAY_TIMES_TIMED] = times->timed;
	item.counts[ASSAY_TIMES_SQUARES] = times->squares;
	item.counts[ASSAY_TIMES_MISSED] = times->missed;
	item.counts[ASSAY_TIMES_ERROR] = (uint64_t)fmin(times->error_ns * scale, 0x1p62);
	vec_each (b, &times->buckets) {
		bucket = assay_times_bucket((int64_t)(call_times_bucket_ns(b->bucket) * scale));
		first = bucket / ASSAY_TIMES_BUCKETS * ASSAY_TIMES_BUCKETS;
		if (first != item.first) {
			buf_add(out, &item, sizeof(item));
			item = (struct assay_calls_times){.node = node, .first = first};
		}
		item.counts[bucket - first] += b->count;
	}
	buf_add(out, &item, sizeof(item));
}
