/* SPDX-License-Identifier: MIT */
/*
 * times: the durations of the calls of each path, from which readers compute percentiles.
 *
 * A call is chosen when it begins, before its duration is known. While the clock is charged, these
 * are the first calls of each path, and later about one in CHARGED_WEIGHT, which stands for as many
 * calls: adding each one would take longer than reading the clock. While the thread counts, it is
 * the call that begins a window, which stands for ASSAY_TIMES_WEIGHT calls. A random number
 * decides, never the clock. Other calls that a window times are not added. The time that this takes
 * is own cost (calls_own_since()). A call that was chosen and whose duration is not known, because
 * its window ended first, is counted as missed.
 *
 * A node's items are a list that begins at its wait record: the sums, then six buckets each. A
 * typical path needs two or three items.
 */
#include "calls/calls.h"
#include "calls/fast.h"

/* Durations take no more than this part of the table, so that paths keep their room. */
#define TIMES_SHARE 2

/* The first calls of a path: fewer when the thread has so many items that they leave the cache. */
#define CHARGED_EACH 1024u
#define CHARGED_FEW 64u
#define ITEMS_FEW 4096u
#define CHARGED_WEIGHT 16u

_Static_assert(ASSAY_TIMES_WEIGHT == CALLS_WINDOWS, "a call that begins a window stands for these");

static struct assay_calls_times *at(uint32_t unit)
{
	return (struct assay_calls_times *)calls_node(unit);
}

static struct assay_calls_times *new_item(struct calls_thread *t, uint32_t node, uint32_t first)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_header *h = calls_table.header;
	struct assay_calls_times *item;
	struct assay_calls_chunk *chunk;
	uint32_t unit;

	if (home->times_next == home->times_end) {
		if (__atomic_load_n(&h->used_bytes, __ATOMIC_RELAXED) >
		    h->limit_bytes / TIMES_SHARE)
			return NULL;
		unit = calls_chunk(ASSAY_CHUNK_TIMES, calls_id(t->record), ASSAY_CALLS_PAGE);
		if (!unit)
			return NULL;
		home->times_next = unit + 1;
		home->times_end = unit + ASSAY_CALLS_PAGE / ASSAY_CALLS_UNIT;
	}
	item = at(home->times_next);
	*item = (struct assay_calls_times){.node = node, .first = first};
	chunk = (struct assay_calls_chunk *)calls_node(home->times_end -
	                                               ASSAY_CALLS_PAGE / ASSAY_CALLS_UNIT);
	__atomic_store_n(&chunk->used, chunk->used + 1, __ATOMIC_RELEASE);
	home->times_next++;
	home->times_items++;
	return item;
}

/* The item of the buckets from `first` on; NULL: there is none. *sums: the item with the sums. */
static struct assay_calls_times *find(const struct assay_calls_node *node, uint32_t first,
                                      struct assay_calls_times **sums)
{
	const struct assay_calls_wait *wait;
	struct assay_calls_times *item;

	*sums = NULL;
	if (!node->wait)
		return NULL;
	wait = (const struct assay_calls_wait *)calls_node(node->wait);
	if (!wait->times)
		return NULL;
	item = *sums = at(wait->times);
	while (item->first != first) {
		if (!item->next)
			return NULL;
		item = at(item->next);
	}
	return item;
}

/* The same. Creates what is missing; signals are held. NULL: there is no room. */
static struct assay_calls_times *make(struct calls_thread *t, struct assay_calls_node *node,
                                      uint32_t first, struct assay_calls_times **sums)
{
	struct assay_calls_times *item = find(node, first, sums);
	struct assay_calls_wait *wait;

	if (item)
		return item;
	wait = calls_tree_wait(t, node);
	if (wait->node != calls_id(node))
		return NULL;
	if (!*sums) {
		*sums = new_item(t, wait->node, ASSAY_TIMES_SUMS);
		if (!*sums)
			return NULL;
		wait->times = calls_id(*sums);
	}
	if (first == ASSAY_TIMES_SUMS)
		return *sums;
	item = new_item(t, wait->node, first);
	if (!item)
		return NULL;
	item->next = (*sums)->next;
	(*sums)->next = calls_id(item);
	return item;
}

/* Calls make() with signals held. */
static __attribute__((noinline)) struct assay_calls_times *
make_held(struct calls_thread *t, struct assay_calls_node *node, uint32_t first,
          struct assay_calls_times **sums)
{
	uint64_t held = port_signals_hold();
	struct assay_calls_times *item = make(t, node, first, sums);

	port_signals_release(held);
	return item;
}

/* The number of calls that the call of a frame represents; 0: the call was not chosen. */
static uint64_t weight_of(struct calls_thread *t, const struct calls_frame *f)
{
	uint64_t calls = f->node->calls;

	if (calls < ASSAY_TIMES_FIRST)
		return 0;
	if (f == t->chosen)
		return ASSAY_TIMES_WEIGHT;
	if (!t->charge)
		return 0;
	if (calls < CHARGED_FEW || (calls < CHARGED_EACH && calls_home(t)->times_items < ITEMS_FEW))
		return 1;
	/* Not by the number of the call: a function and its callees may have the same number. */
	t->random = calls_random(t->random);
	return t->random < UINT32_MAX / CHARGED_WEIGHT ? CHARGED_WEIGHT : 0;
}

bool calls_times_add(struct calls_thread *t, struct calls_frame *f)
{
	struct assay_calls_times *sums, *item;
	uint64_t weight = weight_of(t, f);
	uint32_t bucket, in;

	if (f == t->chosen)
		t->chosen = NULL;
	if (!weight)
		return false;
	bucket = assay_times_bucket(calls_net(f));
	in = bucket % ASSAY_TIMES_BUCKETS;
	item = find(f->node, bucket - in, &sums);
	if (CALLS_UNLIKELY(!item))
		item = make_held(t, f->node, bucket - in, &sums);
	if (!item) {
		/* Without room for its duration, the call is counted as missed. */
		if (sums)
			calls_add(&sums->counts[ASSAY_TIMES_MISSED], weight);
		return true;
	}
	calls_add(&item->counts[in], weight);
	calls_add(&sums->counts[ASSAY_TIMES_TIMED], 1);
	calls_add(&sums->counts[ASSAY_TIMES_SQUARES], weight * weight);
	return true;
}

void calls_times_miss(struct calls_thread *t, struct calls_frame *f)
{
	uint64_t weight = weight_of(t, f);
	struct assay_calls_times *sums;

	if (!weight)
		return;
	if (!find(f->node, ASSAY_TIMES_SUMS, &sums))
		make_held(t, f->node, ASSAY_TIMES_SUMS, &sums);
	if (sums)
		calls_add(&sums->counts[ASSAY_TIMES_MISSED], weight);
}
