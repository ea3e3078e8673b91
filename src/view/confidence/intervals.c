/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/confidence/intervals.h"

#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"
#include "base/statistics/samples.h"

#include <math.h>

const double intervals_percentiles[INTERVALS_PERCENTILES] = {1, 5, 25, 50, 75, 95, 99};

static void figures(const double *sorted, size_t count, struct intervals_figures *f)
{
	double sum = 0, squares = 0;

	*f = (struct intervals_figures){.count = count};
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		sum += sorted[i];
	f->mean_ns = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (sorted[i] - f->mean_ns) * (sorted[i] - f->mean_ns);
	f->deviation_ns = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	f->min_ns = sorted[0];
	f->max_ns = sorted[count - 1];
	for (size_t i = 0; i < INTERVALS_PERCENTILES; i++)
		f->percentiles_ns[i] =
		        sorted_quantile(sorted, count, intervals_percentiles[i] / 100);
	for (size_t i = 0; i <= INTERVALS_CURVE; i++)
		f->curve_ns[i] = sorted_quantile(sorted, count, (double)i / INTERVALS_CURVE);
}

/* Bins of equal width over the trimmed range; values outside are counted in the first and last
 * bin. */
static void make_bins(const double *sorted, size_t count, struct intervals_cpu *c)
{
	double from = floor(c->trimmed.min_ns), to = ceil(c->trimmed.max_ns);
	double width = fmax(1, ceil((to - from) / INTERVALS_BINS));

	for (size_t b = 0; b < INTERVALS_BINS; b++) {
		c->bins[b].from = (uint64_t)(from + width * (double)b);
		c->bins[b].to = (uint64_t)(from + width * (double)(b + 1));
	}
	c->bins[0].from = (uint64_t)sorted[0];
	if (sorted[count - 1] > (double)c->bins[INTERVALS_BINS - 1].to)
		c->bins[INTERVALS_BINS - 1].to = (uint64_t)sorted[count - 1];
}

/* `spans`: in the order of time. */
static void fill_bins(const struct ticks_cpu *t, const double *spans, size_t count,
                      struct intervals_cpu *c)
{
	double from = floor(c->trimmed.min_ns);
	double width = (double)(c->bins[1].to - c->bins[1].from);

	for (size_t i = 0; i < count; i++) {
		double place = fmin(fmax(floor((spans[i] - from) / width), 0), INTERVALS_BINS - 1);
		struct histogram_step *bin = &c->bins[(size_t)place];

		bin->count++;
		bin->marked += c->late_limit_ns > 0 && t->late.items[i + 1] > c->late_limit_ns;
	}
}

static void lateness(const struct ticks_cpu *t, struct intervals_cpu *c)
{
	size_t count = t->late.count;
	double *late = xmalloc((count + 1) * sizeof(*late));

	for (size_t i = 0; i < count; i++)
		late[i] = (double)t->late.items[i];
	sorted_doubles(late, count);
	figures(late, count, &c->late);
	if (count && count == t->times.count)
		c->late_limit_ns = INTERVALS_LATE * c->late.percentiles_ns[3];
	free(late);
}

static void measure(const struct ticks_cpu *t, struct intervals_cpu *c)
{
	size_t count = t->times.count ? t->times.count - 1 : 0;
	size_t drop = (size_t)ceil(INTERVALS_EXTREMES * (double)count);
	double *spans = xmalloc((count + 1) * sizeof(*spans));
	double *sorted = xmalloc((count + 1) * sizeof(*sorted));

	c->recording = t->recording;
	c->cpu = t->cpu;
	c->samples = t->times.count;
	c->missing = t->missing;
	c->backwards = t->backwards;
	for (size_t i = 0; i < count; i++)
		sorted[i] = spans[i] = (double)(t->times.items[i + 1] - t->times.items[i]);
	sorted_doubles(sorted, count);
	if (count <= 2 * drop)
		drop = 0;
	figures(sorted, count, &c->all);
	figures(sorted + drop, count - 2 * drop, &c->trimmed);
	lateness(t, c);
	if (count) {
		make_bins(sorted, count, c);
		fill_bins(t, spans, count, c);
	}
	free(spans);
	free(sorted);
}

static int compare_cpus(const void *a, const void *b)
{
	const struct intervals_cpu *x = a, *y = b;

	if (x->recording != y->recording)
		return x->recording < y->recording ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

struct intervals *intervals_new(const struct ticks *t)
{
	struct intervals *v = xcalloc(1, sizeof(*v));

	v->event = t->event;
	v->period_ns = t->period_ns;
	v->machine_wide = t->machine_wide;
	v->cut = t->cut;
	vec_each (line, &t->cpus)
		measure(line, vec_add(&v->cpus));
	if (v->cpus.count)
		qsort(v->cpus.items, v->cpus.count, sizeof(*v->cpus.items), compare_cpus);
	return v;
}

void intervals_free(struct intervals *v)
{
	if (!v)
		return;
	vec_done(&v->cpus);
	free(v);
}
