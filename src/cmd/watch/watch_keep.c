/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/watch/watch_keep.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "process/service_name.h"
#include "store/store.h"
#include "store/store_path.h"

#include <stdlib.h>
#include <time.h>

static struct store_change stored(const struct watch *w, const struct watch_range *range,
                                  const char *service, const struct watch_change *c,
                                  uint64_t now_ns)
{
	const struct watch_series *s = &w->series.items[c->series];

	return (struct store_change){.host = range->host ? range->host : "",
	                             .service = service,
	                             .function = intern_text(&w->texts, s->function),
	                             .image = intern_text(&w->texts, s->image),
	                             .mode = intern_text(&w->texts, s->mode),
	                             .verdict = watch_verdict_name(c->verdict),
	                             .time_ns = watch_time_ns(w, c->point),
	                             .point_ns = w->step_ns,
	                             .found_ns = now_ns,
	                             .before = c->before,
	                             .after = c->after,
	                             .ratio = c->ratio,
	                             .low = c->low,
	                             .high = c->high,
	                             .q = c->q};
}

int watch_keep(const struct watch *w, const struct watch_range *range, struct error *err)
{
	const char *asked = range->service ? range->service : "";
	char *path = store_path_to_read(range->store);
	char *service = xstrndup(asked, service_name_length(asked));
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	VEC(struct store_change) changes = {0};
	int ret;

	vec_each (c, &w->changes)
		if (!c->found_ns)
			vec_push(&changes, stored(w, range, service, c, now_ns));
	ret = store_changes_add(path, changes.items, changes.count, err);
	vec_done(&changes);
	free(path);
	free(service);
	return ret;
}
