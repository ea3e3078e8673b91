/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/timed_samples.h"

#include <string.h>

void timed_samples_init(struct timed_samples *t, const struct symbolized_profile *n,
                        const struct profile *p, const uint32_t *rows)
{
	*t = (struct timed_samples){.n = n, .event = n->values[1].name};
	t->weight_is_ns = !strcmp(n->values[1].unit, "nanoseconds");
	vec_each (row, &n->rows)
		t->total += (uint64_t)row->values[0];
	sample_moments_init(&t->moments, p, rows);
	if (t->moments.tracks.count) {
		const struct moment_track *first = t->moments.tracks.items;

		t->begin_ns = first->entry.time_ns;
		t->event = p->events.items[first->cursor.track->event].name;
	}
}

bool timed_samples_next(struct timed_samples *t, struct sample_moment *moment)
{
	if (t->limit && t->written >= t->limit)
		return false;
	if (!t->rest.samples && !sample_moments_next(&t->moments, &t->rest))
		return false;
	*moment = t->rest;
	moment->samples = 1;
	moment->weight = t->rest.weight / t->rest.samples;
	t->rest.weight -= moment->weight;
	t->rest.samples--;
	t->written++;
	return true;
}

void timed_samples_done(struct timed_samples *t)
{
	sample_moments_done(&t->moments);
}

const char *timed_process_name(const struct timed_samples *t, const struct named_owner *o)
{
	return intern_text(&t->n->texts, o->process ? o->process : o->thread);
}

const char *timed_thread_name(const struct timed_samples *t, const struct named_owner *o)
{
	return intern_text(&t->n->texts, o->thread ? o->thread : o->process);
}

uint32_t timed_depth(const struct timed_samples *t, const struct named_row *row)
{
	const struct symbolized_profile *n = t->n;
	uint32_t depth = 0;

	for (uint32_t p = row->path; p != NAMED_ROOT; p = n->paths.items[p].parent)
		depth += n->places.items[n->paths.items[p].place].count;
	return depth;
}
