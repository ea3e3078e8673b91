/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of a file of event tags: lists, copies and frees them. See tag_rings.h.
 */
#include "base/clock.h"
#include "source/runtime/tag_rings_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TICKS_MOST (UINT64_C(1) << 62) /* maximum of a valid time */
#define PATIENCE_NS 1000000000         /* delay of a packet with an empty slot */
#define PATIENCE_CROWDED_NS 50000000   /* delay if few packets are free */
#define RETIRED_NS 3000000000          /* minimum time before a retired packet is reused */

/* ---- which packets there are -------------------------------------------- */

static void states_read(struct tag_rings *r)
{
	size_t count = (size_t)r->header.packet_count;

	vec_reserve(&r->states, count + 1);
	r->states.count =
	        tag_rings_read_at(r->fd, r->states.items, count * sizeof(*r->states.items),
	                          r->header.states_offset) /
	        sizeof(*r->states.items);
}

uint64_t tag_rings_used(struct tag_rings *r)
{
	uint64_t used = 0;

	states_read(r);
	vec_each (state, &r->states)
		used += *state != ASSAY_TAGS_FREE;
	return used;
}

static uint64_t place_of(const struct tag_rings *r, uint64_t index)
{
	return r->header.packets_offset + index * r->header.packet_bytes;
}

static bool is_sound(const struct tag_rings *r, const struct assay_tags_packet *p)
{
	uint64_t bits = p->content_bits;

	return p->magic == ASSAY_CTF_MAGIC && p->reserved[0] < ASSAY_TAGS_RINGS &&
	       p->begin < TICKS_MOST && p->end < TICKS_MOST && p->pid >= 0 && p->tid >= 0 &&
	       bits % 64 == 0 && bits / 8 <= r->header.packet_bytes &&
	       (!bits || bits / 8 >= sizeof(*p));
}

static bool header_at(struct tag_rings *r, uint64_t index, struct assay_tags_packet *p)
{
	return tag_rings_read_at(r->fd, p, sizeof(*p), place_of(r, index)) == sizeof(*p);
}

/* Adds a packet to the list if its header is valid. `state` is CLOSED or OPEN. */
static void item_add(struct tag_rings *r, uint64_t index, uint32_t state)
{
	struct assay_tags_packet p;
	bool read = header_at(r, index, &p);

	/* A thread has just taken the packet, which is still empty. */
	if (state == ASSAY_TAGS_OPEN && (!read || !p.magic))
		return;
	if (!read || !is_sound(r, &p)) {
		r->damaged++;
		return;
	}
	vec_push(&r->items, (struct item){.index = index,
	                                  .ring = (uint32_t)p.reserved[0],
	                                  .state = state,
	                                  .sequence = p.sequence,
	                                  .begin = p.begin});
}

static int in_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void items_sort(struct tag_rings *r)
{
	if (r->items.count)
		qsort(r->items.items, r->items.count, sizeof(*r->items.items), in_order);
}

/* ---- a packet ----------------------------------------------------------- */

/*
 * Removes zeros and void words, and returns the number of empty slots. In an open packet, the slots
 * after the last word are unused and are not counted.
 */
static uint64_t words_close_up(uint64_t *words, size_t *count, bool open)
{
	size_t kept = 0, last = *count;
	uint64_t holes = 0;

	while (open && last && !words[last - 1])
		last--;
	for (size_t i = 0; i < last; i++) {
		holes += !words[i];
		if (words[i] && (words[i] & ASSAY_TAGS_TAG_MASK) != ASSAY_TAG_VOID)
			words[kept++] = words[i];
	}
	*count = kept;
	return holes;
}

static uint64_t time_after(uint64_t time, uint64_t word)
{
	return time + (((word >> ASSAY_TAGS_TAG_BITS) - time) & ASSAY_TAGS_CLOCK_MASK);
}

/*
 * Header and words are consistent if the packet was not reused during the copy. A thread that
 * reuses a packet first sets its state and then clears it from the beginning.
 */
static bool packet_copy(struct tag_rings *r, const struct item *item, struct tag_rings_packet *p)
{
	struct assay_tags_packet *h = (struct assay_tags_packet *)r->bytes, after;
	uint64_t bytes = r->header.packet_bytes;
	uint32_t state;

	if (tag_rings_read_at(r->fd, r->bytes, bytes, place_of(r, item->index)) != bytes ||
	    !is_sound(r, h) || !header_at(r, item->index, &after) ||
	    tag_rings_read_at(r->fd, &state, sizeof(state),
	                      r->header.states_offset + item->index * sizeof(state)) !=
	            sizeof(state))
		return false;
	if (after.magic != h->magic || after.sequence != item->sequence ||
	    h->sequence != item->sequence || after.begin != item->begin ||
	    h->begin != item->begin || after.reserved[0] != item->ring ||
	    (item->state == ASSAY_TAGS_CLOSED && state == ASSAY_TAGS_OPEN))
		return false;
	*p = (struct tag_rings_packet){.ring = item->ring,
	                               .header = *h,
	                               .words = (uint64_t *)(h + 1),
	                               .open = item->state == ASSAY_TAGS_OPEN};
	p->count = ((h->content_bits && !p->open ? h->content_bits / 8 : bytes) - sizeof(*h)) / 8;
	return true;
}

/* Updates the header after words were removed. */
static void packet_complete(struct tag_rings_packet *p)
{
	p->header.content_bits = (sizeof(p->header) + p->count * 8) * 8;
	p->header.end =
	        p->count ? time_after(p->header.begin, p->words[p->count - 1]) : p->header.begin;
}

/* The first off time of capture that overlaps the packet; NULL: none. */
static const struct assay_tags_off *off_in(const struct tag_rings *r,
                                           const struct tag_rings_packet *p)
{
	vec_each (off, &r->off)
		if (p->header.end > off->off && p->header.begin < off->on)
			return off;
	return NULL;
}

/* Removes the events from `off` on and before `on`. The later events become the rest. */
static void leave_out(struct tag_rings *r, struct tag_rings_packet *p,
                      const struct assay_tags_off *off)
{
	uint64_t time = p->header.begin, next = time;
	size_t before = 0, after;

	while (before < p->count && (next = time_after(time, p->words[before])) <= off->off) {
		time = next;
		before++;
	}
	for (after = before; after < p->count; after++) {
		next = time_after(time, p->words[after]);
		if (next >= off->on)
			break;
		time = next;
	}
	r->rest = *p;
	r->rest.words += after;
	r->rest.count -= after;
	r->rest.header.begin = next;
	r->rest.header.flags |= after > before ? ASSAY_TAGS_GAP : 0;
	r->rest.holes = 0;
	packet_complete(&r->rest);
	p->count = before;
	packet_complete(p);
	r->has_rest = r->rest.count > 0;
}

/*
 * Removes the events that were written while capture was off. Later events become a packet of their
 * own, after a gap. A packet without events is returned too, because its header has information.
 */
static void capture_apply(struct tag_rings *r, struct tag_rings_packet *p)
{
	const struct assay_tags_off *off;

	while ((off = off_in(r, p))) {
		uint64_t holes = p->holes;

		leave_out(r, p, off);
		if (p->count || !r->has_rest)
			return;
		*p = r->rest;
		p->holes = holes;
		r->has_rest = false;
	}
}

static bool packet_take(struct tag_rings *r, const struct item *item, struct tag_rings_packet *p)
{
	if (!packet_copy(r, item, p))
		return false;
	p->holes = words_close_up((uint64_t *)(r->bytes + sizeof(p->header)), &p->count,
	                          p->open || !p->header.content_bits);
	packet_complete(p);
	return true;
}

static bool rest_take(struct tag_rings *r, struct tag_rings_packet *p)
{
	if (!r->has_rest)
		return false;
	*p = r->rest;
	r->has_rest = false;
	capture_apply(r, p);
	return true;
}

/* ---- draining ----------------------------------------------------------- */

/*
 * A single read of the states is not atomic: a packet may be seen closed while an earlier packet of
 * the ring, which was closed before it, was not. A second read includes all packets before those of
 * the first read; packets later than those are left for the next call.
 */
static void drain_list(struct tag_rings *r)
{
	size_t kept = 0;

	r->items.count = r->at = 0;
	r->look++;
	states_read(r);
	vec_reserve(&r->earlier, r->states.count + 1);
	r->earlier.count = r->states.count;
	if (r->states.count)
		memcpy(r->earlier.items, r->states.items,
		       r->states.count * sizeof(*r->states.items));
	r->crowded = tag_rings_used(r) > r->states.count - r->states.count / 4;
	for (size_t i = 0; i < r->states.count && i < r->earlier.count; i++) {
		size_t count = r->items.count;

		if (r->states.items[i] != ASSAY_TAGS_CLOSED)
			continue;
		item_add(r, i, ASSAY_TAGS_CLOSED);
		if (r->items.count > count)
			vec_last(&r->items)->sure = r->earlier.items[i] == ASSAY_TAGS_CLOSED;
	}
	items_sort(r);
	for (size_t i = 0, end; i < r->items.count; i = end) {
		size_t sure = i;

		for (end = i;
		     end < r->items.count && r->items.items[end].ring == r->items.items[i].ring;
		     end++)
			if (r->items.items[end].sure)
				sure = end + 1;
		while (i < sure)
			r->items.items[kept++] = r->items.items[i++];
	}
	r->items.count = kept;
}

/* The words were read and may be overwritten after this. Only one byte of the state changes. */
static int give_back(struct tag_rings *r, uint64_t index, bool holes, struct error *err)
{
	uint32_t state = holes ? ASSAY_TAGS_RETIRED : ASSAY_TAGS_FREE;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (pwrite(r->fd, &state, sizeof(state),
	           (off_t)(r->header.states_offset + index * sizeof(state))) != sizeof(state))
		return error_set(err, EIO, "%s: cannot free a packet", r->path);
	if (holes)
		vec_push(&r->retired, (struct retired){index, clock_ns(CLOCK_MONOTONIC)});
	return 0;
}

/*
 * A program that jumps out of signal handlers leaves an empty slot each time. The retired packets
 * must not use up the memory, so the oldest are freed if they exceed a quarter of it. No trigger is
 * interrupted for so long.
 */
static int retired_back(struct tag_rings *r, struct error *err)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	size_t back = 0;
	int rc = 0;

	while (!rc && r->retired.count - back > r->states.count / 4 &&
	       now - r->retired.items[back].since_ns >= RETIRED_NS)
		rc = give_back(r, r->retired.items[back++].index, false, err);
	if (back) {
		r->retired.count -= back;
		memmove(r->retired.items, r->retired.items + back,
		        r->retired.count * sizeof(*r->retired.items));
	}
	return rc;
}

static struct late *late_of(struct tag_rings *r, uint32_t ring)
{
	vec_each (late, &r->late)
		if (late->ring == ring)
			return late;
	return NULL;
}

/* An earlier packet of the ring is delayed, so this packet is delayed too. */
static bool is_behind(struct tag_rings *r, const struct item *item)
{
	const struct late *late = late_of(r, item->ring);

	return late && late->look == r->look;
}

static uint64_t newest_of(const struct tag_rings *r, const struct item *item)
{
	const struct item *end = r->items.items + r->items.count, *last = item;

	while (last + 1 < end && last[1].ring == item->ring)
		last++;
	return last->sequence;
}

/*
 * The empty slot belongs to a trigger that a signal handler interrupted, or to a thread that was
 * killed.
 */
static bool waits(struct tag_rings *r, const struct item *item)
{
	struct late *late = late_of(r, item->ring);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (r->ended)
		return false;
	if (!late) {
		late = vec_add(&r->late);
		*late = (struct late){.ring = item->ring, .sequence = UINT64_MAX};
	}
	if (late->sequence != item->sequence) {
		if (late->over && item->sequence <= late->newest)
			return false;
		late->over = false;
		late->sequence = item->sequence;
		late->newest = newest_of(r, item);
		late->since_ns = now;
	}
	late->over = now - late->since_ns >= (r->crowded ? PATIENCE_CROWDED_NS : PATIENCE_NS);
	if (late->over)
		return false;
	late->look = r->look;
	return true;
}

void tag_rings_visit(struct tag_rings *r, uint64_t ticks)
{
	if (pwrite(r->fd, &ticks, sizeof(ticks), offsetof(struct assay_tags_header, drained)) < 0)
		return; /* the file cannot be written, so it is not drained */
}

void tag_rings_ended(struct tag_rings *r)
{
	r->ended = true;
}

int tag_rings_drain(struct tag_rings *r, struct tag_rings_packet *p, struct error *err)
{
	int rc;

	if (rest_take(r, p))
		return 1;
	if (r->listed)
		tag_rings_rewind(r);
	if (r->at >= r->items.count) {
		drain_list(r);
		rc = retired_back(r, err);
		if (rc)
			return rc;
	}
	while (r->at < r->items.count) {
		const struct item *item = &r->items.items[r->at++];
		bool taken;

		if (is_behind(r, item))
			continue;
		taken = packet_take(r, item, p);
		if (taken && p->holes && waits(r, item))
			continue;
		r->damaged += !taken;
		rc = give_back(r, item->index, taken && p->holes, err);
		if (rc)
			return rc;
		if (!taken)
			continue;
		capture_apply(r, p);
		return 1;
	}
	return 0;
}

/* ---- looking ------------------------------------------------------------ */

void tag_rings_rewind(struct tag_rings *r)
{
	r->items.count = r->at = 0;
	r->listed = r->has_rest = false;
}

static void next_list(struct tag_rings *r)
{
	tag_rings_rewind(r);
	states_read(r);
	for (size_t i = 0; i < r->states.count; i++) {
		uint32_t state = r->states.items[i];

		if (state == ASSAY_TAGS_CLOSED || state == ASSAY_TAGS_OPEN)
			item_add(r, i, state);
	}
	items_sort(r);
	r->listed = true;
}

int tag_rings_next(struct tag_rings *r, struct tag_rings_packet *p, struct error *err)
{
	if (rest_take(r, p))
		return 1;
	if (!r->listed)
		next_list(r);
	while (r->at < r->items.count) {
		/* WRAP: if a packet was reused since, it was the oldest packet. */
		if (!packet_take(r, &r->items.items[r->at++], p))
			continue;
		capture_apply(r, p);
		return 1;
	}
	return 0;
}
