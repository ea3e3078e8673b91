/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/time_axis.h"

#include "base/memory/xalloc.h"

#define BLOCK_BYTES 4096 /* with its header */
#define ENTRY_MAX 40     /* bytes of the longest entry */
#define SHIFT_MAX 46     /* a tick of 20 hours */
#define STEP_SHIFT 10    /* of TIME_AXIS_STEP_NS */
#define COARSER 2        /* added to the shift when the limit is reached */

/* Flags in the lowest bits of an entry's first varint; the other bits are the ticks. */
#define SAME_ROW 1u
#define ONE_MORE 2u /* one sample of the same weight as the previous entry */
#define FLAG_BITS 2

struct time_block {
	struct time_state start; /* the state before its first entry */
	uint64_t tick;           /* tick of its first entry */
	size_t used;
	uint8_t bytes[];
};

#define BLOCK_ROOM (BLOCK_BYTES - sizeof(struct time_block))

_Static_assert(1u << STEP_SHIFT == TIME_AXIS_STEP_NS, "the first step");

void time_axis_init(struct time_axis *a, uint64_t limit)
{
	*a = (struct time_axis){.limit = limit, .shift = STEP_SHIFT};
}

static void track_done(struct time_track *t)
{
	vec_each (block, &t->blocks)
		free(*block);
	vec_done(&t->blocks);
}

void time_axis_done(struct time_axis *a)
{
	vec_each (track, &a->tracks)
		track_done(track);
	vec_done(&a->tracks);
}

void time_axis_clear(struct time_axis *a)
{
	vec_each (track, &a->tracks) {
		vec_each (block, &track->blocks)
			free(*block);
		track->blocks.count = 0;
		track->last = (struct time_state){0};
	}
	a->bytes = 0;
	a->shift = STEP_SHIFT;
}

uint32_t time_axis_track(struct time_axis *a, uint32_t recording, uint16_t cpu, uint8_t event)
{
	for (size_t i = a->tracks.count; i-- > 0;) {
		const struct time_track *t = &a->tracks.items[i];

		if (t->recording == recording && t->cpu == cpu && t->event == event)
			return (uint32_t)i;
	}
	vec_push(&a->tracks,
	         (struct time_track){.recording = recording, .cpu = cpu, .event = event});
	return (uint32_t)a->tracks.count - 1;
}

uint64_t time_axis_step_ns(const struct time_axis *a)
{
	uint64_t tick_ns = (uint64_t)1 << a->shift;

	return a->window_ns > tick_ns ? a->window_ns : tick_ns;
}

static uint8_t *put(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

static inline const uint8_t *get(const uint8_t *from, uint64_t *value)
{
	uint64_t byte = *from++;

	*value = byte & 0x7f;
	for (unsigned shift = 7; byte & 0x80; shift += 7) {
		byte = *from++;
		*value |= (byte & 0x7f) << shift;
	}
	return from;
}

static uint32_t zigzag(int32_t value)
{
	return (uint32_t)value << 1 ^ (uint32_t)(value >> 31);
}

static int32_t unzigzag(uint32_t value)
{
	return (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
}

/* Encodes an entry after *last, and stores it in *last. */
static uint8_t *encode(uint8_t *to, struct time_state *last, uint64_t tick,
                       const struct time_entry *e)
{
	bool same_unit = e->weight == e->samples * last->unit;
	bool one_more = e->samples == 1 && same_unit, same_row = e->row == last->row;

	to = put(to, (tick - last->tick) << FLAG_BITS | (same_row ? SAME_ROW : 0) |
	                     (one_more ? ONE_MORE : 0));
	if (!same_row)
		to = put(to, zigzag((int32_t)(e->row - last->row)));
	if (!one_more)
		to = put(to, e->samples << 1 | same_unit);
	if (!same_unit) {
		to = put(to, e->weight);
		last->unit = e->samples ? e->weight / e->samples : 0;
	}
	last->tick = tick;
	last->row = e->row;
	return to;
}

static inline const uint8_t *decode(const uint8_t *from, struct time_state *last,
                                    struct time_entry *e)
{
	uint64_t head, row, count;

	from = get(from, &head);
	last->tick += head >> FLAG_BITS;
	if (!(head & SAME_ROW)) {
		from = get(from, &row);
		last->row += (uint32_t)unzigzag((uint32_t)row);
	}
	e->samples = 1;
	e->weight = last->unit;
	if (!(head & ONE_MORE)) {
		from = get(from, &count);
		e->samples = count >> 1;
		e->weight = e->samples * last->unit;
		if (!(count & 1)) {
			from = get(from, &e->weight);
			last->unit = e->samples ? e->weight / e->samples : 0;
		}
	}
	e->row = last->row;
	return from;
}

static struct time_block *block_with_room(struct time_axis *a, struct time_track *t, uint64_t tick)
{
	struct time_block *block = t->blocks.count ? *vec_last(&t->blocks) : NULL;

	if (block && block->used + ENTRY_MAX <= BLOCK_ROOM)
		return block;
	block = xmalloc(BLOCK_BYTES);
	block->start = t->last;
	block->tick = tick;
	block->used = 0;
	a->bytes += BLOCK_BYTES;
	vec_push(&t->blocks, block);
	return block;
}

static void append(struct time_axis *a, struct time_track *t, uint64_t tick,
                   const struct time_entry *e)
{
	struct time_block *block;

	if (tick < t->last.tick)
		tick = t->last.tick;
	block = block_with_room(a, t, tick);
	block->used =
	        (size_t)(encode(block->bytes + block->used, &t->last, tick, e) - block->bytes);
}

typedef VEC(struct time_entry) time_entries;

static int by_row(const void *a, const void *b)
{
	const struct time_entry *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

/* One entry for each row. */
static void merge(time_entries *entries)
{
	size_t kept = 0;

	if (entries->count < 2)
		return;
	qsort(entries->items, entries->count, sizeof(*entries->items), by_row);
	for (size_t i = 1; i < entries->count; i++) {
		struct time_entry *to = &entries->items[kept], *e = &entries->items[i];

		if (e->row != to->row) {
			entries->items[++kept] = *e;
			continue;
		}
		to->samples += e->samples;
		to->weight += e->weight;
	}
	entries->count = kept + 1;
}

static void append_merged(struct time_axis *a, struct time_track *t, uint64_t tick,
                          time_entries *entries)
{
	merge(entries);
	vec_each (e, entries)
		append(a, t, tick, e);
	entries->count = 0;
}

/* Encodes a track again, in ticks of 2^coarser old ones; each old block is freed when it was read.
 */
static void track_coarsen(struct time_axis *a, struct time_track *t)
{
	struct time_track now = {.recording = t->recording, .cpu = t->cpu, .event = t->event};
	time_entries entries = {0};
	uint64_t tick = 0;

	vec_each (block, &t->blocks) {
		struct time_state state = (*block)->start;
		const uint8_t *p = (*block)->bytes, *end = p + (*block)->used;
		struct time_entry e;

		while (p < end) {
			p = decode(p, &state, &e);
			if (state.tick >> COARSER != tick)
				append_merged(a, &now, tick, &entries);
			tick = state.tick >> COARSER;
			vec_push(&entries, e);
		}
		free(*block);
		a->bytes -= BLOCK_BYTES;
	}
	append_merged(a, &now, tick, &entries);
	vec_done(&entries);
	vec_done(&t->blocks);
	*t = now;
}

static void coarsen(struct time_axis *a)
{
	while (a->bytes > a->limit / 4 * 3 && a->shift < SHIFT_MAX) {
		vec_each (track, &a->tracks)
			track_coarsen(a, track);
		a->shift += COARSER;
	}
	if (a->bytes > a->limit / 4 * 3)
		a->limit = 2 * a->bytes;
}

void time_axis_add(struct time_axis *a, uint32_t track, const struct time_entry *e)
{
	if (a->bytes + BLOCK_BYTES > a->limit)
		coarsen(a);
	append(a, &a->tracks.items[track], e->time_ns >> a->shift, e);
}

void time_axis_seek(struct time_cursor *c, const struct time_axis *a, uint32_t track,
                    uint64_t from_ns)
{
	const struct time_track *t = &a->tracks.items[track];
	size_t low = 0, high = t->blocks.count;

	/* Entries before the first block that begins at `from_ns` may have its time too. */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->blocks.items[middle]->tick << a->shift < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	*c = (struct time_cursor){
	        .axis = a, .track = t, .block = low ? low - 1 : 0, .from_ns = from_ns};
}

bool time_axis_next(struct time_cursor *c, struct time_entry *e)
{
	while (c->block < c->track->blocks.count) {
		const struct time_block *block = c->track->blocks.items[c->block];

		if (c->at >= block->used) {
			c->block++;
			c->at = 0;
			continue;
		}
		if (!c->at)
			c->state = block->start;
		c->at = (size_t)(decode(block->bytes + c->at, &c->state, e) - block->bytes);
		e->time_ns = c->state.tick << c->axis->shift;
		if (e->time_ns >= c->from_ns)
			return true;
	}
	return false;
}

void time_axis_rows(const struct time_axis *a, uint32_t recording, uint64_t from_ns, uint64_t to_ns,
                    struct time_sum *sums)
{
	struct time_cursor c;
	struct time_entry e;

	for (uint32_t i = 0; i < a->tracks.count; i++) {
		if (a->tracks.items[i].recording != recording)
			continue;
		time_axis_seek(&c, a, i, from_ns);
		while (time_axis_next(&c, &e) && e.time_ns < to_ns) {
			sums[e.row].samples += e.samples;
			sums[e.row].weight += e.weight;
		}
	}
}
