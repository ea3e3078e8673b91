/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_path_times.h"

static void give_place(struct tag_path_times *p, struct tag_times *all)
{
	tag_times_reserve(all, 1); /* place 0 is not used */
	p->place = (uint32_t)(all->index.count / TAG_TIMES_PAGES);
	tag_times_reserve(all, (size_t)p->place + 1);
	for (uint16_t i = 0; i < p->count; i++)
		tag_times_add(all, p->place, p->first[i], 1);
	p->count = 0;
}

void tag_path_times_count(struct tag_path_times *p, struct tag_times *all, uint64_t ticks)
{
	uint32_t bucket = tag_times_bucket(ticks);

	if (!p->place && p->count < TAG_PATH_TIMES_FIRST) {
		p->first[p->count++] = (uint16_t)bucket;
		return;
	}
	if (!p->place)
		give_place(p, all);
	tag_times_add(all, p->place, bucket, 1);
}

void tag_path_times_merge(struct tag_times *to, const struct tag_path_times *p,
                          const struct tag_times *all)
{
	for (uint16_t i = 0; i < p->count; i++)
		tag_times_add(to, 0, p->first[i], 1);
	if (p->place)
		tag_times_merge(to, 0, all, p->place);
}
