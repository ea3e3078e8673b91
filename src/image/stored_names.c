/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/stored_names.h"

#include "base/memory/sorted.h"

/* A function is identified by the id of its name; 0, the empty name, is none. */
struct kept_place {
	uint64_t offset;
	uint32_t function;
	uint32_t order; /* position in the order of addition */
};

struct kept_reach {
	uint64_t start, end;
};

struct stored_names {
	struct intern names;
	VEC(struct kept_place) places; /* sorted by offset once finished */
	VEC(struct kept_reach) reach;  /* by function */
};

struct stored_names *stored_names_new(void)
{
	struct stored_names *k = xcalloc(1, sizeof(*k));

	intern_init(&k->names);
	return k;
}

void stored_names_free(struct stored_names *k)
{
	if (!k)
		return;
	intern_done(&k->names);
	vec_done(&k->places);
	vec_done(&k->reach);
	free(k);
}

void stored_names_add(struct stored_names *k, uint64_t offset, const char *name)
{
	struct kept_place place = {.offset = offset,
	                           .function = intern_add(&k->names, name),
	                           .order = (uint32_t)k->places.count};

	if (*name)
		vec_push(&k->places, place);
}

static int compare_places(const void *pa, const void *pb)
{
	const struct kept_place *a = pa, *b = pb;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void stored_names_finish(struct stored_names *k)
{
	struct kept_place *items = k->places.items;
	size_t kept = 0;

	if (k->places.count)
		qsort(items, k->places.count, sizeof(*items), compare_places);
	for (size_t i = 0; i < k->places.count; i++)
		if (kept && items[kept - 1].offset == items[i].offset)
			items[kept - 1] = items[i];
		else
			items[kept++] = items[i];
	k->places.count = kept;
	while (k->reach.count < k->names.texts.count)
		vec_push(&k->reach, (struct kept_reach){UINT64_MAX, 0});
	vec_each (place, &k->places) {
		struct kept_reach *reach = &k->reach.items[place->function];

		if (place->offset < reach->start)
			reach->start = place->offset;
		reach->end = place->offset + 1;
	}
}

uint32_t stored_names_find(const struct stored_names *k, uint64_t offset)
{
	size_t at = sorted_count(i, k->places.count, k->places.items[i].offset < offset);

	if (at == k->places.count || k->places.items[at].offset != offset)
		return ID_NONE;
	return k->places.items[at].function;
}

struct kept_function stored_names_function(const struct stored_names *k, uint32_t number)
{
	const struct kept_reach *reach = &k->reach.items[number];

	return (struct kept_function){intern_text(&k->names, number), reach->start, reach->end};
}

uint32_t stored_names_count(const struct stored_names *k)
{
	return (uint32_t)k->names.texts.count;
}
