/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_rows.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct picking {
	struct call_rows *rows;
	const struct call_process *process;
	struct call_names *names;
	VEC(struct call_times) times; /* per sum */
	uint8_t *chosen;              /* per function: whether it was requested; NULL: all are */
	struct neighbours neighbours;
};

bool call_path_is_empty(const struct call_path *path)
{
	return !path->calls && !path->open && path->net_ns == 0 && path->blocked_ns == 0 &&
	       path->preempted_ns == 0;
}

double call_row_wall_ns(const struct call_row *row)
{
	return row->total_ns + row->total_blocked_ns + row->total_preempted_ns;
}

double call_row_error_ns(const struct call_rows *r, const struct call_row *row)
{
	return call_error_ns(row->net_error_ns, row->is_sampled, row->samples,
	                     r->process->sample_ns);
}

double call_row_total_error_ns(const struct call_rows *r, const struct call_row *row)
{
	return call_error_ns(row->total_error_ns, row->is_sampled || row->total_samples,
	                     row->total_samples, r->process->sample_ns);
}

bool call_row_known(const struct call_rows *r, const struct call_row *row)
{
	return call_row_error_ns(r, row) <= fabs(row->net_ns);
}

double call_row_average_ns(const struct call_row *row)
{
	return row->calls ? row->net_ns / (double)row->calls : NAN;
}

static struct call_row row_of_path(const struct call_process *p, uint32_t id)
{
	const struct call_path *path = &p->paths.items[id];

	return (struct call_row){
	        .path = id,
	        .function = path->function,
	        .calls = path->calls,
	        .net_ns = path->net_ns,
	        .net_error_ns = path->net_error_ns,
	        .blocked_ns = path->blocked_ns,
	        .preempted_ns = path->preempted_ns,
	        .blocked_count = path->blocked_count,
	        .preempted_count = path->preempted_count,
	        .min_ns = path->min_ns,
	        .max_ns = path->max_ns,
	        .total_ns = path->total_ns,
	        .total_error_ns = path->total_error_ns,
	        .total_blocked_ns = path->total_blocked_ns,
	        .total_preempted_ns = path->total_preempted_ns,
	        .open = path->open,
	        .order = id,
	        .inherited = path->inherited,
	        .samples = path->samples,
	        .total_samples = path->total_samples,
	        .is_sampled = path->is_sampled,
	};
}

static void add_percentiles(struct call_row *row, const struct call_times *times, uint64_t unknown)
{
	double *const to[] = {&row->p50_ns, &row->p90_ns, &row->p99_ns};
	static const double parts[] = {0.5, 0.9, 0.99};

	row->timed = times ? times->timed : 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		*to[i] = call_times_percentile_between(times, unknown, parts[i], row->min_ns,
		                                       row->max_ns);
}

const struct call_row *call_rows_at(const struct row_source *s, uint32_t row)
{
	struct call_rows *r = s->model;
	const struct call_times *times;

	if (row == s->rows)
		return &r->whole;
	if (r->kind != CALL_ROWS_PATHS)
		return &r->sums.items[row];
	if (r->current_row != row) {
		r->current = row_of_path(r->process, r->paths.items[row]);
		times = call_path_times_of(r->process, r->paths.items[row]);
		add_percentiles(&r->current, times, call_times_unknown(times, r->current.calls));
		r->current_row = row;
	}
	return &r->current;
}

bool call_rows_timed(const struct call_rows *r, const struct call_row *row)
{
	return r->kind == CALL_ROWS_CALLERS ||
	       !r->report->paths->functions.items[row->function].counted;
}

static struct call_row sum_of_none(uint32_t function)
{
	return (struct call_row){.path = CALL_PATH_NONE,
	                         .function = function,
	                         .min_ns = NAN,
	                         .max_ns = NAN,
	                         .p50_ns = NAN,
	                         .p90_ns = NAN,
	                         .p99_ns = NAN,
	                         .order = UINT32_MAX};
}

/*
 * The errors of the compensation have one common cause, so they add up linearly. Samples scatter
 * independently: their number is added up.
 */
void call_row_add(struct call_row *to, const struct call_row *row)
{
	to->calls += row->calls;
	to->net_ns += row->net_ns;
	to->net_error_ns += row->net_error_ns;
	to->blocked_ns += row->blocked_ns;
	to->preempted_ns += row->preempted_ns;
	to->blocked_count += row->blocked_count;
	to->preempted_count += row->preempted_count;
	to->min_ns = fmin(to->min_ns, row->min_ns);
	to->max_ns = fmax(to->max_ns, row->max_ns);
	to->open += row->open;
	to->order = row->order < to->order ? row->order : to->order;
	to->inherited |= row->inherited;
	to->samples += row->samples;
	to->is_sampled |= row->is_sampled;
}

static void add_total(struct call_row *to, const struct call_row *row)
{
	to->total_ns += row->total_ns;
	to->total_error_ns += row->total_error_ns;
	to->total_samples += row->total_samples;
	to->total_blocked_ns += row->total_blocked_ns;
	to->total_preempted_ns += row->total_preempted_ns;
}

/* call_report_check() has found the functions of callers and callees. */
static void choose_functions(struct picking *g)
{
	const struct call_report *r = g->rows->report;
	const struct report_request *q = &r->request;
	enum call_rows_kind kind = g->rows->kind;

	if (kind == CALL_ROWS_CALLERS)
		call_names_choose(g->names, q->callers, &g->chosen, NULL);
	else if (kind == CALL_ROWS_CALLEES)
		call_names_choose(g->names, q->callees, &g->chosen, NULL);
	else
		g->chosen = call_report_chosen(r);
}

static bool is_chosen(const struct picking *g, uint32_t function)
{
	return !g->chosen || g->chosen[function];
}

size_t call_rows_chain(const struct call_rows *r, uint32_t path, uint32_t *chain, size_t max)
{
	size_t count = r->depths[path] < max ? r->depths[path] : max;

	for (size_t i = count; i--; path = r->process->paths.items[path].parent)
		chain[i] = path;
	return count;
}

/* Callers come before callees in the array. */
static void measure_depths(struct picking *g)
{
	size_t count = g->process->paths.count;

	g->rows->depths = xcalloc(count + 1, sizeof(*g->rows->depths));
	g->rows->starts = xcalloc(count + 1, sizeof(*g->rows->starts));
	for (uint32_t i = 1; i < count; i++) {
		uint32_t parent = g->process->paths.items[i].parent;
		bool again = g->process->paths.items[parent].function ==
		             g->process->paths.items[i].function;

		g->rows->depths[i] = g->rows->depths[parent] + 1;
		g->rows->starts[i] = again ? g->rows->starts[parent] : i;
	}
}

static void pick_paths(struct picking *g)
{
	measure_depths(g);
	for (uint32_t id = 0; id < g->process->paths.count; id++) {
		const struct call_path *path = &g->process->paths.items[id];

		if (is_chosen(g, path->function) && !call_path_is_empty(path))
			vec_push(&g->rows->paths, id);
	}
}

/* Adds the own figures of f to its row among the callees. */
static void add_self(struct call_row *to, const struct call_row *row, bool part)
{
	to->self = true;
	call_row_add(to, row);
	to->total_ns += row->net_ns;
	to->total_error_ns += row->net_error_ns;
	to->total_samples += row->samples;
	to->total_blocked_ns += row->blocked_ns;
	to->total_preempted_ns += row->preempted_ns;
	to->part_ns += part ? row->net_ns : 0;
}

static void add_times(struct picking *g, uint32_t sum, uint32_t path)
{
	const struct call_times *times = call_path_times_of(g->process, path);

	while (g->times.count < g->rows->sums.count)
		vec_push(&g->times, (struct call_times){0});
	if (sum == ID_NONE)
		return;
	if (times)
		call_times_merge(&g->times.items[sum], times);
	g->times.items[sum].missed +=
	        call_times_unknown(times, g->process->paths.items[path].calls);
}

static void enter(void *ctx, uint32_t id)
{
	struct picking *g = ctx;
	struct call_row row = row_of_path(g->process, id), *sum;
	struct neighbour at = neighbours_enter(&g->neighbours, row.function);

	for (size_t i = g->rows->sums.count; i < g->neighbours.functions.count; i++)
		vec_push(&g->rows->sums, sum_of_none(g->neighbours.functions.items[i]));
	add_times(g, at.self, id);
	add_times(g, at.row, id);
	if (at.self != ID_NONE)
		add_self(&g->rows->sums.items[at.self], &row, at.self_part);
	if (at.row == ID_NONE)
		return;
	sum = &g->rows->sums.items[at.row];
	call_row_add(sum, &row);
	if (at.once)
		add_total(sum, &row);
	if (at.part)
		sum->part_ns += row.total_ns;
}

static void leave(void *ctx, uint32_t id)
{
	neighbours_leave(&((struct picking *)ctx)->neighbours);
}

static void pick_sums(struct picking *g)
{
	static const enum neighbours_of of[] = {[CALL_ROWS_FUNCTIONS] = NEIGHBOURS_FUNCTIONS,
	                                        [CALL_ROWS_CALLERS] = NEIGHBOURS_CALLERS,
	                                        [CALL_ROWS_CALLEES] = NEIGHBOURS_CALLEES};

	neighbours_init(&g->neighbours, of[g->rows->kind], g->chosen, call_names_count(g->names));
	if (g->process->paths.count)
		call_process_walk(g->process, enter, leave, g);
	neighbours_done(&g->neighbours);
	for (size_t i = 0; i < g->times.count; i++) {
		add_percentiles(&g->rows->sums.items[i], &g->times.items[i], 0);
		call_times_done(&g->times.items[i]);
	}
	vec_done(&g->times);
}

/* Callers and callees are not parts of the whole. */
static void sum_whole(struct picking *g)
{
	struct call_rows *r = g->rows;

	r->whole = sum_of_none(g->process->paths.items[0].function);
	for (uint32_t id = 0; r->kind <= CALL_ROWS_FUNCTIONS && id < g->process->paths.count;
	     id++) {
		struct call_row row = row_of_path(g->process, id);

		call_row_add(&r->whole, &row);
		r->filtered |= !is_chosen(g, row.function) &&
		               !call_path_is_empty(&g->process->paths.items[id]);
	}
}

static void drop_empty_sums(struct call_rows *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->sums.count; i++) {
		const struct call_row *row = &r->sums.items[i];

		if (row->calls || row->open || row->net_ns != 0 || row->blocked_ns != 0 ||
		    row->preempted_ns != 0)
			r->sums.items[kept++] = *row;
	}
	r->sums.count = kept;
}

void call_rows_pick(struct call_rows *r)
{
	struct picking g = {.rows = r, .process = r->process, .names = r->report->names};

	choose_functions(&g);
	if (r->kind == CALL_ROWS_PATHS)
		pick_paths(&g);
	else
		pick_sums(&g);
	drop_empty_sums(r);
	if (g.chosen && g.process->paths.count)
		sum_whole(&g);
	vec_each (id, &r->paths) {
		const struct call_path *path = &r->process->paths.items[*id];

		r->net_ns += path->net_ns;
		r->waiting_ns += path->blocked_ns + path->preempted_ns;
	}
	vec_each (sum, &r->sums) {
		r->net_ns += sum->net_ns;
		r->waiting_ns += sum->blocked_ns + sum->preempted_ns;
	}
	free(g.chosen);
}

void call_rows_free(void *rows)
{
	struct call_rows *r = rows;

	vec_done(&r->paths);
	vec_done(&r->sums);
	vec_done(&r->node_paths);
	vec_done(&r->chain);
	free(r->depths);
	free(r->starts);
	free(r->ranks);
	free(r->nodes);
	free(r);
}
