/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits the size of the table of an unlimited recording, and selects the mappings that are
 * dropped.
 */
#include "process/process_internal.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of an image without its path, and of its slots in the index. */
#define IMAGE_BYTES (sizeof(struct image) + 16)

/* Bytes of the mappings that a carried table keeps, and of their images. */
#define KEPT_BYTES (PROCESS_TABLE_BYTES / 4)

void process_table_bound(struct process_table *t)
{
	size_t now = process_table_bytes(t);

	t->bounded = true;
	t->full_bytes = PROCESS_TABLE_BYTES / 2 +
	                (now > PROCESS_TABLE_BYTES / 2 ? now : PROCESS_TABLE_BYTES / 2);
}

size_t process_table_bytes(const struct process_table *t)
{
	return t->names.bytes + t->images->names.bytes + t->images->images.count * IMAGE_BYTES +
	       t->mappings_held * sizeof(struct mapping);
}

bool process_table_full(const struct process_table *t)
{
	return t->bounded && process_table_bytes(t) > t->full_bytes;
}

uint64_t process_table_dropped_mappings(const struct process_table *t)
{
	return t->dropped_mappings;
}

static size_t image_bytes(const struct image_table *images, uint32_t image)
{
	return IMAGE_BYTES + strlen(image_path(images, image));
}

/*
 * The bytes of a mapping, plus an equal part of the bytes of its image.
 */
static size_t mapping_bytes(const struct process_kept_maps *k, const struct image_table *images,
                            const struct mapping *m)
{
	return sizeof(*m) + image_bytes(images, m->image) / k->shared[m->image];
}

/* Visits the maps of each process that stays. A shared set is visited once for each process. */
#define each_set(set, t, process_kept)                                                             \
	for (size_t at_ = 0; at_ < (t)->processes.count; at_++)                                    \
		if ((process_kept)[at_] && ((set) = (t)->states.items[at_].maps))

struct weighed_set {
	uint64_t order;
	size_t bytes;
};

static int newest_first(const void *pa, const void *pb)
{
	const struct weighed_set *a = pa, *b = pb;

	return a->order > b->order ? -1 : a->order < b->order;
}

uint64_t process_kept_maps_order(const struct process_kept_maps *k, const struct map_set *s,
                                 const struct image_table *images)
{
	struct weighed_set *all;
	uint64_t order = 0;
	size_t bytes = 0;

	if (k->set_bytes == SIZE_MAX || !s->maps.count)
		return 0;
	all = xcalloc(s->maps.count, sizeof(*all));
	for (size_t i = 0; i < s->maps.count; i++)
		all[i] = (struct weighed_set){s->maps.items[i].order,
		                              mapping_bytes(k, images, &s->maps.items[i])};
	qsort(all, s->maps.count, sizeof(*all), newest_first);
	for (size_t i = 0; i < s->maps.count; i++) {
		bytes += all[i].bytes;
		if (i && bytes > k->set_bytes) {
			order = all[i - 1].order;
			break;
		}
	}
	free(all);
	return order;
}

/* The bytes that all sets keep if one set may take at most this limit; *most: the largest set. */
static size_t bytes_under(struct process_kept_maps *k, const struct process_table *t,
                          const struct image_table *images, const bool *process_kept, size_t *most)
{
	const struct map_set *set;
	size_t bytes = 0;

	*most = 0;
	memset(k->image_kept, 0, images->images.count);
	each_set(set, t, process_kept)
	{
		uint64_t order = process_kept_maps_order(k, set, images);
		size_t its = 0;

		vec_each (m, &set->maps) {
			if (m->order < order)
				continue;
			its += mapping_bytes(k, images, m);
			bytes += sizeof(*m) / set->refs;
			bytes += k->image_kept[m->image] ? 0 : image_bytes(images, m->image);
			k->image_kept[m->image] = true;
		}
		*most = its > *most ? its : *most;
	}
	return bytes;
}

/* Halves the limit of one set until all sets together are within their limit. */
void process_kept_maps_init(struct process_kept_maps *k, const struct process_table *t,
                            const struct image_table *images, const bool *process_kept)
{
	const struct map_set *set;
	size_t most;

	*k = (struct process_kept_maps){.set_bytes = SIZE_MAX};
	if (!t->bounded)
		return;
	k->image_kept = xcalloc(images->images.count, sizeof(*k->image_kept));
	k->shared = xcalloc(images->images.count, sizeof(*k->shared));
	each_set(set, t, process_kept)
	{
		vec_each (m, &set->maps)
			k->shared[m->image]++;
	}
	while (bytes_under(k, t, images, process_kept, &most) > KEPT_BYTES &&
	       most > sizeof(struct mapping))
		k->set_bytes = most / 2;
}

void process_kept_maps_done(struct process_kept_maps *k)
{
	free(k->image_kept);
	free(k->shared);
}
