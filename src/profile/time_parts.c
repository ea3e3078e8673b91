/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/time_parts.h"

#define SECOND UINT64_C(1000000000)
/* So many slots for each part make the parts nearly equal; with fewer slots, there are fewer parts.
 */
#define SLOTS_EACH 3
#define PARTS_TYPICAL 8

/* Lengths of the slots of merged windows and of sums (store/), the longest first. */
static const uint64_t slots[] = {7200 * SECOND, 3600 * SECOND, 600 * SECOND};
#define SLOTS (sizeof(slots) / sizeof(*slots))

static uint64_t slots_in(const struct time_parts *r, uint64_t slot_ns)
{
	return r->last_ns / slot_ns - r->first_ns / slot_ns + 1;
}

/* The longest slot that divides the time into enough parts; 0: none. */
static uint64_t slot_of(const struct time_parts *r, uint64_t window_ns)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (slots[i] >= window_ns && slots_in(r, slots[i]) >= SLOTS_EACH * PARTS_TYPICAL)
			return slots[i];
	if (slots[SLOTS - 1] >= window_ns && slots_in(r, slots[SLOTS - 1]) >= PARTS_TYPICAL - 2)
		return slots[SLOTS - 1];
	return 0;
}

struct time_parts time_parts_between(uint64_t first_ns, uint64_t last_ns, uint64_t window_ns)
{
	struct time_parts r = {.first_ns = first_ns, .last_ns = last_ns, .window_ns = window_ns};

	if (r.first_ns > r.last_ns)
		r.first_ns = r.last_ns;
	if (!window_ns)
		return r;
	r.windows = (r.last_ns - r.first_ns + window_ns / 2) / window_ns + 1;
	r.slot_ns = slot_of(&r, window_ns);
	if (r.slot_ns)
		r.windows = slots_in(&r, r.slot_ns);
	return r;
}

struct time_parts time_parts_of(const struct time_axis *axis)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	struct time_cursor c;
	struct time_entry e;

	for (size_t i = 0; i < axis->tracks.count; i++)
		for (time_axis_seek(&c, axis, (uint32_t)i, 0); time_axis_next(&c, &e);) {
			first_ns = e.time_ns < first_ns ? e.time_ns : first_ns;
			last_ns = e.time_ns > last_ns ? e.time_ns : last_ns;
		}
	return time_parts_between(first_ns, last_ns, axis->window_ns);
}

static double length_of(const struct time_parts *r)
{
	return (double)(r->last_ns - r->first_ns + (r->window_ns ? r->window_ns : 1));
}

size_t time_parts_at(const struct time_parts *r, uint64_t time_ns, size_t parts)
{
	double share = (double)(time_ns - r->first_ns) / length_of(r);
	size_t part;

	if (r->slot_ns)
		part = (time_ns / r->slot_ns - r->first_ns / r->slot_ns) * parts / r->windows;
	else if (r->windows)
		/* The nearest begin: lengths of windows differ, and times are rounded. */
		part = (uint64_t)(share * (double)r->windows + 0.5) * parts / r->windows;
	else
		part = (size_t)(share * (double)parts);
	return part < parts ? part : parts - 1;
}

/* The start of the window or slot with which a part begins. Without windows all parts are equal. */
static double begin_of(const struct time_parts *r, size_t part, size_t parts)
{
	uint64_t index = (part * r->windows + parts - 1) / parts;
	double begin =
	        r->windows ? (double)index / (double)r->windows : (double)part / (double)parts;

	begin *= length_of(r);
	if (r->slot_ns && index)
		begin = (double)((r->first_ns / r->slot_ns + index) * r->slot_ns - r->first_ns);
	return begin;
}

size_t time_parts_count(const struct time_parts *r, size_t most, double *shares)
{
	uint64_t each = r->windows / most + (r->windows % most != 0);
	double length = length_of(r);
	size_t parts = !r->windows || r->windows >= SLOTS_EACH * most ? most : r->windows / each;

	for (size_t i = 0; shares && i < parts; i++) {
		double end = i + 1 < parts ? begin_of(r, i + 1, parts) : length;

		shares[i] = (end - begin_of(r, i, parts)) / length;
	}
	return parts;
}
