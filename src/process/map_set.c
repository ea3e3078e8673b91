/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/map_set.h"

#include "base/memory/sorted.h"

#include <stdlib.h>
#include <string.h>

struct map_set *map_set_new(uint64_t version, size_t *held)
{
	struct map_set *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->held = held;
	s->version = version;
	return s;
}

struct map_set *map_set_ref(struct map_set *s)
{
	s->refs++;
	return s;
}

void map_set_unref(struct map_set *s)
{
	if (!s || --s->refs)
		return;
	*s->held -= s->maps.room;
	vec_done(&s->maps);
	free(s);
}

void map_set_reserve(struct map_set *s, size_t count)
{
	size_t before = s->maps.room;

	vec_reserve(&s->maps, count);
	*s->held += s->maps.room - before;
}

struct map_set *map_set_own(struct map_set *s, uint64_t version)
{
	struct map_set *copy;

	if (s->refs == 1) {
		s->version = version;
		return s;
	}
	copy = map_set_new(version, s->held);
	map_set_reserve(copy, s->maps.count + 1);
	if (s->maps.count)
		memcpy(copy->maps.items, s->maps.items, s->maps.count * sizeof(*s->maps.items));
	copy->maps.count = s->maps.count;
	copy->generated = s->generated;
	map_set_unref(s);
	return copy;
}

/* Index of the first mapping that ends after the address. */
static size_t first_after(const struct map_set *s, uint64_t address)
{
	return sorted_count(i, s->maps.count, s->maps.items[i].end <= address);
}

/* Replaces the mappings in [from, to) by `count` mappings. */
static void replace(struct map_set *s, size_t from, size_t to, const struct mapping *with,
                    size_t count)
{
	size_t tail = s->maps.count - to;

	map_set_reserve(s, from + count + tail);
	memmove(s->maps.items + from + count, s->maps.items + to, tail * sizeof(*with));
	memcpy(s->maps.items + from, with, count * sizeof(*with));
	s->maps.count = from + count + tail;
}

void map_set_insert(struct map_set *s, const struct mapping *m)
{
	struct mapping with[3];
	size_t count = 0, from = first_after(s, m->start), to = from;

	if (m->start >= m->end)
		return;
	while (to < s->maps.count && s->maps.items[to].start < m->end)
		to++;
	if (from < to && s->maps.items[from].start < m->start) {
		with[count] = s->maps.items[from];
		with[count++].end = m->start;
	}
	with[count++] = *m;
	if (from < to && s->maps.items[to - 1].end > m->end) {
		const struct mapping *old = &s->maps.items[to - 1];

		with[count] = *old;
		with[count].pgoff += m->end - old->start;
		with[count++].start = m->end;
	}
	replace(s, from, to, with, count);
	s->last = 0;
}

uint64_t map_set_order(const struct map_set *s, size_t keep)
{
	uint64_t *orders, order;

	if (!keep || keep >= s->maps.count)
		return keep ? 0 : UINT64_MAX;
	orders = xmalloc(s->maps.count * sizeof(*orders));
	for (size_t i = 0; i < s->maps.count; i++)
		orders[i] = s->maps.items[i].order;
	sorted_u64(orders, s->maps.count);
	order = orders[s->maps.count - keep];
	free(orders);
	return order;
}

size_t map_set_drop(struct map_set *s, uint64_t order)
{
	size_t kept = 0, dropped;

	vec_each (m, &s->maps)
		if (m->order >= order)
			s->maps.items[kept++] = *m;
	dropped = s->maps.count - kept;
	s->maps.count = kept;
	s->last = 0;
	return dropped;
}

const struct mapping *map_set_find(struct map_set *s, uint64_t address)
{
	size_t i;

	if (s->last < s->maps.count) {
		const struct mapping *m = &s->maps.items[s->last];

		if (address >= m->start && address < m->end)
			return m;
	}
	i = first_after(s, address);
	if (i == s->maps.count || s->maps.items[i].start > address)
		return NULL;
	s->last = (uint32_t)i;
	return &s->maps.items[i];
}

const struct mapping *map_set_code_below(const struct map_set *s, uint64_t address)
{
	size_t i = sorted_count(k, s->maps.count, s->maps.items[k].start <= address);

	while (i && !s->maps.items[i - 1].executable)
		i--;
	return i ? &s->maps.items[i - 1] : NULL;
}
