/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/sample_without.h"

#include "base/memory/xalloc.h"
#include "view/groups/frame_groups.h"

#include <stdlib.h>

struct sample_without {
	struct view *view;
	struct without found;
	struct frame_groups *groups; /* NULL: no group is removed */
	const struct unit *unit;
	bool *frames; /* per frame id: its function is removed */
};

/* Finds the words among the functions of all frames. */
static int find(struct sample_without *w, const struct report_request *q, struct error *err)
{
	struct view *v = w->view;
	size_t count = v->profile->frames.count;
	uint32_t *name_of = xcalloc(count + 1, sizeof(*name_of));
	struct intern names;
	int ret;

	intern_init(&names);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *symbol = view_function(v, i);

		name_of[i] = intern_add(&names, symbol_text(symbol));
	}
	ret = without_find(
	        &w->found, q,
	        &(struct without_names){(const char *const *)names.texts.items, names.texts.count},
	        err);
	for (size_t i = 0; i < count; i++)
		w->frames[i] = w->found.functions[name_of[i]];
	intern_done(&names);
	free(name_of);
	return ret;
}

bool sample_is_removed(const struct sample_without *w, uint32_t path)
{
	const struct profile *p = w->view->profile;
	uint32_t frame = path == PATH_ROOT ? ID_NONE : p->paths.items[path].frame;

	if (frame != ID_NONE && w->frames[frame])
		return true;
	return w->groups && without_has_group(&w->found, frame_groups_of(w->groups, path),
	                                      frame != ID_NONE && p->frames.items[frame].kernel);
}

/* The rows of the base of shares (filter.h). */
static bool is_in_base(const struct profile_row *row, const struct selection *s)
{
	return row->event == s->event && !(s->no_idle && row->mode == PROFILE_IDLE);
}

static void sum(struct sample_without *w, const struct selection *s)
{
	const struct profile *p = w->view->profile;
	size_t count = s->own_base ? s->rows.count : p->rows.count;

	w->found.base = (int64_t)(s->base_weight ? s->base_weight : s->base_samples);
	for (size_t i = 0; i < count; i++) {
		const struct profile_row *row = &p->rows.items[s->own_base ? s->rows.items[i] : i];

		if (is_in_base(row, s) && sample_is_removed(w, row->path))
			w->found.removed += (int64_t)(s->base_weight ? row->weight : row->samples);
	}
}

int sample_without_new(struct sample_without **out, struct view *v, const struct report_request *q,
                       const struct selection *s, struct error *err)
{
	struct sample_without *w;
	int ret;

	*out = NULL;
	if (!q->without.count)
		return 0;
	w = xcalloc(1, sizeof(*w));
	w->view = v;
	w->frames = xcalloc(v->profile->frames.count + 1, sizeof(*w->frames));
	ret = find(w, q, err);
	if (ret) {
		sample_without_free(w);
		return ret;
	}
	if (w->found.by_group)
		w->groups = frame_groups_new(v, q->rules);
	if (s->base_weight && v->profile->events.items[s->event].period_ns)
		w->unit = &unit_time;
	else
		w->unit = &unit_count;
	sum(w, s);
	*out = w;
	return 0;
}

void sample_without_free(struct sample_without *w)
{
	if (!w)
		return;
	without_done(&w->found);
	frame_groups_free(w->groups);
	free(w->frames);
	free(w);
}

const struct without *sample_without_sums(const struct sample_without *w)
{
	return &w->found;
}

const struct unit *sample_without_unit(const struct sample_without *w)
{
	return w->unit;
}
