/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_distribution.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>

static struct histogram_step step_at(const struct tag_histogram *h, unsigned i)
{
	struct histogram_step step = {.count = h->count[i]};

	tag_histogram_bounds(i, &step.from, &step.to);
	return step;
}

/* The step that contains the nearest-rank percentile of the calls' times. */
static struct histogram_step percentile(const struct tag_distribution *s, unsigned percent)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)s->count * percent + 99) / 100);
	uint64_t seen = 0;

	vec_each (step, &s->steps) {
		seen += step->count;
		if (seen >= rank && step->count)
			return *step;
	}
	return (struct histogram_step){0};
}

struct tag_distribution *tag_distribution_new(const struct tag_row *row,
                                              const struct tag_histogram *h)
{
	static const unsigned percents[TAG_PERCENTILES] = {50, 90, 99};
	struct tag_distribution *s = xcalloc(1, sizeof(*s));
	unsigned first = 0, end = TAG_HISTOGRAM_STEPS;

	s->row = *row;
	s->total = h->total;
	while (first < end && !h->count[first])
		first++;
	while (end > first && !h->count[end - 1])
		end--;
	for (unsigned i = first; i < end; i++) {
		vec_push(&s->steps, step_at(h, i));
		s->count += h->count[i];
	}
	for (size_t i = 0; i < TAG_PERCENTILES; i++)
		s->percentiles[i] =
		        (struct tag_percentile){percents[i], percentile(s, percents[i])};
	return s;
}

void tag_distribution_free(struct tag_distribution *s)
{
	if (!s)
		return;
	vec_done(&s->steps);
	free(s);
}

static void take_together(const struct tag_distribution *s, size_t each, histogram_steps *into)
{
	into->count = 0;
	for (size_t i = 0; i < s->steps.count; i++) {
		const struct histogram_step *step = &s->steps.items[i];

		if (i % each == 0) {
			vec_push(into, *step);
		} else {
			vec_last(into)->to = step->to;
			vec_last(into)->count += step->count;
		}
	}
}

/* Joins adjacent steps without calls, so that the steps with calls are easy to see. */
static void join_empty(histogram_steps *steps)
{
	size_t kept = 0;

	for (size_t i = 0; i < steps->count; i++) {
		struct histogram_step *last = kept ? &steps->items[kept - 1] : NULL;

		if (last && !last->count && !steps->items[i].count)
			last->to = steps->items[i].to;
		else
			steps->items[kept++] = steps->items[i];
	}
	steps->count = kept;
}

void tag_distribution_coarse(const struct tag_distribution *s, size_t lines, histogram_steps *into)
{
	for (size_t each = 1;; each *= 2) {
		take_together(s, each, into);
		join_empty(into);
		if (into->count <= lines)
			return;
	}
}
