/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/confidence/confidence.h"

#include "base/piece.h"
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
/* Samples that are compared at once: their states fit into the cache. */
#define PIECE PIECE_OF(4096)
/* One of so many samples of a piece is in the base: the others are skipped. */
#define FEW_INSIDE 4

/* Falls of the correlation that are tried. */
static const double falls[] = {.03, .06, .1, .15, .2, .3, .4, .5, .6, .7, .8, .9, 1};
#define FALLS (sizeof(falls) / sizeof(*falls))

/* One group. */
struct confidence_tally {
	uint64_t samples;
	uint64_t ends;          /* beginnings and ends of sequences that are hits */
	uint64_t changes[LAGS]; /* pairs at distance 1, 2, ... of a hit and another sample */
	uint64_t borders[LAGS]; /* of these, the other sample is outside of the base */
};

struct confidence_count {
	const struct confidence_input *in;
	/*
	 * Of the groups of the input, and two more states: a sample in the base that is in no
	 * group, and a sample outside of the base, whose counts mean nothing.
	 */
	struct confidence_tally *tallies;
	uint32_t no_group, outside;
	struct confidence_tally base; /* the base as a group; changes: pairs of two in the base */
	uint64_t samples;             /* with those outside of the base */
	uint64_t pairs[LAGS];         /* of samples of one sequence at distance 1, 2, ... */
	uint32_t *state_of;           /* by row */
	/* States of samples that follow each other, after the LAGS last ones before them. */
	uint32_t states[LAGS + PIECE];
	double fall_changes[FALLS][LAGS]; /* of best_fit() */
};

static bool in_base(const struct confidence_input *in, uint32_t row)
{
	return !in->outside || !in->outside[row];
}

static void add_end(struct confidence_count *c, uint32_t state)
{
	c->base.ends += state != c->outside;
	c->tallies[state].ends++;
}

/* A pair of two different states at a distance, the later one first. */
static void count_change(struct confidence_count *c, unsigned lag, uint32_t state, uint32_t other)
{
	bool out = state == c->outside, other_out = other == c->outside;

	c->base.borders[lag] += out || other_out;
	c->tallies[state].changes[lag]++;
	c->tallies[state].borders[lag] += other_out;
	c->tallies[other].changes[lag]++;
	c->tallies[other].borders[lag] += out;
}

/*
 * Compares the states from `first` to `end` with those at a distance before them. Pairs that differ
 * are collected without a branch, which the processor could not predict.
 */
static void count_changes(struct confidence_count *c, unsigned lag, size_t first, size_t end)
{
	uint16_t changes[PIECE];
	size_t count = 0, both = 0;

	for (size_t i = first; i < end; i++) {
		uint32_t state = c->states[i], other = c->states[i - lag - 1];

		changes[count] = (uint16_t)i;
		count += state != other;
		both += (state != c->outside) & (other != c->outside);
	}
	c->base.changes[lag] += both;
	for (size_t i = 0; i < count; i++)
		count_change(c, lag, c->states[changes[i]], c->states[changes[i] - lag - 1]);
}

/*
 * The same for all distances, where few samples are in the base, at `inside`. A pair of one of them
 * and a later sample outside of the base is counted with the earlier one.
 */
static void count_changes_of(struct confidence_count *c, const uint16_t *inside, size_t count,
                             size_t first, size_t end)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = inside[i];
		uint32_t state = c->states[at];

		for (unsigned lag = 0; lag < LAGS && at >= first; lag++) {
			uint32_t other = c->states[at - lag - 1];

			c->base.changes[lag] += other != c->outside;
			if (state != other)
				count_change(c, lag, state, other);
		}
		for (unsigned lag = 0; lag < LAGS && at + lag + 1 < end; lag++)
			if (at + lag + 1 >= first && c->states[at + lag + 1] == c->outside)
				count_change(c, lag, c->outside, state);
	}
}

/* `before`: the number of samples before them in the sequence. */
static void count_piece(struct confidence_count *c, const uint32_t *rows, size_t count,
                        uint64_t before)
{
	uint16_t inside[PIECE];
	size_t in_base = 0, end = LAGS + count, dense = end;

	for (size_t i = 0; i < count; i++) {
		uint32_t state = c->state_of[rows[i]];

		c->states[LAGS + i] = state;
		c->tallies[state].samples++;
		inside[in_base] = (uint16_t)(LAGS + i);
		in_base += state != c->outside;
	}
	c->base.samples += in_base;
	if (!before)
		add_end(c, c->states[LAGS]);
	/* The first states are compared with those before the piece. */
	if (in_base < count / FEW_INSIDE)
		dense = 2 * LAGS < end ? 2 * LAGS : end;
	for (unsigned lag = 0; lag < LAGS; lag++) {
		size_t first = LAGS + (before <= lag ? lag + 1 - before : 0);

		count_changes(c, lag, first, dense);
		c->pairs[lag] += end > first ? end - first : 0;
	}
	if (dense < end)
		count_changes_of(c, inside, in_base, dense, end);
	memmove(c->states, c->states + count, LAGS * sizeof(*c->states));
}

static void count_track(struct confidence_count *c, uint32_t track)
{
	struct sample_cursor samples;
	uint64_t length = 0;

	sample_order_begin(c->in->order, &samples, track);
	while (sample_order_next(&samples))
		for (size_t i = 0, count; i < samples.count; i += count) {
			count = samples.count - i < PIECE ? samples.count - i : PIECE;
			count_piece(c, samples.rows + i, count, length);
			length += count;
		}
	if (length)
		add_end(c, c->states[LAGS - 1]);
	c->samples += length;
}

/* Half of the changes at `lag`, if the correlation falls by r: 1 - r^lag; at the limit: lag. */
static double changes_of(double r, double lag)
{
	return r < 1 ? 1 - pow(r, lag) : lag;
}

static void count_init(struct confidence_count *c, const struct confidence_input *in)
{
	size_t count = in->profile->rows.count;

	memset(c, 0, sizeof(*c));
	c->in = in;
	c->no_group = in->groups;
	c->outside = in->groups + 1;
	c->tallies = xcalloc((size_t)in->groups + 2, sizeof(*c->tallies));
	c->state_of = xmalloc((count + 1) * sizeof(*c->state_of));
	for (size_t i = 0; i < count; i++)
		c->state_of[i] = !in_base(in, (uint32_t)i) ? c->outside
		                 : in->group[i] == ID_NONE ? c->no_group
		                                           : in->group[i];
	for (size_t i = 0; i < FALLS; i++)
		for (unsigned lag = 1; lag <= LAGS; lag++)
			c->fall_changes[i][lag - 1] = changes_of(falls[i], lag);
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

struct confidence_fit {
	double independent, correlated; /* parts of the variance of one sample */
	double rest;                    /* sum of the squared deviations */
};

/* Least squares for one fall of the correlation, with weights 1 / lag; no part is below 0. */
static struct confidence_fit fit(const double *half, const double *changes)
{
	double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, determinant;
	struct confidence_fit f = {0};

	for (unsigned lag = 1; lag <= LAGS; lag++) {
		double x = changes[lag - 1], y = half[lag - 1], weight = 1.0 / lag;

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
		double off = half[lag - 1] - f.independent - f.correlated * changes[lag - 1];

		f.rest += off * off / lag;
	}
	return f;
}

/* The best of the fits; *r: its r. */
static struct confidence_fit best_fit(const struct confidence_count *c, const double *half,
                                      double *r)
{
	struct confidence_fit best = {.rest = INFINITY};

	for (size_t i = 0; i < FALLS; i++) {
		struct confidence_fit f = fit(half, c->fall_changes[i]);

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
	f = best_fit(c, half, &r);
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
	f = best_fit(c, half, &r);
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
	struct confidence_count c;
	bool all;
	uint64_t base;

	for (uint32_t i = 0; i < in->groups; i++)
		out[i] = (struct confidence){0};
	base = count_rows(in, out);
	count_init(&c, in);
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
	free(c.state_of);
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
