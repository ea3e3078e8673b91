/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes that earlier searches found. */
#include "view/watch/watch.h"

#define POINTS_NEAR 2

const char *watch_verdict_name(enum watch_verdict verdict)
{
	static const char *const names[] = {[WATCH_REGRESSION] = "regression",
	                                    [WATCH_IMPROVEMENT] = "improvement",
	                                    [WATCH_NEW] = "new",
	                                    [WATCH_GONE] = "gone",
	                                    [WATCH_WENT_AWAY] = "went away",
	                                    [WATCH_MOVED] = "moved"};

	return names[verdict];
}

static bool is_same(const struct watch *w, const struct watch_change *c,
                    const struct watch_known *k)
{
	const struct watch_series *s = &w->series.items[c->series];
	uint64_t time_ns = watch_time_ns(w, c->point);
	uint64_t apart_ns = time_ns > k->time_ns ? time_ns - k->time_ns : k->time_ns - time_ns;
	uint64_t point_ns = k->point_ns > w->step_ns ? k->point_ns : w->step_ns;

	return s->function == k->function && s->image == k->image && s->mode == k->mode &&
	       apart_ns <= POINTS_NEAR * point_ns;
}

void watch_know(struct watch *w)
{
	vec_each (c, &w->changes)
		vec_each (k, &w->known) {
			if (!is_same(w, c, k))
				continue;
			k->again = true;
			if (!c->found_ns || k->found_ns < c->found_ns)
				c->found_ns = k->found_ns;
		}
}

void watch_only_new(struct watch *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->changes.count; i++)
		if (!w->changes.items[i].found_ns)
			w->changes.items[kept++] = w->changes.items[i];
	w->changes.count = kept;
}
