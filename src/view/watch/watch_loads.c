/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/watch/watch_loads.h"

#include "base/memory/xalloc.h"
#include "base/statistics/samples.h"

#include <math.h>
#include <stdlib.h>

/* A function varies from point to point by this part, squared, at least: beyond this its weight
 * does not grow with its samples. */
#define OWN_VARIATION 0.02
/* A member has left the majority if it differs by this many standard errors, by this part of its
 * level, and changes the load by this part. */
#define APART_ERRORS 3.5
#define APART_LEAST 0.05
#define SHIFT 0.005
/* Of the change of the majority. */
#define MAJORITY_ERROR 0.01

static double weight_of(const struct watch *w, const struct watch_series *s)
{
	double mean = s->all_samples / (double)(w->observed ? w->observed : 1);

	return 1 / (1 + OWN_VARIATION * mean);
}

static uint32_t add_load(struct watch *w)
{
	struct watch_load *l = vec_add(&w->loads);

	l->sums = xcalloc(w->points + 1, sizeof(*l->sums));
	return (uint32_t)w->loads.count - 1;
}

static void add_member(struct watch *w, enum watch_unit unit, uint32_t load, uint32_t id)
{
	w->series.items[id].load[unit] = load;
	vec_push(&w->loads.items[load].members, id);
}

void watch_loads_init(struct watch *w)
{
	size_t texts = 0;
	uint32_t *of_image;

	add_load(w);
	for (uint32_t id = 0; id < w->series.count; id++) {
		if (w->series.items[id].samples)
			add_member(w, WATCH_PER_LOAD, 0, id);
		if (w->series.items[id].image >= texts)
			texts = w->series.items[id].image + 1;
	}
	of_image = xcalloc(texts + 1, sizeof(*of_image));
	for (uint32_t id = 0; id < w->series.count; id++) {
		const struct watch_series *s = &w->series.items[id];

		if (s->pooled || !s->samples)
			continue;
		if (!of_image[s->image])
			of_image[s->image] = add_load(w);
		add_member(w, WATCH_PER_PROGRAM, of_image[s->image], id);
	}
	free(of_image);
}

void watch_loads_set(struct watch *w, enum watch_unit unit, uint32_t load)
{
	struct watch_load *l = &w->loads.items[load];

	for (size_t i = 0; i < w->points; i++)
		l->sums[i] = 0;
	vec_each (id, &l->members) {
		const struct watch_series *s = &w->series.items[*id];
		double weight = weight_of(w, s);

		for (size_t i = 0; i < w->points && !s->outside[unit]; i++)
			l->sums[i] += weight * s->samples[i];
	}
}

double watch_loads_at(const struct watch *w, const struct watch_series *s, enum watch_unit unit,
                      size_t point)
{
	double own = s->outside[unit] ? 0 : weight_of(w, s) * s->samples[point];
	double sum;

	if (s->load[unit] == ID_NONE)
		return 0;
	sum = w->loads.items[s->load[unit]].sums[point];
	/* The sum has rounding errors: nothing is left of a load of one. */
	return sum - own > 1e-6 * sum ? sum - own : 0;
}

struct vote {
	uint32_t series;
	double change, variance; /* logarithm of its ratio to the load */
	double part;             /* of the load */
};

/* The change of each member at the point; returns their median. */
static double count_votes(const struct watch *w, enum watch_unit unit, const struct watch_load *l,
                          size_t point, struct vote *votes, size_t *count)
{
	double *changes = xcalloc(l->members.count + 1, sizeof(*changes)), middle;
	double load[2] = {0};

	for (size_t i = 0; i < w->points; i++)
		load[i >= point] += l->sums[i];
	vec_each (id, &l->members) {
		const struct watch_series *s = &w->series.items[*id];
		double sums[2] = {0.5, 0.5};

		if (s->outside[unit])
			continue;
		for (size_t i = 0; i < w->points; i++)
			sums[i >= point] += s->samples[i];
		votes[*count].series = *id;
		votes[*count].change = log(sums[1] * load[0] / (sums[0] * load[1]));
		votes[*count].variance =
		        fmax(1, s->scatter[unit].dispersion) * (1 / sums[0] + 1 / sums[1]);
		votes[*count].part = weight_of(w, s) * (sums[0] + sums[1]) / (load[0] + load[1]);
		changes[*count] = votes[*count].change;
		++*count;
	}
	middle = sort_median(changes, *count);
	free(changes);
	return middle;
}

static double errors_apart(const struct vote *v, double middle)
{
	return fabs(v->change - middle) / sqrt(v->variance + MAJORITY_ERROR * MAJORITY_ERROR);
}

bool watch_loads_leave_out(struct watch *w, enum watch_unit unit, uint32_t load, size_t point)
{
	const struct watch_load *l = &w->loads.items[load];
	struct vote *votes = xcalloc(l->members.count + 1, sizeof(*votes));
	size_t count = 0, left = 0, room;
	double middle = count_votes(w, unit, l, point, votes, &count);

	/* A majority of all members remains. */
	room = count - (l->members.count + 1) / 2;
	while (count > (l->members.count + 1) / 2 && left < room) {
		struct vote *most = NULL;

		for (size_t i = 0; i < count; i++) {
			struct vote *v = &votes[i];
			double apart = fabs(v->change - middle);

			if (!w->series.items[v->series].outside[unit] && apart > APART_LEAST &&
			    apart * v->part > SHIFT && errors_apart(v, middle) > APART_ERRORS &&
			    (!most || errors_apart(v, middle) > errors_apart(most, middle)))
				most = v;
		}
		if (!most)
			break;
		w->series.items[most->series].outside[unit] = true;
		left++;
	}
	free(votes);
	return left;
}
