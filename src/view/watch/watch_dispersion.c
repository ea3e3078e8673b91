/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/watch/watch_dispersion.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"

#include <math.h>
#include <stdlib.h>

/* At least this many blocks for a dispersion. */
#define BLOCKS_LEAST 8
#define LENGTHS 12
/* With fewer pairs of blocks a dispersion is not known. */
#define PAIRS_LEAST 4
/* The same if blocks have fewer samples. */
#define BLOCK_SAMPLES 5
/* A dispersion that differs by this many standard deviations is not predicted by the dispersions of
 * other series. */
#define OUTLIER 4
/* Maximum degrees of freedom of a typical dispersion; degrees of freedom next to an outlier. */
#define CLASS_DEGREES 500
#define OWN_DEGREES 10
/* A mode with fewer series than this is no class, and neither is a mode that differs by fewer
 * standard errors. */
#define CLASS_LEAST 20
#define CLASS_ERRORS 3
/* Smaller dispersions are raised to this value before their logarithm is taken. */
#define OWN_LEAST 0.05

/* Neighbouring blocks are compared: a change of the level is in one pair only, and the two largest
 * pairs are left out. */
static double block_dispersion(const struct watch_exposure *e, size_t length, double *pairs)
{
	double sum = 0, most[2] = {0}, count = 0, cut;

	for (size_t i = 0; i + 2 * length <= e->w->points; i += 2 * length) {
		double a = e->counts[i + length] - e->counts[i];
		double b = e->counts[i + 2 * length] - e->counts[i + length];
		double a_time = e->times[i + length] - e->times[i];
		double b_time = e->times[i + 2 * length] - e->times[i + length];
		double part = a_time / (a_time + b_time), off = a - (a + b) * part;
		double one;

		if (!(a_time > 0) || !(b_time > 0) || a + b < 1)
			continue;
		one = off * off / ((a + b) * part * (1 - part));
		sum += one;
		most[1] = fmax(most[1], fmin(one, most[0]));
		most[0] = fmax(most[0], one);
		count++;
	}
	*pairs = count;
	if (count < PAIRS_LEAST)
		return 1;
	/* The part of the sum of squares of normal values that remains without the two largest. */
	cut = chi_square_quantile(1 - 2 / count, 1);
	return (sum - most[0] - most[1]) / (count * chi_square_below(cut, 3));
}

static size_t lengths_of(const struct watch *w)
{
	size_t lengths = 1;

	while (lengths < LENGTHS && ((size_t)BLOCKS_LEAST << lengths) <= w->points)
		lengths++;
	return lengths;
}

struct weighed_value {
	double value, weight;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct weighed_value *)a)->value,
	       y = ((const struct weighed_value *)b)->value;

	return x < y ? -1 : x > y;
}

static double weighed_median(struct weighed_value *items, size_t count)
{
	double all = 0, sum = 0;

	qsort(items, count, sizeof(*items), by_value);
	for (size_t i = 0; i < count; i++)
		all += items[i].weight;
	for (size_t i = 0; i < count; i++) {
		sum += items[i].weight;
		if (sum >= all / 2)
			return items[i].value;
	}
	return 0;
}

struct block_row {
	uint32_t series, mode;
	double own, pairs, mean; /* dispersion; pairs of blocks; samples in a block */
};

/* Series with a known dispersion, at one length of a block. */
struct dispersion_blocks {
	struct block_row *items;
	size_t count, room;
};

/* The typical relative change between blocks, squared, and its standard error. The weight of a
 * series is its samples in a block: the change of a series with few samples is only chance. */
struct typical {
	double spread, error;
	double deviation; /* of the logarithms of dispersions from the typical one */
	size_t count;
};

static void set_spread(struct typical *t, const struct dispersion_blocks *b)
{
	struct weighed_value *work = xcalloc(b->count + 1, sizeof(*work));
	double sum = 0, squares = 0;

	for (size_t i = 0; i < b->count; i++) {
		double mean = b->items[i].mean;

		work[i] = (struct weighed_value){(b->items[i].own - 1) / mean, mean};
		sum += mean;
		squares += mean * mean;
	}
	t->spread = weighed_median(work, b->count);
	for (size_t i = 0; i < b->count; i++)
		work[i].value = fabs(work[i].value - t->spread);
	t->error = 1.25 * weighed_median(work, b->count) / 0.6745 * sqrt(squares) / sum;
	free(work);
}

/* One standard error is subtracted, since longer blocks have more noise, and the largest dispersion
 * of all lengths is used. */
static double spread_of(const struct typical *t)
{
	return fmax(0, t->spread - t->error);
}

/* The deviation is computed from the median, so that a few series have no influence. */
static struct typical typical_of(const struct dispersion_blocks *b)
{
	double *work = xcalloc(b->count + 1, sizeof(*work)), spread;
	struct typical t = {.count = b->count};

	set_spread(&t, b);
	spread = spread_of(&t);
	for (size_t i = 0; i < b->count; i++) {
		const struct block_row *row = &b->items[i];

		work[i] = fabs(log(fmax(row->own, OWN_LEAST) / (1 + spread * row->mean)));
	}
	t.deviation = sort_median(work, b->count) / 0.6745;
	free(work);
	return t;
}

/* Shrinks the dispersions towards the typical one. The largest dispersion of all lengths is used,
 * so that it includes noise that lasts for hours. */
static void shrink(struct watch *w, const struct dispersion_blocks *b, const struct typical *t)
{
	/* The variance by chance alone: a multiple of the variance of a chi-square value's
	 * logarithm. */
	double chance = 1.2 + 4 / sqrt((double)t->count), spread = spread_of(t);

	vec_each (row, b) {
		struct watch_series *s = &w->series.items[row->series];
		double both = 1 + spread * row->mean, own = fmax(row->own, OWN_LEAST);
		double pairs = row->pairs - 2; /* without the two largest */
		double between = t->deviation * t->deviation - chance * trigamma(pairs / 2);
		double degrees = between > 0 ? 2 * trigamma_inverse(between) : CLASS_DEGREES;

		degrees = fmin(degrees, CLASS_DEGREES);
		if (log(own / both) > OUTLIER * t->deviation)
			degrees = OWN_DEGREES;
		both = (own * pairs + both * degrees) / (pairs + degrees);
		if (both > s->dispersion) {
			s->dispersion = both;
			s->degrees = pairs + degrees;
		}
	}
}

static int by_mode(const void *a, const void *b)
{
	const struct block_row *x = a, *y = b;

	if (x->mode != y->mode)
		return x->mode < y->mode ? -1 : 1;
	return x->series < y->series ? -1 : x->series > y->series;
}

/* A mode whose series differ from all series is a class of its own. */
static void shrink_modes(struct watch *w, struct dispersion_blocks *b)
{
	struct typical all;

	if (!b->count)
		return;
	all = typical_of(b);
	qsort(b->items, b->count, sizeof(*b->items), by_mode);
	for (size_t i = 0, end; i < b->count; i = end) {
		struct dispersion_blocks mode = {.items = b->items + i};
		struct typical own = all;

		for (end = i; end < b->count && b->items[end].mode == b->items[i].mode;)
			end++;
		mode.count = end - i;
		if (mode.count >= CLASS_LEAST)
			own = typical_of(&mode);
		if (fabs(own.spread - all.spread) <= CLASS_ERRORS * hypot(own.error, all.error))
			own = all;
		shrink(w, &mode, &own);
	}
}

void watch_dispersions_set(struct watch_exposure *e)
{
	struct dispersion_blocks blocks[LENGTHS] = {0};
	struct watch *w = e->w;
	size_t lengths = lengths_of(w);

	for (uint32_t id = 0; id < w->series.count; id++) {
		struct watch_series *s = &w->series.items[id];

		s->dispersion = 1;
		s->degrees = CLASS_DEGREES;
		if (s->pooled)
			continue;
		watch_exposure_set(e, s);
		for (size_t i = 0; i < lengths; i++) {
			size_t length = (size_t)1 << i;
			struct block_row row = {.series = id, .mode = s->mode};

			row.mean = s->all_samples / (double)w->points * (double)length;
			if (row.mean < BLOCK_SAMPLES)
				continue;
			row.own = block_dispersion(e, length, &row.pairs);
			if (row.pairs >= PAIRS_LEAST)
				vec_push(&blocks[i], row);
		}
	}
	for (size_t i = 0; i < lengths; i++) {
		shrink_modes(w, &blocks[i]);
		vec_done(&blocks[i]);
	}
}
