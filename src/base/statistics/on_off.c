/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/statistics/on_off.h"

#include "base/clock.h"
#include "base/memory/sorted.h"
#include "base/statistics/samples.h"

#include <math.h>

#define PAIRS_LEAST 8
#define PRECISE 1.5
#define CHECK_EVERY 8

void on_off_of_pairs(double *differences, size_t count, struct on_off_figure *figure)
{
	/* The bounds of the median are the values whose ranks are 1.96 deviations from it. */
	double away = count ? fmin(0.98 / sqrt((double)count), 0.5) : 0;

	*figure = (struct on_off_figure){.pairs = count};
	if (count < 2)
		return;
	sorted_doubles(differences, count);
	figure->ns = sorted_quantile(differences, count, 0.5);
	figure->low_ns = sorted_quantile(differences, count, 0.25);
	figure->high_ns = sorted_quantile(differences, count, 0.75);
	figure->least_ns = sorted_quantile(differences, count, 0.5 - away);
	figure->most_ns = sorted_quantile(differences, count, 0.5 + away);
}

bool on_off_precise(const struct on_off_figure *figure)
{
	return figure->pairs >= PAIRS_LEAST && figure->ns > 0 &&
	       figure->most_ns <= PRECISE * figure->ns && PRECISE * figure->least_ns >= figure->ns;
}

bool on_off_result(struct on_off *m, struct on_off_figure *figure)
{
	on_off_of_pairs(m->differences, m->count, figure);
	return on_off_precise(figure);
}

static bool is_enough(struct on_off *m)
{
	struct on_off_figure figure;

	return m->count >= m->pairs_least && m->count % CHECK_EVERY == 0 &&
	       on_off_result(m, &figure);
}

void on_off_run(struct on_off *m)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), own = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (size_t turn = 0; m->count < m->room; turn++) {
		bool first = m->on_first || turn % 2;
		uint32_t events = 1, none;
		double a = m->piece(m->ctx, first, first ? &events : &none);
		double b = m->piece(m->ctx, !first, first ? &none : &events);

		if (a >= 0 && b >= 0) {
			m->differences[m->count++] = (first ? a - b : b - a) / events;
			if (is_enough(m))
				break;
		}
		if (clock_ns(CLOCK_THREAD_CPUTIME_ID) - own > m->cpu_ns ||
		    clock_ns(CLOCK_MONOTONIC) - begin > m->elapsed_ns)
			break;
	}
}
