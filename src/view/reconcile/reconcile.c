/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile.h"

#include "base/memory/xalloc.h"
#include "base/statistics/distributions.h"

#include <math.h>
#include <stdlib.h>

#define CONFIDENCE 0.95
#define MOST 0.9

static double larger(const struct reconcile_line *line)
{
	return fmax(line->sides[RECONCILE_SAMPLED].mean_ns, line->sides[RECONCILE_COUNTED].mean_ns);
}

/*
 * As the interval of the difference, but all of so many lines are within theirs in 95 % of
 * comparisons (Bonferroni). The scatter has the degrees of freedom of both sides.
 */
static double chance_of(const struct reconcile_runs *t, const struct reconcile_line *line,
                        size_t lines)
{
	double part = (1 - CONFIDENCE) / 2, all = part / (double)(lines ? lines : 1);
	double normal = normal_quantile(1 - all) / normal_quantile(1 - part), sum = 0;
	double runs = (double)(t->count[RECONCILE_SAMPLED] + t->count[RECONCILE_COUNTED]);
	double student = runs > 2 ? student_quantile(1 - all, runs - 2) /
	                                    student_quantile(1 - part, runs - 2)
	                          : normal;

	for (int side = 0; side < RECONCILE_SIDES; side++) {
		const struct reconcile_estimate *e = &line->sides[side];
		double random = fmax(e->scatter_ns * student, e->within_ns * normal);

		sum += random * random + e->system_ns * e->system_ns * normal * normal;
	}
	return sqrt(sum);
}

static struct reconcile_line line_of(const struct reconcile_runs *t, const uint32_t *rows,
                                     size_t count)
{
	struct reconcile_line line = {.row = rows[0]};
	const struct reconcile_estimate *s = &line.sides[RECONCILE_SAMPLED];
	const struct reconcile_estimate *c = &line.sides[RECONCILE_COUNTED];

	for (int side = 0; side < RECONCILE_SIDES; side++)
		line.sides[side] =
		        reconcile_estimate_rows(t, (enum reconcile_side)side, rows, count);
	line.difference_ns = s->mean_ns - c->mean_ns;
	line.half_ns = hypot(s->half_ns, c->half_ns);
	return line;
}

/* Counted calls of the kernel contain no time of programs. */
static bool is_compared(const struct reconcile_runs *t, uint32_t row, uint32_t process)
{
	return t->rows.items[row].process == process &&
	       !(t->kernel && reconcile_is_outside(t, row));
}

/* --- processes --- */

static void add_accounts(const struct reconcile_runs *t, struct reconcile_process *p)
{
	double runs = (double)t->count[RECONCILE_COUNTED];
	size_t found = 0;

	vec_each (run, &t->runs)
		vec_each (account, &run->accounts) {
			if (account->process != p->process)
				continue;
			found++;
			p->own_ns += account->own_ns / runs;
			p->clock_ns += account->clock_ns / runs;
			p->residual_ns += account->residual_ns / runs;
			p->unseparated |= account->unseparated;
			p->running |= account->running;
		}
	if (!found)
		p->own_ns = p->clock_ns = p->residual_ns = NAN;
}

static void add_process(struct reconcile *r, uint32_t process)
{
	const struct reconcile_runs *t = r->runs;
	struct reconcile_process p = {.process = process};
	VEC(uint32_t) rows = {0};

	for (uint32_t row = 1; row < t->rows.count; row++)
		if (is_compared(t, row, process))
			vec_push(&rows, row);
	if (!rows.count)
		return;
	p.line = line_of(t, rows.items, rows.count);
	p.cut_ns = p.line.sides[RECONCILE_SAMPLED].cut_ns;
	p.only_sampled = !(p.line.sides[RECONCILE_COUNTED].mean_ns > 0) &&
	                 !(p.line.sides[RECONCILE_COUNTED].count > 0);
	p.only_counted = !(p.line.sides[RECONCILE_SAMPLED].mean_ns > 0);
	add_accounts(t, &p);
	vec_push(&r->processes, p);
	vec_done(&rows);
}

static int compare_processes(const void *a, const void *b)
{
	const struct reconcile_process *x = a, *y = b;
	double dx = larger(&x->line), dy = larger(&y->line);

	return dx < dy ? 1 : dx > dy ? -1 : 0;
}

static void find_processes(struct reconcile *r)
{
	const struct reconcile_runs *t = r->runs;
	bool *seen = xcalloc(t->texts.texts.count + 1, sizeof(*seen));

	for (uint32_t row = 1; row < t->rows.count; row++) {
		uint32_t process = t->rows.items[row].process;

		if (!seen[process])
			add_process(r, process);
		seen[process] = true;
	}
	free(seen);
	if (r->processes.count)
		qsort(r->processes.items, r->processes.count, sizeof(*r->processes.items),
		      compare_processes);
}

/* --- functions --- */

static double *differences_of(const struct reconcile_runs *t)
{
	double *differences = xcalloc(t->rows.count + 1, sizeof(*differences));

	for (uint32_t row = 1; row < t->rows.count; row++)
		differences[row] = line_of(t, &row, 1).difference_ns;
	return differences;
}

static void add_line(struct reconcile *r, struct reconcile_process *p, uint32_t row,
                     const struct reconcile_callers *callers)
{
	struct reconcile_line line = line_of(r->runs, &row, 1);

	line.share = larger(&p->line) > 0 ? larger(&line) / larger(&p->line) : 0;
	line.callers = callers[row];
	if (reconcile_is_outside(r->runs, row))
		p->outside_ns = line.difference_ns;
	if (line.share < r->limit) {
		r->below += larger(&line) > 0;
		r->all_ns += larger(&line);
		return;
	}
	vec_push(&r->lines, line);
}

static int compare_lines(const void *a, const void *b)
{
	const struct reconcile_line *x = a, *y = b;

	return x->share < y->share   ? 1
	       : x->share > y->share ? -1
	                             : (x->row > y->row) - (x->row < y->row);
}

/* Processes that only one method measured are listed only in the table of processes. */
static void find_lines(struct reconcile *r, struct reconcile_process *p,
                       const struct reconcile_callers *callers)
{
	size_t first = r->lines.count;

	if (p->only_sampled || p->only_counted)
		return;
	for (uint32_t row = 1; row < r->runs->rows.count; row++)
		if (is_compared(r->runs, row, p->process))
			add_line(r, p, row, callers);
	p->same_ratio = reconcile_has_same_ratio(p, r->lines.items + first, r->lines.count - first);
	for (size_t i = first; i < r->lines.count; i++) {
		struct reconcile_line *line = &r->lines.items[i];

		line->chance_ns = chance_of(r->runs, line, r->lines.count - first);
		reconcile_judge(r, p, line);
		r->verdicts[line->verdict]++;
		r->shares[line->verdict] += larger(line);
		r->all_ns += larger(line);
		r->reasons[line->reason]++;
	}
	if (r->lines.count > first)
		qsort(r->lines.items + first, r->lines.count - first, sizeof(*r->lines.items),
		      compare_lines);
}

static int compare_longer(const void *a, const void *b)
{
	const struct reconcile_line *x = *(const struct reconcile_line *const *)a;
	const struct reconcile_line *y = *(const struct reconcile_line *const *)b;

	return x->longer < y->longer ? -1 : x->longer > y->longer;
}

/* How long runs must be to decide MOST of the time that longer runs can decide. */
static void find_longer(struct reconcile *r)
{
	VEC(const struct reconcile_line *) lines = {0};
	double all = 0, sum = 0;

	r->longer = NAN;
	vec_each (line, &r->lines)
		if (line->verdict == RECONCILE_CANNOT_TELL && isfinite(line->longer)) {
			vec_push(&lines, line);
			all += larger(line);
		}
	if (lines.count)
		qsort(lines.items, lines.count, sizeof(*lines.items), compare_longer);
	for (size_t i = 0; i < lines.count && sum < MOST * all; i++) {
		sum += larger(lines.items[i]);
		r->longer = lines.items[i]->longer;
	}
	r->decided =
	        r->shares[RECONCILE_CANNOT_TELL] > 0 ? sum / r->shares[RECONCILE_CANNOT_TELL] : 0;
	vec_each (p, &r->processes)
		if (!p->only_sampled && !p->only_counted)
			r->run_ns += p->line.sides[RECONCILE_SAMPLED].mean_ns;
	vec_done(&lines);
}

struct reconcile *reconcile_new(const struct reconcile_runs *runs, double limit)
{
	struct reconcile *r = xcalloc(1, sizeof(*r));
	double *differences = differences_of(runs);
	struct reconcile_callers *callers = reconcile_callers_new(runs, differences);

	r->runs = runs;
	r->limit = limit;
	vec_each (run, &runs->runs)
		r->chains |= run->side == RECONCILE_SAMPLED && run->chains;
	find_processes(r);
	vec_each (process, &r->processes) {
		find_lines(r, process, callers);
		process->line.chance_ns = chance_of(runs, &process->line, r->processes.count);
		reconcile_judge(r, process, &process->line);
	}
	find_longer(r);
	for (int i = 0; i < RECONCILE_VERDICTS; i++)
		r->shares[i] = r->all_ns > 0 ? r->shares[i] / r->all_ns : 0;
	free(callers);
	free(differences);
	return r;
}

void reconcile_free(struct reconcile *r)
{
	if (!r)
		return;
	vec_done(&r->processes);
	vec_done(&r->lines);
	free(r);
}
