/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/timeline.h"

#include "base/memory/xalloc.h"

#include <string.h>

#define NO_LINE UINT8_MAX

static uint64_t rounded_up(uint64_t ns, uint64_t step_ns)
{
	return (ns + step_ns - 1) / step_ns * step_ns;
}

/* False if the time is too short for two windows, or not known. */
static bool divide(struct timeline *t, const struct profile *p, const struct profile_event *e)
{
	uint64_t from_ns, to_ns, least_ns, window_ns;

	profile_span(p, &from_ns, &to_ns);
	t->step_ns = time_axis_step_ns(&p->axis);
	if (!from_ns || from_ns >= to_ns || to_ns > INT64_MAX ||
	    (to_ns - from_ns) / 2 < t->step_ns || (to_ns - from_ns) / TIMELINE_TICKS < e->period_ns)
		return false;
	least_ns = e->period_ns * TIMELINE_TICKS;
	t->start_ns = from_ns / t->step_ns * t->step_ns;
	window_ns = (to_ns - t->start_ns + TIMELINE_WINDOWS - 1) / TIMELINE_WINDOWS;
	t->window_ns = rounded_up(window_ns > least_ns ? window_ns : least_ns, t->step_ns);
	t->windows = (size_t)((to_ns - t->start_ns + t->window_ns - 1) / t->window_ns);
	return t->windows > 1;
}

static void choose_lines(struct timeline *t, const struct processes *p, double limit)
{
	vec_each (line, &p->names) {
		if (t->count == TIMELINE_LINES || line->share < limit)
			break;
		if (line->name != ID_NONE && line->user_samples + line->kernel_samples)
			t->lines[t->count++].process = line;
	}
}

/* The line of each selected row. */
static uint8_t *lines_of_rows(const struct timeline *t, struct view *v, const struct selection *s)
{
	const struct profile *p = v->profile;
	uint8_t *line_of = xmalloc(p->rows.count + 1);

	memset(line_of, NO_LINE, p->rows.count + 1);
	vec_each (id, &s->rows) {
		const struct profile_row *row = &p->rows.items[*id];
		enum view_mode mode = view_mode(v, row);

		if (mode == VIEW_IDLE || mode == VIEW_IRQ)
			continue;
		for (uint8_t i = 0; i < t->count; i++)
			if (t->lines[i].process->name == view_process(v, row)->name)
				line_of[*id] = i;
	}
	return line_of;
}

static void add_track(struct timeline *t, const struct profile *p, uint32_t track,
                      const uint8_t *line_of)
{
	uint64_t offset = profile_offset_ns(p, p->axis.tracks.items[track].recording), window;
	struct time_cursor c;
	struct time_entry e;

	time_axis_seek(&c, &p->axis, track, 0);
	while (time_axis_next(&c, &e)) {
		if (line_of[e.row] == NO_LINE || e.time_ns + offset < t->start_ns)
			continue;
		window = (e.time_ns + offset - t->start_ns) / t->window_ns;
		if (window >= t->windows)
			window = t->windows - 1;
		t->lines[line_of[e.row]].use[window] += (double)e.weight / (double)t->window_ns;
	}
}

struct timeline *timeline_new(struct view *v, const struct selection *s, const struct processes *p,
                              double limit)
{
	struct timeline *t = xcalloc(1, sizeof(*t));
	const struct profile *profile = v->profile;
	uint8_t *line_of;

	choose_lines(t, p, limit);
	/* The times of sums of several machines are not known. */
	if (!t->count || !profile->axis.tracks.count ||
	    !divide(t, profile, &profile->events.items[s->event])) {
		free(t);
		return NULL;
	}
	line_of = lines_of_rows(t, v, s);
	for (uint32_t i = 0; i < profile->axis.tracks.count; i++)
		if (profile->axis.tracks.items[i].event == s->event)
			add_track(t, profile, i, line_of);
	free(line_of);
	for (size_t i = 0; i < t->count; i++)
		for (size_t w = 0; w < t->windows; w++)
			if (t->lines[i].use[w] > t->lines[i].most)
				t->lines[i].most = t->lines[i].use[w];
	return t;
}

void timeline_free(struct timeline *t)
{
	free(t);
}
