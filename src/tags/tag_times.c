/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tags/tag_times.h"

void tag_times_done(struct tag_times *t)
{
	vec_done(&t->index);
	vec_done(&t->pages);
}

void tag_times_clear(struct tag_times *t)
{
	vec_each (page, &t->index)
		*page = 0;
	t->pages.count = t->pages.count > 0;
}

void tag_times_reserve(struct tag_times *t, size_t count)
{
	if (!t->pages.count)
		vec_add(&t->pages);
	while (t->index.count < count * TAG_TIMES_PAGES)
		vec_push(&t->index, 0);
}

uint32_t tag_times_add_page(struct tag_times *t, uint32_t function, uint32_t bucket)
{
	uint32_t page = (uint32_t)t->pages.count;

	vec_add(&t->pages);
	t->index.items[function * TAG_TIMES_PAGES + bucket / 8] = page;
	return page;
}

uint64_t tag_times_at(const struct tag_times *t, uint32_t function, uint32_t bucket)
{
	size_t at = (size_t)function * TAG_TIMES_PAGES + bucket / 8;

	if (at >= t->index.count || !t->index.items[at])
		return 0;
	return t->pages.items[t->index.items[at]].count[bucket % 8];
}

void tag_times_merge(struct tag_times *t, uint32_t function, const struct tag_times *from,
                     uint32_t other)
{
	tag_times_reserve(t, function + 1);
	for (uint32_t page = 0; page < TAG_TIMES_PAGES; page++) {
		size_t at = (size_t)other * TAG_TIMES_PAGES + page;
		uint32_t of = at < from->index.count ? from->index.items[at] : 0;
		uint32_t to = t->index.items[function * TAG_TIMES_PAGES + page];

		if (of && !to)
			to = tag_times_add_page(t, function, page * 8);
		for (unsigned i = 0; of && i < 8; i++)
			t->pages.items[to].count[i] += from->pages.items[of].count[i];
	}
}
