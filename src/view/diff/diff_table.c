/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_table.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <stdlib.h>

/* Two pairs have one degree of freedom; runs that are not paired have two. */
#define PAIRS_MIN 3
/* If one side has fewer counts, the scatter between pairs does not show the scatter of the other
 * side. */
#define SIDE_MIN 10

static void sum_rows(struct diff_table *t)
{
	for (size_t i = 0; i < t->width; i++) {
		const struct diff_run *run = &t->runs->runs.items[i];
		double count = 0, cpu_ns = 0;

		for (size_t path = 1; path < run->paths.count; path++) {
			size_t row = t->runs->paths.items[path].row;
			struct diff_sum *own = &t->own[row * t->width + i];

			own->count += run->paths.items[path].count;
			own->cpu_ns += run->paths.items[path].cpu_ns;
			count += run->paths.items[path].count;
			cpu_ns += run->paths.items[path].cpu_ns;
		}
		t->run_grain[i] = count > 0 && cpu_ns > 0 ? cpu_ns / count : 1;
	}
}

void diff_table_init(struct diff_table *t, const struct diff_runs *runs)
{
	size_t seen[DIFF_SIDES] = {0};

	*t = (struct diff_table){.runs = runs, .width = runs->runs.count};
	t->own = xcalloc((runs->rows.count + 1) * t->width + 1, sizeof(*t->own));
	t->run_grain = xcalloc(t->width + 1, sizeof(*t->run_grain));
	for (int side = 0; side < DIFF_SIDES; side++)
		t->side_runs[side] = xcalloc(runs->count[side] + 1, sizeof(uint32_t));
	for (size_t i = 0; i < t->width; i++) {
		uint8_t side = runs->runs.items[i].side;

		t->side_runs[side][seen[side]++] = (uint32_t)i;
	}
	t->paired = !runs->parts && runs->count[DIFF_A] == runs->count[DIFF_B] &&
	            runs->count[DIFF_A] >= PAIRS_MIN;
	sum_rows(t);
}

void diff_table_done(struct diff_table *t)
{
	free(t->own);
	free(t->run_grain);
	free(t->side_runs[DIFF_A]);
	free(t->side_runs[DIFF_B]);
}

void diff_table_pool(struct diff_table *t, uint32_t row)
{
	struct diff_sum *pooled = &t->own[t->runs->rows.count * t->width];

	for (size_t i = 0; i < t->width; i++) {
		pooled[i].count += t->own[row * t->width + i].count;
		pooled[i].cpu_ns += t->own[row * t->width + i].cpu_ns;
	}
}

static double amount(const struct diff_table *t, const struct diff_sum *sum)
{
	return t->runs->exact ? sum->cpu_ns : sum->count;
}

/* Counts of a run per ns of a unit of work. */
static double exposure(const struct diff_table *t, const struct diff_sum *sums, size_t run)
{
	double work = t->runs->runs.items[run].work;

	if (t->runs->exact)
		return work;
	if (sums[run].count > 0 && sums[run].cpu_ns > 0)
		return work * sums[run].count / sums[run].cpu_ns;
	return work / t->run_grain[run];
}

/* Pearson's sum of one side around its own mean. */
static double side_scatter(const struct diff_table *t, const struct diff_sum *sums, int side)
{
	double counts = 0, exposures = 0, sum = 0;

	for (size_t i = 0; i < t->runs->count[side]; i++) {
		counts += amount(t, &sums[t->side_runs[side][i]]);
		exposures += exposure(t, sums, t->side_runs[side][i]);
	}
	for (size_t i = 0; counts > 0 && i < t->runs->count[side]; i++) {
		uint32_t run = t->side_runs[side][i];
		double expected = counts * exposure(t, sums, run) / exposures;
		double off = amount(t, &sums[run]) - expected;

		sum += off * off / expected;
	}
	return sum;
}

static void sum_sides(const struct diff_table *t, struct diff_counts *c)
{
	double all = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		double work = 0;

		for (size_t i = 0; i < t->runs->count[side]; i++) {
			const struct diff_sum *sum = &c->sums[t->side_runs[side][i]];

			c->samples[side] += sum->count;
			c->cpu_ns[side] += sum->cpu_ns;
			all += amount(t, sum);
			work += t->runs->runs.items[t->side_runs[side][i]].work;
		}
		c->value[side] = work > 0 ? c->cpu_ns[side] / work : 0;
	}
	c->mean = all / (double)t->width;
}

static void add_blocks(const struct diff_table *t, struct diff_counts *c)
{
	size_t pairs = t->paired ? t->runs->count[DIFF_A] : 1;

	c->blocks = xcalloc(pairs, sizeof(*c->blocks));
	c->count = pairs;
	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < t->runs->count[side]; i++) {
			struct diff_block *block = &c->blocks[t->paired ? i : 0];
			uint32_t run = t->side_runs[side][i];
			double exposed = exposure(t, c->sums, run);

			*(side == DIFF_A ? &block->a : &block->b) += amount(t, &c->sums[run]);
			*(side == DIFF_A ? &block->a_exposure : &block->b_exposure) += exposed;
		}
}

static void add_dispersion(const struct diff_table *t, struct diff_counts *c)
{
	double a = side_scatter(t, c->sums, DIFF_A), b = side_scatter(t, c->sums, DIFF_B);
	double a_degrees = (double)t->runs->count[DIFF_A] - 1;
	double b_degrees = (double)t->runs->count[DIFF_B] - 1;
	double ratio_log = diff_fit_ratio(c->blocks, c->count), within;
	bool few = fmin(c->samples[DIFF_A], c->samples[DIFF_B]) < SIDE_MIN;

	c->degrees = a_degrees + b_degrees;
	within = c->degrees > 0 ? (a + b) / c->degrees : 0;
	c->own = within;
	if (few && c->samples[DIFF_A] < c->samples[DIFF_B] && b_degrees > 0)
		c->own = fmax(within, b / b_degrees);
	else if (few && a_degrees > 0)
		c->own = fmax(within, a / a_degrees);
	if (!t->paired)
		return;
	c->degrees = (double)c->count - 1;
	within = isfinite(ratio_log) ? diff_fit_dispersion(c->blocks, c->count, ratio_log) : 0;
	c->own = few ? fmax(c->own, within) : within;
}

struct diff_counts diff_table_counts(const struct diff_table *t, const struct diff_sum *sums)
{
	struct diff_counts c = {.sums = sums};

	sum_sides(t, &c);
	add_blocks(t, &c);
	add_dispersion(t, &c);
	return c;
}

double diff_table_window_dispersion(const struct diff_table *t, uint32_t row,
                                    const struct diff_counts *c)
{
	const struct diff_run *a = &t->runs->runs.items[t->side_runs[DIFF_A][0]];
	const struct diff_run *b = &t->runs->runs.items[t->side_runs[DIFF_B][0]];
	struct diff_block blocks[DIFF_WINDOWS];
	double ratio_log = diff_fit_ratio(c->blocks, 1);
	size_t first = (size_t)row * DIFF_WINDOWS;

	if (!a->windowed || !b->windowed || !isfinite(ratio_log))
		return 0;
	for (size_t i = 0; i < DIFF_WINDOWS; i++) {
		size_t at = first + i;

		blocks[i] = c->blocks[0];
		blocks[i].a = at < a->windows.count ? (double)a->windows.items[at] : 0;
		blocks[i].b = at < b->windows.count ? (double)b->windows.items[at] : 0;
	}
	return diff_fit_dispersion(blocks, DIFF_WINDOWS, ratio_log);
}
