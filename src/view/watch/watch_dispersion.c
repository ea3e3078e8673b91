/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/watch/watch_dispersion.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"
#include "base/statistics/samples.h"

#include <math.h>
#include <stdlib.h>

/* At least this many blocks for a dispersion. */
#define BLOCKS_LEAST 8
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
/* With fewer points than this there are few pairs: the scatter around two levels is used if it is
 * smaller, since it has twice the degrees of freedom, and longer blocks say little more than
 * shorter ones. With more points there may be several changes, and noise that lasts for long. */
#define FEW_POINTS 400
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

	while (lengths < WATCH_LENGTHS && ((size_t)BLOCKS_LEAST << lengths) <= w->points)
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
	double own, degrees, mean; /* dispersion; degrees of freedom; samples in a block */
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
static void shrink(struct watch *w, enum watch_unit unit, const struct dispersion_blocks *b,
                   const struct typical *t)
{
	/* The variance by chance alone: a multiple of the variance of a chi-square value's
	 * logarithm. */
	double chance = 1.2 + 4 / sqrt((double)t->count), spread = spread_of(t);

	vec_each (row, b) {
		struct watch_scatter *s = &w->series.items[row->series].scatter[unit];
		double both = 1 + spread * row->mean, own = fmax(row->own, OWN_LEAST);
		double between = t->deviation * t->deviation - chance * trigamma(row->degrees / 2);
		double degrees = between > 0 ? 2 * trigamma_inverse(between) : CLASS_DEGREES;
		double shorter =
		        w->points < FEW_POINTS ? fmin(s->longest_degrees / 2, row->degrees) : 0;

		degrees = fmin(degrees, CLASS_DEGREES);
		if (log(own / both) > OUTLIER * t->deviation)
			degrees = OWN_DEGREES;
		both = (own * row->degrees + both * degrees + s->longest * shorter) /
		       (row->degrees + degrees + shorter);
		s->longest = both;
		s->longest_degrees = row->degrees + degrees + shorter;
		if (both > s->dispersion) {
			s->dispersion = both;
			s->degrees = s->longest_degrees;
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
static void shrink_modes(struct watch *w, enum watch_unit unit, struct dispersion_blocks *b)
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
		shrink(w, unit, &mode, &own);
	}
}

/* The point at which the level differs most, by Pearson's score; 0: none. */
static size_t best_step(const struct watch_exposure *e)
{
	size_t points = e->w->points, best = 0;
	double count = e->counts[points], time = e->times[points], most = 0;

	for (size_t i = WATCH_SIDE_LEAST; i + WATCH_SIDE_LEAST <= points; i++) {
		double part = e->times[i] / time, off = e->counts[i] - count * part;
		double score = part > 0 && part < 1 ? off * off / (part * (1 - part)) : 0;

		if (score > most) {
			most = score;
			best = i;
		}
	}
	return best;
}

/* How much blocks differ from two levels: a change is one step, and the wrong unit is many. */
static void set_own(const struct watch_exposure *e, struct watch_scatter *scatter, double samples)
{
	size_t points = e->w->points, step = best_step(e), lengths = lengths_of(e->w);
	double before = step ? e->counts[step] / e->times[step] : 0;
	double after = (e->counts[points] - e->counts[step]) / (e->times[points] - e->times[step]);

	for (size_t i = 0; i < lengths; i++) {
		size_t length = (size_t)1 << i;
		double sum = 0, blocks = 0;

		if (samples / (double)points * (double)length < BLOCK_SAMPLES)
			continue;
		for (size_t at = 0; at + length <= points; at += length) {
			size_t end = at + length, cut = step < at ? at : step > end ? end : step;
			double expected = before * (e->times[cut] - e->times[at]) +
			                  after * (e->times[end] - e->times[cut]);
			double off = e->counts[end] - e->counts[at] - expected;

			if (!(expected > 0))
				continue;
			sum += off * off / expected;
			blocks++;
		}
		if (blocks < BLOCKS_LEAST)
			continue;
		scatter->blocks[i] = (float)(blocks - 2);
		scatter->own[i] = (float)(sum / (blocks - 2));
	}
}

/* The dispersion of the series itself at each length. */
static void add_blocks(struct watch_exposure *e, enum watch_unit unit, uint32_t id,
                       struct dispersion_blocks *blocks)
{
	struct watch_series *s = &e->w->series.items[id];
	struct watch_scatter *scatter = &s->scatter[unit];
	size_t lengths = lengths_of(e->w);

	*scatter = (struct watch_scatter){.dispersion = 1, .degrees = CLASS_DEGREES};
	if (s->pooled || !watch_exposure_set(e, s, unit))
		return;
	set_own(e, scatter, s->all_samples);
	for (size_t i = 0; i < lengths; i++) {
		size_t length = (size_t)1 << i;
		struct block_row row = {.series = id, .mode = s->mode};
		double pairs;

		row.mean = s->all_samples / (double)e->w->points * (double)length;
		if (row.mean < BLOCK_SAMPLES)
			continue;
		row.own = block_dispersion(e, length, &pairs);
		row.degrees = pairs < PAIRS_LEAST ? 0 : pairs - 2; /* without the two largest */
		if (e->w->points < FEW_POINTS && scatter->blocks[i] > 0 &&
		    (!(row.degrees > 0) || scatter->own[i] < row.own)) {
			row.own = scatter->own[i];
			row.degrees = scatter->blocks[i];
		}
		if (row.degrees > 0)
			vec_push(&blocks[i], row);
	}
}

void watch_dispersions_set(struct watch_exposure *e, enum watch_unit unit, const uint32_t *ids,
                           size_t count)
{
	struct dispersion_blocks blocks[WATCH_LENGTHS] = {0};

	for (size_t i = 0; i < (ids ? count : e->w->series.count); i++)
		add_blocks(e, unit, ids ? ids[i] : (uint32_t)i, blocks);
	for (size_t i = 0; i < WATCH_LENGTHS; i++) {
		shrink_modes(e->w, unit, &blocks[i]);
		vec_done(&blocks[i]);
	}
}
