/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/sample_moments.h"

#include "base/memory/heap.h"
#include "profile/symbolized_profile.h"

static const struct time_track *track_of(const struct moment_track *t)
{
	return t->cursor.track;
}

/* Equal times are in the order of the tracks, so that equal input gives equal output. */
#define before(a, b)                                                                               \
	((a).order != (b).order                   ? (a).order < (b).order                          \
	 : (a).entry.time_ns != (b).entry.time_ns ? (a).entry.time_ns < (b).entry.time_ns          \
	                                          : (a).track < (b).track)

/* Reads the next entry of a selected row. */
static bool advance(const struct sample_moments *m, struct moment_track *t)
{
	while (time_axis_next(&t->cursor, &t->entry))
		if (m->rows[t->entry.row] != NAMED_NONE && t->entry.samples) {
			t->entry.time_ns += t->offset_ns;
			return true;
		}
	return false;
}

static void init(struct sample_moments *m, const struct profile *p, const uint32_t *rows,
                 bool mixed)
{
	*m = (struct sample_moments){.profile = p, .rows = rows};
	for (uint32_t i = 0; i < p->axis.tracks.count; i++) {
		uint32_t recording = p->axis.tracks.items[i].recording;
		struct moment_track t = {.track = i,
		                         .order = mixed ? 0 : recording,
		                         .offset_ns = mixed ? profile_offset_ns(p, recording) : 0};

		time_axis_seek(&t.cursor, &p->axis, i, 0);
		if (advance(m, &t))
			vec_push(&m->tracks, t);
	}
	heap_make(&m->tracks, before);
}

void sample_moments_init(struct sample_moments *m, const struct profile *p, const uint32_t *rows)
{
	init(m, p, rows, false);
}

void sample_moments_init_mixed(struct sample_moments *m, const struct profile *p,
                               const uint32_t *rows)
{
	init(m, p, rows, true);
}

bool sample_moments_next(struct sample_moments *m, struct sample_moment *moment)
{
	struct moment_track *t = m->tracks.items;

	if (!m->tracks.count)
		return false;
	*moment = (struct sample_moment){.time_ns = t->entry.time_ns,
	                                 .samples = t->entry.samples,
	                                 .weight = t->entry.weight,
	                                 .row = m->rows[t->entry.row],
	                                 .recording = track_of(t)->recording,
	                                 .cpu = track_of(t)->cpu,
	                                 .mode = m->profile->rows.items[t->entry.row].mode};
	if (advance(m, t))
		heap_settle(&m->tracks, before);
	else
		heap_pop(&m->tracks, before);
	return true;
}

void sample_moments_done(struct sample_moments *m)
{
	vec_done(&m->tracks);
}

struct moment_axis moment_axis_of(const struct profile *p)
{
	struct moment_axis a = {.step_ns = time_axis_step_ns(&p->axis),
	                        .window_ns = p->axis.window_ns,
	                        .recordings = p->recordings.count};
	uint64_t from_ns, to_ns, wall_ns;

	profile_span(p, &from_ns, &to_ns);
	if (!from_ns || from_ns >= to_ns)
		return a;
	a.begin_ns = from_ns / a.step_ns * a.step_ns;
	a.end_ns = to_ns;
	wall_ns = a.recordings > 1 ? 0 : recording_wall_offset(p->recordings.items[0]);
	if (a.recordings > 1 || wall_ns)
		a.wall_ns = a.begin_ns + wall_ns;
	return a;
}
