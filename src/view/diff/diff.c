/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"
#include "view/diff/diff_inside.h"
#include "view/diff/diff_scatter.h"
#include "view/diff/diff_table.h"
#include "view/diff/diff_whole.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_CHANGE 0.02
#define RATE 0.05
#define CONFIDENCE 0.95
/* Rows with fewer samples on both sides together are pooled. The sides are not separated, so that
 * the test stays independent. */
#define SAMPLES_MIN 20
#define SHARE_MIN 0.003
/* The row for which the smallest visible change is computed, and how often it would be seen. */
#define TYPICAL_SHARE 0.01
#define POWER 0.8

struct work {
	struct diff_table table;
	struct diff_counts *counts; /* by item of changes */
	struct diff_scatter scatter[DIFF_CLASSES];
	bool one_a_side;
	double least_log;
};

bool diff_is_change(const struct diff_estimate *e)
{
	return e->verdict == DIFF_CHANGED || e->verdict == DIFF_NEW || e->verdict == DIFF_GONE;
}

static enum diff_class class_of(const struct diff *d, uint32_t row)
{
	return row == ID_NONE ? DIFF_USER : d->runs->rows.items[row].class;
}

static int rows_by_text(const void *a, const void *b, void *runs)
{
	return diff_runs_compare(runs, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* All rows in the order of their texts: sums of reals depend on the order. The caller frees. */
static uint32_t *sorted_rows(const struct diff_runs *runs)
{
	uint32_t *rows = xcalloc(runs->rows.count + 1, sizeof(*rows));

	for (uint32_t row = 0; row < runs->rows.count; row++)
		rows[row] = row;
	qsort_r(rows, runs->rows.count, sizeof(*rows), rows_by_text, (void *)runs);
	return rows;
}

/* Rows with enough samples become items of `changes`, and one item has the others. */
static void select_rows(struct diff *d, struct work *w)
{
	const struct diff_runs *runs = d->runs;
	const struct diff_sum *own = w->table.own;
	size_t width = w->table.width, pooled = 0;
	uint32_t *rows = sorted_rows(runs);
	double all_ns = 0;

	for (size_t i = 0; i < runs->rows.count * width; i++)
		all_ns += own[i].cpu_ns;
	for (size_t at = 0; at < runs->rows.count; at++) {
		uint32_t row = rows[at];
		double count = 0, cpu_ns = 0;

		for (size_t i = 0; i < width; i++) {
			count += own[row * width + i].count;
			cpu_ns += own[row * width + i].cpu_ns;
		}
		if (!(count > 0))
			continue;
		if (cpu_ns < SHARE_MIN * all_ns || (!runs->exact && count < SAMPLES_MIN)) {
			diff_table_pool(&w->table, row);
			pooled++;
		} else {
			vec_push(&d->changes, (struct diff_change){.row = row, .moved = ID_NONE});
		}
	}
	free(rows);
	if (pooled)
		vec_push(&d->changes, (struct diff_change){.row = ID_NONE, .moved = ID_NONE});
	d->pooled = pooled;
	w->counts = xcalloc(d->changes.count + 1, sizeof(*w->counts));
	for (size_t i = 0; i < d->changes.count; i++) {
		uint32_t row = d->changes.items[i].row;

		if (row == ID_NONE)
			row = (uint32_t)runs->rows.count;
		w->counts[i] = diff_table_counts(&w->table, &own[row * width]);
	}
}

static void estimate(struct diff_estimate *e, const struct diff_counts *c)
{
	e->count[DIFF_A] = c->samples[DIFF_A];
	e->count[DIFF_B] = c->samples[DIFF_B];
	e->before = c->value[DIFF_A];
	e->after = c->value[DIFF_B];
	e->ratio = exp(diff_fit_ratio(c->blocks, c->count));
	e->p = e->q = NAN;
}

static bool is_of(const struct diff *d, size_t i, int class)
{
	return d->changes.items[i].row != ID_NONE &&
	       (class == DIFF_CLASSES || class_of(d, d->changes.items[i].row) == class);
}

/* The scatter of one class between runs; two recordings: between rows. */
static struct diff_scatter fit_class(const struct diff *d, const struct work *w, int class)
{
	struct diff_scattered *runs = xcalloc(d->changes.count + 1, sizeof(*runs));
	struct diff_ratio *ratios = xcalloc(d->changes.count + 1, sizeof(*ratios));
	double floor = d->runs->exact ? 0 : 1;
	struct diff_scatter s;
	size_t count = 0;

	for (size_t i = 0; i < d->changes.count; i++) {
		const struct diff_counts *c = &w->counts[i];
		const struct diff_block *k = c->blocks;

		if (!is_of(d, i, class))
			continue;
		runs[count] = (struct diff_scattered){c->mean, c->own};
		ratios[count++] = (struct diff_ratio){
		        log((k->b + 0.5) / k->b_exposure) - log((k->a + 0.5) / k->a_exposure),
		        floor * (1 / (k->a + 0.5) + 1 / (k->b + 0.5))};
	}
	s = w->one_a_side ? diff_scatter_of_ratios(ratios, count, floor)
	                  : diff_scatter_of_runs(runs, count, w->counts[0].degrees, floor);
	free(runs);
	free(ratios);
	if (w->one_a_side && count < DIFF_PAIR_ROWS_FEW && class != DIFF_CLASSES)
		return fit_class(d, w, DIFF_CLASSES);
	return s;
}

static void fit_classes(const struct diff *d, struct work *w)
{
	for (int class = 0; class < DIFF_CLASSES; class ++)
		w->scatter[class] = fit_class(d, w, class);
}

/* The dispersion of a row, and the probability that chance alone makes its change. */
static void test_counts(const struct work *w, enum diff_class class, double own,
                        const struct diff_counts *c, struct diff_estimate *e)
{
	double degrees = w->one_a_side ? 0 : c->degrees;

	e->dispersion = diff_scatter_shrink(&w->scatter[class], c->mean, own, degrees, &e->degrees);
	e->p = diff_fit_test(c->blocks, c->count, w->least_log, e->dispersion, e->degrees);
	e->error_log =
	        sqrt(e->dispersion * (1 / fmax(c->blocks->a, 0.5) + 1 / fmax(c->blocks->b, 0.5)));
}

/* Two recordings: the scatter within them may be larger than that between rows, and so may be that
 * of a kernel function whose time depends on the state of the machine. */
static void test_pair(const struct diff *d, const struct work *w, const struct diff_counts *c,
                      uint32_t row, struct diff_estimate *e)
{
	const struct diff_row *names = &d->runs->rows.items[row];
	double inside = diff_table_window_dispersion(&w->table, row, c), known = 0;

	if (names->class != DIFF_USER && !d->runs->groups)
		known = diff_scatter_of_name(intern_text(&d->runs->texts, names->function));
	known = known > 0 ? w->scatter[names->class].floor + known * c->mean : 0;
	if (fmax(inside, known) <= e->dispersion)
		return;
	if (inside > e->dispersion)
		e->degrees = fmin(e->degrees, DIFF_WINDOWS - 1);
	e->dispersion = fmax(inside, known);
	e->p = diff_fit_test(c->blocks, c->count, w->least_log, e->dispersion, e->degrees);
}

/* The pooled rows belong to no class: only their own scatter counts. */
static void test_pooled(const struct work *w, const struct diff_counts *c, struct diff_estimate *e)
{
	e->dispersion = fmax(c->own, w->scatter[DIFF_USER].floor);
	e->degrees = fmax(c->degrees, 1);
	if (c->degrees > 0)
		e->p = diff_fit_test(c->blocks, c->count, w->least_log, e->dispersion, e->degrees);
}

/* The time of which no function is known, per unit of work. */
static double missing_of(const struct diff *d, enum diff_side side)
{
	double ns = 0, work = 0;

	vec_each (run, &d->runs->runs) {
		ns += run->side == side ? run->defects.missing_ns : 0;
		work += run->side == side ? run->work : 0;
	}
	return work > 0 ? ns / work : 0;
}

/* Whether the time of a row is unknown, or so much time is missing that the row may have the same
 * time on both sides. */
static bool is_hidden(const struct diff *d, const struct diff_change *change)
{
	const struct diff_estimate *e = &change->e;
	double a = missing_of(d, DIFF_A), b = missing_of(d, DIFF_B);

	if (change->row != ID_NONE && d->runs->rows.items[change->row].unknown)
		return true;
	return a + b > 0 && e->before + a >= e->after && e->after + b >= e->before;
}

static void test_rows(struct diff *d, struct work *w)
{
	for (size_t i = 0; i < d->changes.count; i++) {
		struct diff_change *change = &d->changes.items[i];
		const struct diff_counts *c = &w->counts[i];

		estimate(&change->e, c);
		if (change->row == ID_NONE) {
			test_pooled(w, c, &change->e);
			if (is_hidden(d, change))
				change->e.p = NAN;
			continue;
		}
		test_counts(w, class_of(d, change->row), c->own, c, &change->e);
		if (d->untested || is_hidden(d, change))
			change->e.p = NAN;
		else if (w->one_a_side)
			test_pair(d, w, c, change->row, &change->e);
	}
}

static enum diff_verdict verdict_of(const struct diff_estimate *e, double rate)
{
	if (!(e->q <= rate))
		return DIFF_SAME;
	return e->count[DIFF_A] <= 0 ? DIFF_NEW : e->count[DIFF_B] <= 0 ? DIFF_GONE : DIFF_CHANGED;
}

static void judge(struct diff *d)
{
	size_t count = d->changes.count;
	double *p = xcalloc(count + 1, sizeof(*p));

	for (size_t i = 0; i < count; i++)
		p[i] = d->changes.items[i].e.p;
	false_discovery_rates(p, count, p);
	for (size_t i = 0; i < count; i++) {
		struct diff_estimate *e = &d->changes.items[i].e;

		e->q = p[i];
		e->verdict = (uint8_t)verdict_of(e, d->options.rate);
		d->tested += !isnan(e->p);
		d->listed += diff_is_change(e);
		if (d->changes.items[i].row == ID_NONE && e->verdict == DIFF_SAME)
			e->verdict = DIFF_POOLED;
	}
	free(p);
}

/* Benjamini and Yekutieli: if R of m rows are listed, intervals of level 1 - q R/m cover the true
 * value in 1 - q of the listed rows. */
static void add_intervals(struct diff *d, const struct work *w)
{
	double listed = 1 - d->options.rate * (double)d->listed / fmax(1, (double)d->tested);

	for (size_t i = 0; i < d->changes.count; i++) {
		struct diff_estimate *e = &d->changes.items[i].e;
		double confidence = diff_is_change(e) ? listed : CONFIDENCE, low, high;

		diff_fit_interval(w->counts[i].blocks, w->counts[i].count, e->dispersion,
		                  student_quantile((1 + confidence) / 2, e->degrees), &low, &high);
		bool unknown = d->untested || is_hidden(d, &d->changes.items[i]);

		e->low = unknown ? NAN : exp(low);
		e->high = unknown ? NAN : exp(high);
	}
}

static void add_median_ratio(struct diff *d)
{
	double *ratios = xcalloc(d->changes.count + 1, sizeof(*ratios));

	for (size_t i = 0; i < d->changes.count; i++)
		ratios[i] = d->changes.items[i].e.ratio;
	d->median_ratio = sort_median(ratios, d->changes.count);
	vec_each (change, &d->changes)
		change->beside = change->e.ratio / d->median_ratio;
	free(ratios);
}

static double median_of_class(const struct diff *d, enum diff_class class)
{
	double *values = xcalloc(d->changes.count + 1, sizeof(*values)), median;
	size_t count = 0;

	for (size_t i = 0; i < d->changes.count; i++)
		if (class_of(d, d->changes.items[i].row) == class)
			values[count++] = d->changes.items[i].e.dispersion;
	median = sort_median(values, count);
	free(values);
	return median;
}

/* The ratio that is seen with POWER if a row has TYPICAL_SHARE of the time and stands alone. */
static void add_smallest_change(struct diff *d, const struct work *w)
{
	double count[DIFF_SIDES] = {0}, degrees = 0, ratio_log = w->least_log;
	double spread, floor, level, mean;

	d->smallest_share = TYPICAL_SHARE;
	d->smallest_change = NAN;
	for (int class = 0; class < DIFF_CLASSES; class ++)
		d->class_dispersion[class] = median_of_class(d, class);
	for (size_t i = 0; i < d->changes.count; i++)
		for (size_t k = 0; k < w->counts[i].count; k++) {
			count[DIFF_A] += TYPICAL_SHARE * w->counts[i].blocks[k].a;
			count[DIFF_B] += TYPICAL_SHARE * w->counts[i].blocks[k].b;
		}
	if (!d->tested || !(count[DIFF_A] > 0) || !(count[DIFF_B] > 0))
		return;
	degrees = w->scatter[DIFF_USER].degrees + (w->one_a_side ? 0 : w->counts[0].degrees);
	spread = w->scatter[DIFF_USER].spread;
	floor = w->scatter[DIFF_USER].floor;
	mean = (count[DIFF_A] + count[DIFF_B]) / (double)w->table.width;
	level = student_quantile(1 - d->options.rate / (double)d->tested, degrees) +
	        student_quantile(POWER, degrees);
	for (int i = 0; i < 50; i++)
		ratio_log =
		        w->least_log +
		        level * sqrt((floor + spread * mean) *
		                     (1 / count[DIFF_A] + 1 / (count[DIFF_A] * exp(ratio_log))));
	d->smallest_change = expm1(ratio_log);
}

static int by_time(const void *a, const void *b, void *runs)
{
	const struct diff_change *x = a, *y = b;
	double dx = fabs(x->e.after - x->e.before), dy = fabs(y->e.after - y->e.before);

	if (dx != dy)
		return dx < dy ? 1 : -1;
	if (x->row == ID_NONE || y->row == ID_NONE)
		return x->row == ID_NONE ? y->row != ID_NONE : -1;
	return diff_runs_compare(runs, x->row, y->row);
}

static enum diff_strength strength_of(const struct diff_runs *runs)
{
	size_t least = runs->count[DIFF_A] < runs->count[DIFF_B] ? runs->count[DIFF_A]
	                                                         : runs->count[DIFF_B];

	if (runs->parts)
		return DIFF_RECORDINGS;
	return least >= 3 ? DIFF_STRONG : least == 2 ? DIFF_INDICATION : DIFF_RECORDINGS;
}

struct diff *diff_new(const struct diff_runs *runs, const struct diff_options *options)
{
	struct diff *d = xcalloc(1, sizeof(*d));
	struct work w = {0};

	d->runs = runs;
	if (options)
		d->options = *options;
	if (!(d->options.least_change > 0))
		d->options.least_change = LEAST_CHANGE;
	if (!(d->options.rate > 0))
		d->options.rate = RATE;
	d->strength = (uint8_t)strength_of(runs);
	d->untested = runs->waits && d->strength == DIFF_RECORDINGS;
	w.least_log = log1p(d->options.least_change);
	diff_table_init(&w.table, runs);
	d->paired = w.table.paired;
	w.one_a_side = runs->count[DIFF_A] < 2 && runs->count[DIFF_B] < 2;
	select_rows(d, &w);
	fit_classes(d, &w);
	test_rows(d, &w);
	judge(d);
	add_intervals(d, &w);
	add_median_ratio(d);
	add_smallest_change(d, &w);
	diff_whole(d, &w.table);
	for (size_t i = 0; i < d->changes.count; i++)
		free(w.counts[i].blocks);
	free(w.counts);
	if (d->changes.count)
		qsort_r(d->changes.items, d->changes.count, sizeof(*d->changes.items), by_time,
		        (void *)runs);
	diff_inside(d, &w.table, w.scatter);
	diff_table_done(&w.table);
	return d;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	vec_done(&d->changes);
	vec_done(&d->paths);
	free(d);
}
