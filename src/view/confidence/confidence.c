/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/confidence/confidence.h"

#include "base/statistics/distributions.h"

#include <math.h>

#define Z95 1.959964
#define SLICES 20
#define CYCLES_MIN 5
#define CLEARLY_LESS 3
#define LEAST_VARIANCE (1.0 / 3) /* samples squared: the error at the two ends of a sequence */
#define WITNESS_MIN 50
/* Probability of a false alarm over all compared groups, and the smallest share that is
 * compared. */
#define STEP_ALARM 0.002
#define STEP_SHARE 0.02

/*
 * Sums over blocks of a fixed number of cycles, of squares and products. The variance follows from
 * these sums for any share, so the share need not be known while counting.
 */
struct confidence_blocks {
	uint64_t size, filled; /* cycles per block; cycles in the current block */
	double hits, time;     /* hits and time of the current block */
	uint64_t count;        /* complete blocks */
	double all_time, hits2, hits_time, time2;
	double hits2_time, hits_time2, time3; /* the same, each multiplied by the block's length */
};

/*
 * Blocks of one cycle, a twentieth and an eighth of all cycles. If the program has regular phases,
 * the errors of successive cycles cancel, and longer blocks have a smaller variance. For other
 * programs all three give the same variance.
 */
enum { BY_CYCLE, BY_TWENTIETH, BY_EIGHTH, BLOCK_KINDS };
static const uint64_t block_counts[BLOCK_KINDS] = {0, 20, 8};

/* One group: counts in the current sequence, and sums over the earlier sequences. */
struct confidence_tally {
	/* current sequence; positions and lengths in samples of the base */
	uint64_t runs, hits, last_start, last_length;
	double gaps, gaps2; /* sums of the gaps between runs, and of their squares */
	uint64_t expected;  /* number of cycles, counted in an earlier pass */
	uint64_t cycle_start, cycle_hits;
	uint64_t edges;       /* starts and ends of runs inside the sequence */
	uint64_t single_runs; /* runs of one sample */
	uint64_t single_gaps; /* gaps of one sample between runs */
	struct confidence_blocks blocks[BLOCK_KINDS];
	/* all sequences */
	uint64_t samples;
	double variance, floor; /* in samples squared */
	double freedom;         /* sum of variance^2 / degrees of freedom */
	uint32_t slices[SLICES];
};

struct confidence_count {
	const struct confidence_input *in;
	struct confidence_tally *tallies;
	VEC(uint32_t) touched; /* groups with hits in the current sequence */
	uint64_t base, slice_base[SLICES];
	struct sample_order *order;
	uint32_t track;
	uint64_t length; /* length of the track, in samples of the base */
};

static bool in_base(const struct confidence_input *in, uint32_t row)
{
	return !in->outside || !in->outside[row];
}

static void begin_blocks(struct confidence_tally *t)
{
	for (int kind = 0; kind < BLOCK_KINDS; kind++) {
		uint64_t wanted = block_counts[kind], size = UINT64_MAX;

		if (!wanted)
			size = 1;
		else if (t->expected >= 2 * wanted)
			size = t->expected / wanted;
		t->blocks[kind] = (struct confidence_blocks){.size = size};
	}
}

static void add_cycle(struct confidence_tally *t, uint64_t hits, uint64_t time)
{
	for (int kind = 0; kind < BLOCK_KINDS; kind++) {
		struct confidence_blocks *b = &t->blocks[kind];

		b->hits += (double)hits;
		b->time += (double)time;
		if (++b->filled < b->size)
			continue;
		b->hits2 += b->hits * b->hits;
		b->hits_time += b->hits * b->time;
		b->time2 += b->time * b->time;
		b->hits2_time += b->hits * b->hits * b->time;
		b->hits_time2 += b->hits * b->time * b->time;
		b->time3 += b->time * b->time * b->time;
		b->all_time += b->time;
		b->count++;
		b->filled = 0;
		b->hits = b->time = 0;
	}
}

/*
 * The variance of the number of hits in `length` samples, from the scatter of these blocks. Each
 * block pulls the share towards itself, and a long block pulls more. Relative to the other blocks
 * its squared deviation is larger by 1 / (1 - its part of the time), squared; the code uses the
 * first two terms of that series. Without the correction, intervals from few and uneven blocks are
 * too narrow.
 */
static double block_variance(const struct confidence_blocks *b, double p, uint64_t length)
{
	double sum = b->hits2 - 2 * p * b->hits_time + p * p * b->time2;
	double pull = b->hits2_time - 2 * p * b->hits_time2 + p * p * b->time3;

	sum += 2 * pull / b->all_time;
	return sum * (double)b->count / (double)(b->count - 1) * (double)length / b->all_time;
}

/*
 * Whether a gap ends a cycle. An interrupt during a long run leaves a gap of one sample, and the
 * two halves are not two cycles. A gap ends a cycle if it is at least a quarter of gaps2 / gaps,
 * the average length of the gap that contains a random missed sample.
 */
static bool ends_cycle(const struct confidence_tally *t, uint64_t gap)
{
	return 4 * (double)gap * t->gaps >= t->gaps2;
}

typedef void run_fn(struct confidence_count *c, uint32_t group, uint64_t start, uint64_t length);

static void measure_gap(struct confidence_count *c, uint32_t group, uint64_t start, uint64_t length)
{
	struct confidence_tally *t = &c->tallies[group];
	double gap = (double)(start - t->last_start - t->last_length);

	if (t->runs++) {
		t->gaps += gap;
		t->gaps2 += gap * gap;
	} else {
		vec_push(&c->touched, group);
	}
	t->last_start = start;
	t->last_length = length;
}

static void expect_cycle(struct confidence_count *c, uint32_t group, uint64_t start,
                         uint64_t length)
{
	struct confidence_tally *t = &c->tallies[group];

	if (t->runs++)
		t->expected += ends_cycle(t, start - t->last_start - t->last_length);
	t->last_start = start;
	t->last_length = length;
}

/* Adds a run of hits of one group: [start, start + length) of the sequence. */
static void add_run(struct confidence_count *c, uint32_t group, uint64_t start, uint64_t length)
{
	struct confidence_tally *t = &c->tallies[group];
	uint64_t gap = start - t->last_start - t->last_length;

	if (!t->runs++) {
		begin_blocks(t);
		t->edges += start > 0;
		t->cycle_start = start;
	} else {
		t->edges++;
		t->single_gaps += gap == 1;
		if (ends_cycle(t, gap)) {
			add_cycle(t, t->cycle_hits, start - t->cycle_start);
			t->cycle_start = start;
			t->cycle_hits = 0;
		}
	}
	t->cycle_hits += length;
	t->edges += start + length < c->length;
	t->single_runs += length == 1;
	t->hits += length;
	t->last_start = start;
	t->last_length = length;
	/* Adds the hits to the slices of time that the run covers. */
	for (uint64_t at = start; at < start + length;) {
		uint64_t slice = at * SLICES / c->length;
		uint64_t next = ((slice + 1) * c->length + SLICES - 1) / SLICES;
		uint64_t end = next < start + length ? next : start + length;

		t->slices[slice] += (uint32_t)(end - at);
		at = end;
	}
}

/*
 * The variance from the cycles of a sequence, and its degrees of freedom. The samples before the
 * first run and after the start of the last run are not a whole cycle, so they are not used.
 */
static double cycle_variance(const struct confidence_tally *t, double p, uint64_t length,
                             double floor, double *degrees)
{
	const struct confidence_blocks *cycles = &t->blocks[BY_CYCLE];
	double variance = fmax(block_variance(cycles, p, length), floor);

	*degrees = (double)cycles->count - 1;
	for (int kind = BY_TWENTIETH; kind < BLOCK_KINDS; kind++) {
		const struct confidence_blocks *b = &t->blocks[kind];
		double other;

		if (b->count < block_counts[kind])
			break;
		other = fmax(block_variance(b, p, length), LEAST_VARIANCE);
		/* Longer blocks replace shorter ones only if their variance is smaller by a factor
		 * that chance alone reaches in fewer than one of a hundred cases. */
		if (other * CLEARLY_LESS > variance)
			break;
		variance = other;
		*degrees = (double)b->count - 1;
	}
	return variance;
}

/* Ends the sequence for one group: adds the group's variance in the sequence to its total. */
static void close_sequence(struct confidence_tally *t, uint64_t length)
{
	double p = (double)t->hits / (double)length, degrees;
	double floor = (double)t->edges / 12 + 1.0 / 6, variance;

	if (t->expected < CYCLES_MIN) {
		variance = floor + (double)t->single_runs * (1 - p) + (double)t->single_gaps * p;
		t->floor += floor;
	} else {
		variance = cycle_variance(t, p, length, floor, &degrees);
		t->freedom += variance * variance / degrees;
		t->floor += fmin(floor, variance);
	}
	t->variance += variance;
	t->samples += t->hits;
	t->expected = t->runs = t->hits = t->last_start = t->last_length = t->cycle_hits = 0;
	t->gaps = t->gaps2 = 0;
	t->edges = t->single_runs = t->single_gaps = 0;
}

static void each_run(struct confidence_count *c, run_fn *run)
{
	uint32_t current = ID_NONE;
	uint64_t start = 0, at = 0;
	struct sample_cursor samples;

	sample_order_begin(c->order, &samples, c->track);
	while (sample_order_next(&samples))
		for (size_t i = 0; i < samples.count; i++) {
			uint32_t row = samples.rows[i], group;

			if (!in_base(c->in, row))
				continue;
			group = c->in->group[row];
			if (group != current) {
				if (current != ID_NONE)
					run(c, current, start, at - start);
				current = group;
				start = at;
			}
			at++;
		}
	if (current != ID_NONE)
		run(c, current, start, at - start);
}

static uint64_t count_samples(struct confidence_count *c)
{
	struct sample_cursor samples;
	uint64_t length = 0;

	sample_order_begin(c->order, &samples, c->track);
	while (sample_order_next(&samples))
		for (size_t i = 0; i < samples.count; i++)
			length += in_base(c->in, samples.rows[i]);
	return length;
}

/* Called before the next pass over the same sequence. */
static void restart(struct confidence_count *c)
{
	vec_each (group, &c->touched)
		c->tallies[*group].runs = 0;
}

static void count_track(struct confidence_count *c, uint32_t track)
{
	c->track = track;
	c->length = count_samples(c);
	if (!c->length)
		return;
	c->base += c->length;
	for (uint64_t i = 0; i < SLICES; i++)
		c->slice_base[i] += ((i + 1) * c->length + SLICES - 1) / SLICES -
		                    (i * c->length + SLICES - 1) / SLICES;
	each_run(c, measure_gap);
	restart(c);
	each_run(c, expect_cycle);
	restart(c);
	each_run(c, add_run);
	vec_each (group, &c->touched)
		close_sequence(&c->tallies[*group], c->length);
	c->touched.count = 0;
}

/* The variance over slices of time, all CPUs together. */
static double slice_variance(const struct confidence_count *c, const struct confidence_tally *t,
                             double p)
{
	double sum = 0;

	for (size_t i = 0; i < SLICES; i++) {
		double off = (double)t->slices[i] - p * (double)c->slice_base[i];

		sum += off * off;
	}
	return sum * SLICES / (SLICES - 1);
}

static void wilson(struct confidence *out, double n, double quantile)
{
	double p = out->share, q2 = quantile * quantile, d = 1 + q2 / n;
	double middle = (p + q2 / (2 * n)) / d;
	double half = quantile * sqrt(p * (1 - p) / n + q2 / (4 * n * n)) / d;

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
	wilson(out, n, Z95);
}

/* out->samples are all samples of the group, out of `base`, of which the tally may have a part. */
static void conclude(const struct confidence_count *c, const struct confidence_tally *t,
                     uint64_t base, struct confidence *out)
{
	double n = (double)c->base, p = (double)t->samples / n, v = t->variance, slices;
	double degrees = t->freedom > 0 ? v * v / t->freedom : INFINITY, effective;

	if (!t->samples || t->samples == c->base) {
		conclude_rows(out, base);
		return;
	}
	slices = fmax(slice_variance(c, t, p), t->floor);
	if (n >= 20 * SLICES && slices < v / 4) {
		v = slices;
		degrees = SLICES - 1;
	}
	out->share = (double)out->samples / (double)base;
	out->variance = v / n / n;
	effective = fmax(out->share * (1 - out->share) / out->variance, 1);
	wilson(out, effective, student_quantile(0.975, fmax(degrees, 3)));
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
	struct confidence_count c = {.in = in, .order = in->order};
	bool all;
	uint64_t base;

	for (uint32_t i = 0; i < in->groups; i++)
		out[i] = (struct confidence){0};
	base = count_rows(in, out);
	c.tallies = xcalloc(in->groups ? in->groups : 1, sizeof(*c.tallies));
	for (uint32_t i = 0; i < axis->tracks.count; i++)
		if (axis->tracks.items[i].event == in->event)
			count_track(&c, i);
	all = c.base == base || sample_order_kept(c.order, in->event) < 1;
	for (uint32_t i = 0; i < in->groups; i++)
		if (c.base && all)
			conclude(&c, &c.tallies[i], base, &out[i]);
		else
			conclude_rows(&out[i], base);
	free(c.tallies);
	vec_done(&c.touched);
	return base;
}

static int by_difference(const void *a, const void *b)
{
	const struct confidence_step *x = a, *y = b;
	double dx = fabs(x->clock - x->witness), dy = fabs(y->clock - y->witness);

	if (dx != dy)
		return dx < dy ? 1 : -1;
	return x->group < y->group ? -1 : x->group > y->group;
}

/*
 * The witness has few samples, and may itself be nearly synchronized with the program; its cycles
 * then show too little of its scatter. Its variance is at least that of four times as many
 * independent samples.
 */
static void widen_witness(struct confidence *w, uint64_t samples)
{
	double n = 4 * (double)samples, variance = w->share * (1 - w->share) / n;

	if (variance <= w->variance)
		return;
	w->variance = variance;
	wilson(w, n, Z95);
}

static bool is_compared(const struct confidence *a, const struct confidence *b)
{
	return fmax(a->share, b->share) >= STEP_SHARE;
}

size_t confidence_steps(const struct confidence_input *in, uint8_t witness,
                        struct confidence_step *out, size_t room)
{
	struct confidence *clock = xcalloc(in->groups + 1, sizeof(*clock));
	struct confidence *other = xcalloc(in->groups + 1, sizeof(*other));
	struct confidence_input second = *in;
	VEC(struct confidence_step) found = {0};
	uint32_t groups = 0, compared = 0;
	uint64_t seen = 0;
	size_t count;

	second.event = witness;
	/* Without the order of samples their variance is not known well enough. */
	if (in->profile->axis.tracks.count)
		seen = confidence_intervals(&second, other);
	if (seen >= WITNESS_MIN && confidence_intervals(in, clock))
		groups = in->groups;
	for (uint32_t i = 0; i < groups; i++) {
		widen_witness(&other[i], seen);
		compared += is_compared(&clock[i], &other[i]);
	}
	for (uint32_t i = 0; i < groups; i++) {
		double off = fabs(clock[i].share - other[i].share);
		double z = off / sqrt(clock[i].variance + other[i].variance);
		struct confidence_step step = {.group = i,
		                               .clock = clock[i].share,
		                               .witness = other[i].share,
		                               .low = other[i].low,
		                               .high = other[i].high,
		                               .z = z};

		if (is_compared(&clock[i], &other[i]) &&
		    normal_above(z) < STEP_ALARM / 2 / compared)
			vec_push(&found, step);
	}
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), by_difference);
	count = found.count < room ? found.count : room;
	for (size_t i = 0; i < count; i++)
		out[i] = found.items[i];
	vec_done(&found);
	free(clock);
	free(other);
	return count;
}
