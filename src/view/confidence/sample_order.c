/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/confidence/sample_order.h"

#include "base/memory/hash.h"
#include "base/piece.h"

#define ROWS_MAX ((size_t)1 << 22)
#define PART_ROWS PIECE_OF((size_t)1 << 16)

static bool is_ordered(const struct time_axis *a)
{
	return time_axis_step_ns(a) == TIME_AXIS_STEP_NS;
}

void sample_order_init(struct sample_order *o, const struct time_axis *axis)
{
	double samples[UINT8_MAX + 1] = {0}; /* sums of a damaged store may overflow an integer */
	struct time_cursor c;
	struct time_entry e;

	*o = (struct sample_order){.axis = axis, .room = ROWS_MAX};
	for (uint32_t i = 0; i < axis->tracks.count; i++) {
		vec_add(&o->tracks);
		time_axis_seek(&c, axis, i, 0);
		while (!is_ordered(axis) && time_axis_next(&c, &e))
			samples[axis->tracks.items[i].event] += (double)e.samples;
	}
	for (size_t i = 0; i <= UINT8_MAX; i++)
		o->kept[i] = samples[i] > (double)ROWS_MAX ? (double)ROWS_MAX / samples[i] : 1;
}

void sample_order_done(struct sample_order *o)
{
	vec_each (track, &o->tracks)
		vec_done(&track->rows);
	vec_done(&o->tracks);
	vec_done(&o->part);
}

double sample_order_kept(const struct sample_order *o, uint8_t event)
{
	return o->kept[event];
}

static void shuffle(uint32_t *rows, size_t count, uint64_t seed)
{
	uint64_t state = hash_u64(seed);

	for (size_t i = count; i > 1; i--) {
		size_t other = hash_u64(++state) % i;
		uint32_t moved = rows[i - 1];

		rows[i - 1] = rows[other];
		rows[other] = moved;
	}
}

/* Decodes the entries of one step. */
static void decode_step(struct sample_cursor *c, sample_rows *rows)
{
	double kept = c->order->kept[c->at.track->event];
	uint64_t time_ns = c->next.time_ns;

	do {
		for (c->due += (double)c->next.samples * kept; c->due >= 1; c->due--)
			vec_push(rows, c->next.row);
		c->more = time_axis_next(&c->at, &c->next);
	} while (c->more && c->next.time_ns == time_ns);
	shuffle(rows->items, rows->count, time_ns);
}

/* Decodes the next rows of a track. */
static bool decode(struct sample_cursor *c)
{
	sample_rows *rows = &c->order->part;

	rows->count = 0;
	if (is_ordered(c->order->axis))
		while (c->more && rows->count < PART_ROWS) {
			vec_push(rows, c->next.row);
			c->more = time_axis_next(&c->at, &c->next);
		}
	while (c->more && !rows->count)
		decode_step(c, rows);
	c->rows = rows->items;
	c->count = rows->count;
	return rows->count;
}

static void begin(struct sample_order *o, struct sample_cursor *c, uint32_t track)
{
	*c = (struct sample_cursor){.order = o};
	time_axis_seek(&c->at, o->axis, track, 0);
	c->more = time_axis_next(&c->at, &c->next);
}

/* Decodes a track and keeps its rows, if there is room. */
static void keep(struct sample_order *o, struct sample_track *t, struct sample_cursor *c)
{
	while (decode(c)) {
		if (t->rows.count + c->count > o->room) {
			vec_done(&t->rows);
			t->large = true;
			return;
		}
		for (size_t i = 0; i < c->count; i++)
			vec_push(&t->rows, c->rows[i]);
	}
	o->room -= t->rows.count;
	t->known = true;
}

void sample_order_begin(struct sample_order *o, struct sample_cursor *c, uint32_t track)
{
	struct sample_track *t = &o->tracks.items[track];

	begin(o, c, track);
	if (t->large)
		return;
	if (!t->known)
		keep(o, t, c);
	if (t->large) {
		begin(o, c, track);
		return;
	}
	c->known = true;
	c->rows = t->rows.items;
	c->count = t->rows.count;
}

bool sample_order_next(struct sample_cursor *c)
{
	if (!c->known)
		return decode(c);
	if (c->delivered || !c->count)
		return false;
	c->delivered = true;
	return true;
}
