/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile.h"

#include "base/memory/xalloc.h"
#include "base/statistics/samples.h"

#include <math.h>
#include <stdlib.h>

#define CONFIDENCE 0.95
/* With fewer runs, the scatter between them is not known well enough. */
#define RUNS_MIN 3

static struct reconcile_sum sum_of(const struct reconcile_run *run, const uint32_t *rows,
                                   size_t count)
{
	struct reconcile_sum all = {0};

	for (size_t i = 0; i < count; i++) {
		const struct reconcile_sum *sum;

		if (rows[i] >= run->sums.count)
			continue;
		sum = &run->sums.items[rows[i]];
		all.count += sum->count;
		all.cpu_ns += sum->cpu_ns;
		all.error_ns = hypot(all.error_ns, sum->error_ns);
		all.system_ns += sum->system_ns;
		all.cost_ns += sum->cost_ns;
		all.folded_ns += sum->folded_ns;
		all.cut_ns += sum->cut_ns;
		all.delayed_ns += sum->delayed_ns;
		all.blocked_ns += sum->blocked_ns;
		all.switches += sum->switches;
		all.in_step |= sum->in_step;
	}
	return all;
}

static void add_run(struct reconcile_estimate *e, const struct reconcile_sum *sum, double runs)
{
	e->within_ns = hypot(e->within_ns, sum->error_ns / runs);
	e->system_ns += sum->system_ns / runs;
	e->count += sum->count / runs;
	e->cost_ns += sum->cost_ns / runs;
	e->folded_ns += sum->folded_ns / runs;
	e->cut_ns += sum->cut_ns / runs;
	e->delayed_ns += sum->delayed_ns / runs;
	e->blocked_ns += sum->blocked_ns / runs;
	e->switches += sum->switches / runs;
	e->in_step += sum->in_step / runs;
	e->least_ns = fmin(e->least_ns, sum->cpu_ns);
	e->most_ns = fmax(e->most_ns, sum->cpu_ns);
	e->least_count = fmin(e->least_count, sum->count);
	e->most_count = fmax(e->most_count, sum->count);
}

struct reconcile_estimate reconcile_estimate_rows(const struct reconcile_runs *t,
                                                  enum reconcile_side side, const uint32_t *rows,
                                                  size_t count)
{
	struct reconcile_estimate e = {.least_ns = INFINITY,
	                               .most_ns = -INFINITY,
	                               .least_count = INFINITY,
	                               .most_count = -INFINITY};
	double *values = xcalloc(t->count[side] + 1, sizeof(*values));
	struct mean_interval mean;
	size_t n = 0;

	vec_each (run, &t->runs) {
		struct reconcile_sum sum;

		if (run->side != side)
			continue;
		sum = sum_of(run, rows, count);
		values[n++] = sum.cpu_ns;
		add_run(&e, &sum, (double)t->count[side]);
	}
	mean = mean_interval(values, n, CONFIDENCE);
	e.mean_ns = n ? mean.mean : 0;
	if (n >= RUNS_MIN)
		e.scatter_ns = (mean.high - mean.low) / 2;
	e.half_ns = hypot(fmax(e.scatter_ns, e.within_ns), e.system_ns);
	free(values);
	return e;
}
