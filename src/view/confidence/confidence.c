/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/confidence/confidence.h"

#include "base/statistics/distributions.h"

#include <math.h>
#include <string.h>

#define Z95 1.959964
/* Distances between two samples at which the hits are compared. */
#define LAGS 4
/* The samples are raised by this number of standard errors of the runs of a single sample. */
#define SINGLES_ERRORS 0.7
/* Variance of the place of a change between two samples, in samples squared. */
#define EDGE (1.0 / 12)
/* Mean distance of a time to the nearest sample, in periods. */
#define NEAR 0.25
#define WITNESS_MIN 10
/* With fewer hits the order of the second clock's samples says nothing. */
#define FEW_HITS 30
#define LEAST_PART 0.25

/* A state beside the groups of the input, of which ID_NONE is a sample in the base. */
#define OUTSIDE (ID_NONE - 1)

/* One group. */
struct confidence_tally {
	uint64_t samples;
	uint64_t ends;          /* beginnings and ends of sequences that are hits */
	uint64_t changes[LAGS]; /* pairs at distance 1, 2, ... of a hit and another sample */
	uint64_t borders[LAGS]; /* of these, the other sample is outside of the base */
};

struct confidence_count {
	const struct confidence_input *in;
	struct confidence_tally *tallies;
	struct confidence_tally base; /* the base as a group; changes: pairs of two in the base */
	uint64_t samples;             /* with those outside of the base */
	uint64_t pairs[LAGS];         /* of samples of one sequence at distance 1, 2, ... */
	uint32_t recent[LAGS];        /* states of the last samples of the sequence, latest first */
};

static bool in_base(const struct confidence_input *in, uint32_t row)
{
	return !in->outside || !in->outside[row];
}

static void add_change(struct confidence_count *c, unsigned lag, uint32_t state, uint32_t other)
{
	if (state == OUTSIDE)
		return;
	c->base.borders[lag] += other == OUTSIDE;
	if (state == ID_NONE)
		return;
	c->tallies[state].changes[lag]++;
	c->tallies[state].borders[lag] += other == OUTSIDE;
}

static void add_end(struct confidence_count *c, uint32_t state)
{
	c->base.ends += state != OUTSIDE;
	if (state != OUTSIDE && state != ID_NONE)
		c->tallies[state].ends++;
}

/* at: its number in the sequence. */
static void add_sample(struct confidence_count *c, uint32_t state, uint64_t at)
{
	for (unsigned lag = 0; lag < LAGS && lag < at; lag++) {
		c->pairs[lag]++;
		c->base.changes[lag] += state != OUTSIDE && c->recent[lag] != OUTSIDE;
		if (c->recent[lag] == state)
			continue;
		add_change(c, lag, state, c->recent[lag]);
		add_change(c, lag, c->recent[lag], state);
	}
	memmove(c->recent + 1, c->recent, (LAGS - 1) * sizeof(*c->recent));
	c->recent[0] = state;
	c->base.samples += state != OUTSIDE;
	if (state != OUTSIDE && state != ID_NONE)
		c->tallies[state].samples++;
	if (!at)
		add_end(c, state);
}

static void count_track(struct confidence_count *c, uint32_t track)
{
	struct sample_cursor samples;
	uint64_t length = 0;

	sample_order_begin(c->in->order, &samples, track);
	while (sample_order_next(&samples))
		for (size_t i = 0; i < samples.count; i++) {
			uint32_t row = samples.rows[i];

			add_sample(c, in_base(c->in, row) ? c->in->group[row] : OUTSIDE, length++);
		}
	if (length)
		add_end(c, c->recent[0]);
	c->samples += length;
}

/*
 * The squares of these counts. A share is a ratio: a hit has the value 1 - p, another sample of the
 * base -p, a sample outside of the base 0. `group` and `base` are counts of hits and of samples of
 * the base that have, or whose partner has, the value 0.
 */
static double border_squares(double group, double base, double p)
{
	return group * (1 - p) * (1 - p) + (base - group) * p * p;
}

/*
 * The error of periodic samples, for one sample, if the correlation of two moments falls by `r`
 * from one sample to the next. Samples without correlation (0) are independent; the more of it, the
 * better they replace the whole time between them.
 */
static double sampling_error(double r)
{
	return r < 1 ? (1 + r) / (1 - r) + 2 / log(r) : 2 * EDGE;
}

/* Half of the changes at `lag`, if the correlation falls by r: 1 - r^lag; at the limit: lag. */
static double changes_of(double r, double lag)
{
	return r < 1 ? 1 - pow(r, lag) : lag;
}

struct confidence_fit {
	double independent, correlated; /* parts of the variance of one sample */
	double rest;                    /* sum of the squared deviations */
};

/* Least squares for a given r, with weights 1 / lag; no part is below 0. */
static struct confidence_fit fit(const double *half, double r)
{
	double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, determinant;
	struct confidence_fit f = {0};

	for (unsigned lag = 1; lag <= LAGS; lag++) {
		double x = changes_of(r, lag), y = half[lag - 1], weight = 1.0 / lag;

		w += weight;
		wx += weight * x;
		wxx += weight * x * x;
		wy += weight * y;
		wxy += weight * x * y;
	}
	determinant = w * wxx - wx * wx;
	f.independent = (wy * wxx - wxy * wx) / determinant;
	f.correlated = (wxy * w - wy * wx) / determinant;
	if (f.independent < 0) {
		f.independent = 0;
		f.correlated = wxy / wxx;
	}
	if (f.correlated < 0) {
		f.correlated = 0;
		f.independent = wy / w;
	}
	for (unsigned lag = 1; lag <= LAGS; lag++) {
		double off = half[lag - 1] - f.independent - f.correlated * changes_of(r, lag);

		f.rest += off * off / lag;
	}
	return f;
}

/* The best of the fits; *r: its r. */
static struct confidence_fit best_fit(const double *half, double *r)
{
	static const double falls[] = {.03, .06, .1, .15, .2, .3, .4, .5, .6, .7, .8, .9, 1};
	struct confidence_fit best = {.rest = INFINITY};

	for (size_t i = 0; i < sizeof(falls) / sizeof(*falls); i++) {
		struct confidence_fit f = fit(half, falls[i]);

		if (f.rest >= best.rest)
			continue;
		best = f;
		*r = falls[i];
	}
	return best;
}

/* The variance of the number of hits with the share p. */
static double changes_variance(const struct confidence_count *c, const struct confidence_tally *t,
                               double p)
{
	double n = (double)c->base.samples, independent = n * p * (1 - p), r = 1, singles;
	double half[LAGS];
	struct confidence_fit f;

	for (unsigned i = 0; i < LAGS; i++) {
		double inside = (double)(t->changes[i] - t->borders[i]);
		double squares = inside + border_squares((double)t->borders[i],
		                                         (double)c->base.borders[i], p);

		half[i] = independent;
		if (c->pairs[i])
			half[i] = squares / 2 * (double)c->samples / (double)c->pairs[i];
	}
	singles = 4 * half[0] - 2 * half[1];
	if (singles > 0)
		half[0] += SINGLES_ERRORS * sqrt(singles) / 2;
	f = best_fit(half, &r);
	return fmin(f.independent + f.correlated * sampling_error(r), independent);
}

/* What the order lets expect of samples of another timer; two standard errors are added. */
static void expect_changes(const struct confidence_count *c, const struct confidence_tally *t,
                           struct confidence *out)
{
	double half[LAGS], r = 1, errors = 1 + 2 / sqrt((double)t->changes[0] + 1);
	struct confidence_fit f;

	for (unsigned i = 0; i < LAGS; i++)
		half[i] = c->base.changes[i] ? (double)(t->changes[i] - t->borders[i]) / 2 /
		                                       (double)c->base.changes[i]
		                             : 0.5;
	f = best_fit(half, &r);
	out->near = fmin(errors * 2 * (f.independent + f.correlated * changes_of(r, NEAR)), 1);
}

static void wilson(struct confidence *out, double n)
{
	double p = out->share, q2 = Z95 * Z95, d = 1 + q2 / n;
	double middle = (p + q2 / (2 * n)) / d;
	double half = Z95 * sqrt(p * (1 - p) / n + q2 / (4 * n * n)) / d;

	/* Rounding leaves about 1e-18 if the bound is 0. */
	out->low = middle - half > 1e-12 ? middle - half : 0;
	out->high = p >= 1 ? 1 : fmin(middle + half, 1);
}

/* Without a time axis: samples are assumed to be independent. */
static void conclude_rows(struct confidence *out, uint64_t base)
{
	double n = (double)base;

	if (!base) {
		out->high = 1;
		return;
	}
	out->share = (double)out->samples / n;
	out->variance = fmax(out->share * (1 - out->share) / n, 1 / (n * n));
	wilson(out, n);
}

/* out->samples are all samples of the group, out of `base`, of which the tally may have a part. */
static void conclude(const struct confidence_count *c, const struct confidence_tally *t,
                     uint64_t base, struct confidence *out)
{
	double n = (double)c->base.samples, p = (double)t->samples / n, variance;

	if (!t->samples || t->samples == c->base.samples) {
		conclude_rows(out, base);
		return;
	}
	variance = changes_variance(c, t, p) +
	           EDGE * border_squares((double)t->ends, (double)c->base.ends, p);
	out->share = (double)out->samples / (double)base;
	out->variance = variance / n / n;
	expect_changes(c, t, out);
	wilson(out, fmax(out->share * (1 - out->share) / out->variance, 1));
}

/* Counts the samples in the base from the rows; the tracks should add up to the same number. */
static uint64_t count_rows(const struct confidence_input *in, struct confidence *out)
{
	uint64_t base = 0;

	for (uint32_t i = 0; i < in->profile->rows.count; i++) {
		const struct profile_row *row = &in->profile->rows.items[i];

		if (row->event != in->event || !in_base(in, i))
			continue;
		base += row->samples;
		if (in->group[i] != ID_NONE)
			out[in->group[i]].samples += row->samples;
	}
	return base;
}

uint64_t confidence_intervals(const struct confidence_input *in, struct confidence *out)
{
	const struct time_axis *axis = &in->profile->axis;
	struct confidence_count c = {.in = in};
	bool all;
	uint64_t base;

	for (uint32_t i = 0; i < in->groups; i++)
		out[i] = (struct confidence){0};
	base = count_rows(in, out);
	c.tallies = xcalloc(in->groups ? in->groups : 1, sizeof(*c.tallies));
	for (uint32_t i = 0; i < axis->tracks.count; i++)
		if (axis->tracks.items[i].event == in->event)
			count_track(&c, i);
	all = c.base.samples == base || sample_order_kept(in->order, in->event) < 1;
	for (uint32_t i = 0; i < in->groups; i++)
		if (c.base.samples && all)
			conclude(&c, &c.tallies[i], base, &out[i]);
		else
			conclude_rows(&out[i], base);
	free(c.tallies);
	return base;
}

static double independent_variance(double share, double n)
{
	return share * (1 - share) / n;
}

/*
 * The part that the variance of the second clock has of that of independent samples. It has few
 * samples, and may itself be nearly in step with the program; its order then shows too little of
 * its error.
 */
static double witness_part(const struct confidence *w, double n)
{
	double hits = w->share * n, variance = independent_variance(w->share, n);

	if (fmin(hits, n - hits) < FEW_HITS)
		return 1;
	return fmin(fmax(w->variance / variance, LEAST_PART), 1);
}

/*
 * The difference of both clocks in standard errors. If the first clock is right, the second one has
 * the error of its share, not of the share that the second clock has by chance.
 */
static double step_z(const struct confidence *clock, const struct confidence *w, double n,
                     double part)
{
	double expected = fmin(fmax(w->share, clock->low), clock->high);
	double off = fmax(fabs(clock->share - w->share) - 0.5 / n, 0);

	return off / sqrt(clock->variance + part * independent_variance(expected, n));
}

/* Samples of the second clock between two samples of the first one, a period apart, in the base. */
struct confidence_pairs {
	uint64_t count;
	struct confidence_pair {
		uint64_t other; /* only one of the sample and the nearer one of both is a hit */
		double sum, squares; /* of the difference to the share of hits between both */
	} * groups;
};

static void add_pair(const struct confidence_input *in, struct confidence_pairs *p,
                     const uint32_t *rows, double at)
{
	const double parts[] = {1, at - 1, -at};
	const int nearer = at < 0.5 ? 1 : 2;
	uint32_t groups[3];

	for (int i = 0; i < 3; i++) {
		if (!in_base(in, rows[i]))
			return;
		groups[i] = in->group[rows[i]];
	}
	p->count++;
	for (int i = 0; i < 3; i++) {
		double sum = 0;
		bool seen = groups[i] == ID_NONE;

		for (int j = 0; j < 3; j++) {
			seen = seen || (j < i && groups[j] == groups[i]);
			sum += groups[j] == groups[i] ? parts[j] : 0;
		}
		if (seen)
			continue;
		p->groups[groups[i]].sum += sum;
		p->groups[groups[i]].squares += sum * sum;
		p->groups[groups[i]].other +=
		        (groups[0] == groups[i]) != (groups[nearer] == groups[i]);
	}
}

static void pair_tracks(const struct confidence_input *in, uint32_t clock, uint32_t witness,
                        struct confidence_pairs *p)
{
	const struct time_axis *axis = &in->profile->axis;
	uint64_t period_ns = in->profile->events.items[in->event].period_ns;
	struct time_entry before = {0}, after, sample;
	struct time_cursor c, w;
	bool more;

	time_axis_seek(&c, axis, clock, 0);
	time_axis_seek(&w, axis, witness, 0);
	more = time_axis_next(&c, &after);
	while (more && time_axis_next(&w, &sample)) {
		uint64_t gap_ns;

		while (more && after.time_ns <= sample.time_ns) {
			before = after;
			more = time_axis_next(&c, &after);
		}
		gap_ns = after.time_ns - before.time_ns;
		if (more && before.samples && gap_ns && gap_ns < period_ns + period_ns / 4)
			add_pair(in, p, (uint32_t[]){sample.row, before.row, after.row},
			         (double)(sample.time_ns - before.time_ns) / (double)gap_ns);
	}
}

/* Pairs the samples of both clocks on each CPU. */
static void pair_clocks(const struct confidence_input *in, uint8_t witness,
                        struct confidence_pairs *p)
{
	const struct time_axis *axis = &in->profile->axis;

	if (time_axis_step_ns(axis) > TIME_AXIS_STEP_NS || axis->window_ns)
		return;
	for (uint32_t i = 0; i < axis->tracks.count; i++)
		for (uint32_t j = 0; j < axis->tracks.count; j++) {
			const struct time_track *a = &axis->tracks.items[i];
			const struct time_track *b = &axis->tracks.items[j];

			if (a->event == in->event && b->event == witness && a->cpu == b->cpu &&
			    a->recording == b->recording)
				pair_tracks(in, i, j, p);
		}
}

/* If the clock is right, the differences of the pairs have a mean of 0. */
static double mean_chance(const struct confidence_pair *pair)
{
	return 2 * normal_above(fabs(pair->sum) / sqrt(pair->squares + 0.25));
}

bool confidence_compare(const struct confidence_input *in, uint8_t witness,
                        const struct confidence *clock, struct confidence_step *out)
{
	struct confidence_pairs pairs = {.groups = xcalloc(in->groups + 1, sizeof(*pairs.groups))};
	struct confidence *other = xcalloc(in->groups + 1, sizeof(*other));
	struct confidence_input second = *in;
	double n = 0;

	second.event = witness;
	/* Without the order of samples their variance is not known well enough. */
	if (in->profile->axis.tracks.count)
		n = (double)confidence_intervals(&second, other);
	if (n >= WITNESS_MIN)
		pair_clocks(in, witness, &pairs);
	for (uint32_t i = 0; i < in->groups && n >= WITNESS_MIN; i++) {
		const struct confidence_pair *pair = &pairs.groups[i];
		struct confidence *w = &other[i];
		double part = witness_part(w, n);

		if (w->share > 0 && w->share < 1) {
			w->variance = part * independent_variance(w->share, n);
			wilson(w, n / part);
		}
		out[i] = (struct confidence_step){
		        .witness = w->share, .low = w->low, .high = w->high};
		out[i].shares =
		        fmin(2 * normal_above(step_z(&clock[i], w, n, part)), mean_chance(pair));
		out[i].order =
		        binomial_at_least((double)pair->other, (double)pairs.count, clock[i].near);
	}
	free(pairs.groups);
	free(other);
	return n >= WITNESS_MIN;
}
