/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The series. watch_find.c tests them. */
#include "view/watch/watch.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <stdlib.h>

void watch_init(struct watch *w)
{
	*w = (struct watch){.smallest = NAN};
	intern_init(&w->texts);
}

void watch_done(struct watch *w)
{
	vec_each (s, &w->series) {
		free(s->samples);
		free(s->cpu_ns);
		vec_done(&s->few);
	}
	vec_done(&w->series);
	vec_done(&w->changes);
	vec_done(&w->known);
	id_table_done(&w->index);
	intern_done(&w->texts);
	vec_each (l, &w->loads) {
		vec_done(&l->members);
		free(l->sums);
	}
	vec_done(&w->loads);
	free(w->start_ns);
	free(w->wall_s);
	free(w->sampled_ns);
	free(w->sampled);
	free(w->work);
}

void watch_points(struct watch *w, uint64_t from_ns, uint64_t step_ns, size_t count)
{
	w->step_ns = step_ns;
	w->points = count;
	w->start_ns = xcalloc(count + 1, sizeof(*w->start_ns));
	w->wall_s = xcalloc(count + 1, sizeof(*w->wall_s));
	w->sampled_ns = xcalloc(count + 1, sizeof(*w->sampled_ns));
	w->sampled = xcalloc(count + 1, sizeof(*w->sampled));
	for (size_t i = 0; i <= count; i++)
		w->start_ns[i] = from_ns + i * step_ns;
}

void watch_begins(struct watch *w, size_t point, uint64_t start_ns)
{
	w->start_ns[point] = start_ns;
}

void watch_observed(struct watch *w, size_t point, double wall_s)
{
	if (point >= w->points || !(wall_s > 0))
		return;
	w->observed += !(w->wall_s[point] > 0);
	w->wall_s[point] += wall_s;
}

void watch_work(struct watch *w, size_t point, double amount)
{
	if (!w->work)
		w->work = xcalloc(w->points + 1, sizeof(*w->work));
	if (point < w->points && amount > 0)
		w->work[point] += amount;
}

static bool same_series(const void *ctx, uint32_t id, const void *key)
{
	const struct watch_series *a = &((const struct watch *)ctx)->series.items[id], *b = key;

	return a->function == b->function && a->image == b->image && a->mode == b->mode;
}

uint32_t watch_series(struct watch *w, const char *function, const char *image, const char *mode)
{
	struct watch_series s = {.function = intern_add(&w->texts, function),
	                         .image = intern_add(&w->texts, image),
	                         .mode = intern_add(&w->texts, mode),
	                         .load = {ID_NONE, ID_NONE, ID_NONE, ID_NONE},
	                         .p = NAN,
	                         .q = NAN};
	uint64_t hash = hash_pair(hash_pair(s.function, s.image), s.mode);
	uint32_t id = id_table_find(&w->index, hash, same_series, w, &s);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)w->series.count;
	vec_push(&w->series, s);
	id_table_add(&w->index, hash, id);
	return id;
}

static void add(struct watch_series *s, size_t point, float samples, float cpu_ns)
{
	s->samples[point] += samples;
	s->cpu_ns[point] += cpu_ns;
}

static void make_points(const struct watch *w, struct watch_series *s)
{
	s->samples = xcalloc(w->points + 1, sizeof(*s->samples));
	s->cpu_ns = xcalloc(w->points + 1, sizeof(*s->cpu_ns));
	vec_each (few, &s->few)
		add(s, few->point, few->samples, few->cpu_ns);
	vec_done(&s->few);
}

void watch_count(struct watch *w, uint32_t series, size_t point, double samples, double cpu_ns)
{
	struct watch_series *s = &w->series.items[series];

	if (point >= w->points)
		return;
	s->all_samples += samples;
	s->all_cpu_ns += cpu_ns;
	w->samples += samples;
	w->sampled[point] += samples;
	w->sampled_ns[point] += cpu_ns;
	if (!s->samples && s->all_samples >= WATCH_FLOOR)
		make_points(w, s);
	if (s->samples)
		add(s, point, (float)samples, (float)cpu_ns);
	else
		vec_push(&s->few,
		         (struct watch_few){(uint32_t)point, (float)samples, (float)cpu_ns});
}

void watch_pool(struct watch *w)
{
	size_t count = w->series.count;
	uint32_t others = watch_series(w, "[others]", "", "");
	struct watch_series *o = &w->series.items[others];

	if (!o->samples)
		make_points(w, o);
	for (size_t i = 0; i < count; i++) {
		struct watch_series *s = &w->series.items[i];

		if (i == others || s->samples)
			continue;
		s->pooled = true;
		w->pooled++;
		vec_each (few, &s->few)
			add(o, few->point, few->samples, few->cpu_ns);
		o->all_samples += s->all_samples;
		o->all_cpu_ns += s->all_cpu_ns;
	}
	/* Such a series is no function, but it is a part of the load. */
	o->pooled = true;
}

uint64_t watch_time_ns(const struct watch *w, size_t point)
{
	return w->start_ns[point];
}
