/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_inside.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MIN 20
/* Callers are searched this many frames up; a caller contains a function if it has this part of its
 * samples. */
#define CALLERS_MAX 8
#define CONTAINED 0.7
/* A caller with this part of all time is the program itself: its time may be fixed by other
 * means, such as the length of the recording. */
#define WHOLE 0.9
/* Time has moved if the sum changed by less than this part of the function's change. */
#define MOVED_REST 0.25

struct diff_inside_search {
	struct diff *d;
	const struct diff_table *t;
	const struct diff_scatter *scatter;
	struct diff_sum *sums; /* by run */
	bool *in;              /* by path */
	double all_ns;         /* time of all rows and runs */
};

static void clear(struct diff_inside_search *s)
{
	memset(s->sums, 0, s->t->width * sizeof(*s->sums));
}

static void add_sum(struct diff_sum *to, const struct diff_sum *from)
{
	to->count += from->count;
	to->cpu_ns += from->cpu_ns;
}

/* The sums of all paths through a row. */
static void sum_below(struct diff_inside_search *s, uint32_t row)
{
	const struct diff_runs *runs = s->d->runs;

	clear(s);
	s->in[DIFF_NO_PATH] = false;
	for (size_t path = 1; path < runs->paths.count; path++)
		s->in[path] =
		        s->in[runs->paths.items[path].parent] || runs->paths.items[path].row == row;
	for (size_t i = 0; i < runs->runs.count; i++)
		for (size_t path = 1; path < runs->runs.items[i].paths.count; path++)
			if (s->in[path])
				add_sum(&s->sums[i], &runs->runs.items[i].paths.items[path]);
}

/* Without call paths: whether the listed changes of the function's file cancel each other. */
static bool image_stays(const struct diff *d, const struct diff_change *change)
{
	uint32_t image = d->runs->rows.items[change->row].image;
	double sum = 0, up = 0, down = 0;

	vec_each (other, &d->changes) {
		double by = other->e.after - other->e.before;

		if (!diff_is_change(&other->e) || other->row == ID_NONE ||
		    d->runs->rows.items[other->row].image != image)
			continue;
		sum += by;
		up = fmax(up, by);
		down = fmax(down, -by);
	}
	return up > 0 && down > 0 && fabs(sum) < MOVED_REST * fmin(up, down);
}

/* Whether the sums changed much less than the function. */
static bool sums_stay(const struct diff_inside_search *s, const struct diff_change *change)
{
	struct diff_counts c = diff_table_counts(s->t, s->sums);

	free(c.blocks);
	if (c.cpu_ns[DIFF_A] + c.cpu_ns[DIFF_B] > WHOLE * s->all_ns)
		return false;
	return fabs(c.value[DIFF_B] - c.value[DIFF_A]) <
	       MOVED_REST * fabs(change->e.after - change->e.before);
}

/* The samples of the row in paths where its n-th caller is `caller`, of all its samples. */
static uint32_t main_caller(const struct diff_inside_search *s, uint32_t row, int frames,
                            double *part)
{
	const struct diff_runs *runs = s->d->runs;
	double *counts = xcalloc(runs->rows.count + 1, sizeof(*counts)), all = 0;
	uint32_t best = ID_NONE;

	for (size_t path = 1; path < runs->paths.count; path++) {
		uint32_t up = (uint32_t)path;
		double count = 0;

		if (runs->paths.items[path].row != row)
			continue;
		for (int i = 0; i < frames; i++)
			up = runs->paths.items[up].parent;
		vec_each (run, &runs->runs)
			count += path < run->paths.count ? run->paths.items[path].count : 0;
		all += count;
		if (up != DIFF_NO_PATH)
			counts[runs->paths.items[up].row] += count;
	}
	for (uint32_t i = 0; i < runs->rows.count; i++)
		if (counts[i] > 0 &&
		    (best == ID_NONE || counts[i] > counts[best] ||
		     (counts[i] == counts[best] && diff_runs_compare(runs, i, best) < 0)))
			best = i;
	*part = best == ID_NONE ? 0 : counts[best] / all;
	free(counts);
	return best;
}

static void find_moved(struct diff_inside_search *s, struct diff_change *change)
{
	if (!s->d->runs->call_paths) {
		change->moved_in_image = image_stays(s->d, change);
		return;
	}
	for (int frames = 0; frames < CALLERS_MAX; frames++) {
		double part = 1;
		uint32_t caller = frames ? main_caller(s, change->row, frames, &part) : change->row;

		if (caller == ID_NONE || part < CONTAINED)
			return;
		sum_below(s, caller);
		if (sums_stay(s, change)) {
			change->moved = caller;
			return;
		}
	}
}

/* Whether the row has several paths: a single path is the row itself. */
static bool has_paths(const struct diff_runs *runs, uint32_t row)
{
	size_t count = 0;

	for (size_t path = 1; path < runs->paths.count && count < 2; path++)
		count += runs->paths.items[path].row == row;
	return count > 1;
}

static int paths_by_text(const void *a, const void *b, void *runs)
{
	const struct diff_path_change *x = a, *y = b;

	return diff_runs_compare_paths(runs, x->path, y->path);
}

/* The paths of one listed row. */
static void add_paths(struct diff_inside_search *s, const struct diff_change *change)
{
	const struct diff_runs *runs = s->d->runs;
	const struct diff_scatter *scatter = &s->scatter[runs->rows.items[change->row].class];
	size_t first = s->d->paths.count;

	for (uint32_t path = 1; path < runs->paths.count; path++) {
		struct diff_path_change p = {.path = path, .row = change->row};
		struct diff_counts c;

		if (runs->paths.items[path].row != change->row)
			continue;
		clear(s);
		for (size_t i = 0; i < s->t->width; i++)
			if (path < runs->runs.items[i].paths.count)
				add_sum(&s->sums[i], &runs->runs.items[i].paths.items[path]);
		c = diff_table_counts(s->t, s->sums);
		if (c.samples[DIFF_A] + c.samples[DIFF_B] >= SAMPLES_MIN) {
			p.e.dispersion = diff_scatter_shrink(scatter, c.mean, c.own, c.degrees,
			                                     &p.e.degrees);
			p.e.p = diff_fit_test(c.blocks, c.count, log1p(s->d->options.least_change),
			                      p.e.dispersion, p.e.degrees);
			p.e.before = c.value[DIFF_A];
			p.e.after = c.value[DIFF_B];
			p.e.count[DIFF_A] = c.samples[DIFF_A];
			p.e.count[DIFF_B] = c.samples[DIFF_B];
			p.e.ratio = exp(diff_fit_ratio(c.blocks, c.count));
			diff_fit_interval(c.blocks, c.count, p.e.dispersion,
			                  student_quantile(0.975, p.e.degrees), &p.e.low,
			                  &p.e.high);
			p.e.low = exp(p.e.low);
			p.e.high = exp(p.e.high);
			vec_push(&s->d->paths, p);
		}
		free(c.blocks);
	}
	if (s->d->paths.count > first)
		qsort_r(s->d->paths.items + first, s->d->paths.count - first,
		        sizeof(*s->d->paths.items), paths_by_text, (void *)runs);
}

/* Keeps the paths whose change is shown, at the rate at which rows were listed. */
static void judge_paths(struct diff *d)
{
	double rate = d->options.rate * (double)d->listed / fmax(1, (double)d->tested);
	double *q = xcalloc(d->paths.count + 1, sizeof(*q));
	size_t kept = 0;

	for (size_t i = 0; i < d->paths.count; i++)
		q[i] = d->paths.items[i].e.p;
	false_discovery_rates(q, d->paths.count, q);
	for (size_t i = 0; i < d->paths.count; i++) {
		struct diff_path_change p = d->paths.items[i];

		p.e.q = q[i];
		p.e.verdict = DIFF_CHANGED;
		if (q[i] <= rate)
			d->paths.items[kept++] = p;
	}
	d->paths.count = kept;
	free(q);
}

void diff_inside(struct diff *d, const struct diff_table *t, const struct diff_scatter *scatter)
{
	struct diff_inside_search s = {d,
	                               t,
	                               scatter,
	                               xcalloc(t->width + 1, sizeof(*s.sums)),
	                               xcalloc(d->runs->paths.count + 1, sizeof(*s.in)),
	                               0};

	for (size_t i = 0; i < d->runs->rows.count * t->width; i++)
		s.all_ns += t->own[i].cpu_ns;
	vec_each (change, &d->changes) {
		if (!diff_is_change(&change->e) || change->row == ID_NONE)
			continue;
		find_moved(&s, change);
		if (has_paths(d->runs, change->row))
			add_paths(&s, change);
	}
	judge_paths(d);
	free(s.sums);
	free(s.in);
}
