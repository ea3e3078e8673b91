/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_rows.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <stdlib.h>

struct picking {
	struct call_rows *rows;
	const struct call_process *process;
	struct call_names *names;
	const struct call_rows_request *request;
	uint8_t *chosen;      /* per function: whether it was requested; NULL: all are */
	uint32_t *sum_of;     /* per function: index of its sum, or ID_NONE */
	uint32_t *ranks;      /* per function, only if sorted by name */
	VEC(uint32_t) active; /* per sum: number of its calls on the current path */
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
	        .order = path->order,
	        .inherited = path->inherited,
	};
}

struct call_row call_rows_at(const struct call_rows *r, size_t i)
{
	return r->paths.count ? row_of_path(r->process, r->paths.items[i]) : r->sums.items[i];
}

static struct call_row sum_of_none(uint32_t function)
{
	return (struct call_row){.path = CALL_PATH_NONE,
	                         .function = function,
	                         .min_ns = NAN,
	                         .max_ns = NAN,
	                         .order = UINT32_MAX};
}

/* The errors of the compensation have one common cause, so they add up linearly. */
static void add_own(struct call_row *to, const struct call_row *row)
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
}

static void add_total(struct call_row *to, const struct call_row *row)
{
	to->total_ns += row->total_ns;
	to->total_error_ns += row->total_error_ns;
	to->total_blocked_ns += row->total_blocked_ns;
	to->total_preempted_ns += row->total_preempted_ns;
}

static void choose_functions(struct picking *g)
{
	const struct call_rows_request *q = g->request;
	struct filter_list one = {&q->function, 1}, wanted = q->function ? one : q->symbols;
	size_t count = call_names_count(g->names);

	if (!wanted.count)
		return;
	g->chosen = xcalloc(count + 1, 1);
	for (uint32_t f = 0; f < count; f++)
		for (size_t i = 0; i < wanted.count && !g->chosen[f]; i++)
			g->chosen[f] = call_names_match(g->names, f, wanted.items[i]);
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

		if (!is_chosen(g, path->function))
			continue;
		g->rows->found = true;
		if (!call_path_is_empty(path))
			vec_push(&g->rows->paths, id);
	}
}

/* The function whose sum takes the path's figures; ID_NONE: no sum takes them. */
static uint32_t sum_function(const struct picking *g, uint32_t id)
{
	const struct call_path *path = &g->process->paths.items[id];
	uint32_t caller = id ? g->process->paths.items[path->parent].function : ID_NONE;

	switch (g->request->kind) {
	case CALL_ROWS_CALLERS:
		return is_chosen(g, path->function) ? caller : ID_NONE;
	case CALL_ROWS_CALLEES:
		return caller != ID_NONE && is_chosen(g, caller) ? path->function : ID_NONE;
	default:
		return is_chosen(g, path->function) ? path->function : ID_NONE;
	}
}

static void enter(void *ctx, uint32_t id)
{
	struct picking *g = ctx;
	uint32_t function = sum_function(g, id), sum;
	struct call_row row;

	g->rows->found |= is_chosen(g, g->process->paths.items[id].function);
	if (function == ID_NONE)
		return;
	sum = g->sum_of[function];
	if (sum == ID_NONE) {
		sum = g->sum_of[function] = (uint32_t)g->rows->sums.count;
		vec_push(&g->rows->sums, sum_of_none(function));
		vec_push(&g->active, 0);
	}
	row = row_of_path(g->process, id);
	add_own(&g->rows->sums.items[sum], &row);
	if (!g->active.items[sum]++)
		add_total(&g->rows->sums.items[sum], &row);
}

static void leave(void *ctx, uint32_t id)
{
	struct picking *g = ctx;
	uint32_t function = sum_function(g, id);

	if (function != ID_NONE)
		g->active.items[g->sum_of[function]]--;
}

static void pick_sums(struct picking *g)
{
	size_t count = call_names_count(g->names);

	g->sum_of = xcalloc(count + 1, sizeof(*g->sum_of));
	for (size_t i = 0; i < count; i++)
		g->sum_of[i] = ID_NONE;
	if (g->process->paths.count)
		call_process_walk(g->process, enter, leave, g);
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

/* The values that rows are sorted by. */
struct sort_key {
	uint32_t function, order, path;
	uint64_t calls;
	double net_ns;
};

static int compare(const struct picking *g, struct sort_key a, struct sort_key b)
{
	enum call_order by = g->request->order;
	int order = 0;

	if (by == CALL_BY_NAME)
		order = (g->ranks[a.function] > g->ranks[b.function]) -
		        (g->ranks[a.function] < g->ranks[b.function]);
	else if (by == CALL_BY_CALLS)
		order = (a.calls < b.calls) - (a.calls > b.calls);
	if (!order && (by == CALL_BY_CALLS || by == CALL_BY_NET))
		order = (a.net_ns < b.net_ns) - (a.net_ns > b.net_ns);
	if (!order)
		order = (a.order > b.order) - (a.order < b.order);
	/* Rows with the same order are sorted by their position in the table. */
	return order ? order : (a.path > b.path) - (a.path < b.path);
}

static struct sort_key key_of_path(const struct picking *g, uint32_t id)
{
	const struct call_path *path = &g->process->paths.items[id];

	return (struct sort_key){path->function, path->order, id, path->calls, path->net_ns};
}

static int compare_paths(const void *a, const void *b, void *ctx)
{
	return compare(ctx, key_of_path(ctx, *(const uint32_t *)a),
	               key_of_path(ctx, *(const uint32_t *)b));
}

static struct sort_key key_of_sum(const struct call_row *row)
{
	return (struct sort_key){row->function, row->order, row->path, row->calls, row->net_ns};
}

static int compare_sums(const void *a, const void *b, void *ctx)
{
	return compare(ctx, key_of_sum(a), key_of_sum(b));
}

static double waiting(const struct call_row *row)
{
	return row->blocked_ns + row->preempted_ns;
}

static bool is_worth_a_line(const struct picking *g, const struct call_row *row)
{
	const struct call_row *all = &g->rows->all;
	double limit = g->request->limit;

	return row->net_ns >= limit * all->net_ns ||
	       (waiting(all) > 0 && waiting(row) >= limit * waiting(all));
}

/* Removes rows below the limit before the remaining rows are sorted. */
static void cut_small(struct picking *g)
{
	struct call_rows *r = g->rows;
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++) {
		struct call_row row = call_rows_at(r, i);

		add_own(&r->all, &row);
	}
	r->shown = r->count;
	if (g->request->limit <= 0)
		return;
	for (size_t i = 0; i < r->count; i++) {
		struct call_row row = call_rows_at(r, i);

		if (!is_worth_a_line(g, &row))
			add_own(&r->rest, &row);
		else if (r->paths.count)
			r->paths.items[kept++] = r->paths.items[i];
		else
			r->sums.items[kept++] = r->sums.items[i];
	}
	r->shown = kept;
}

static void sort(struct picking *g)
{
	struct call_rows *r = g->rows;

	if (g->request->order == CALL_BY_NAME)
		g->ranks = call_names_ranks(g->names);
	if (r->paths.count)
		qsort_r(r->paths.items, r->shown, sizeof(*r->paths.items), compare_paths, g);
	else if (r->sums.count)
		qsort_r(r->sums.items, r->shown, sizeof(*r->sums.items), compare_sums, g);
	while (g->request->lines && r->shown > g->request->lines) {
		struct call_row row = call_rows_at(r, --r->shown);

		add_own(&r->rest, &row);
	}
}

struct call_rows *call_rows_new(const struct call_process *p, struct call_names *names,
                                const struct call_rows_request *request)
{
	struct call_rows *r = xcalloc(1, sizeof(*r));
	struct picking g = {.rows = r, .process = p, .names = names, .request = request};

	r->process = p;
	r->all = r->rest = sum_of_none(ID_NONE);
	r->all.total_ns = r->rest.total_ns = NAN;
	choose_functions(&g);
	if (request->kind == CALL_ROWS_PATHS)
		pick_paths(&g);
	else
		pick_sums(&g);
	drop_empty_sums(r);
	r->count = r->paths.count ? r->paths.count : r->sums.count;
	cut_small(&g);
	sort(&g);
	free(g.chosen);
	free(g.sum_of);
	free(g.ranks);
	vec_done(&g.active);
	return r;
}

void call_rows_free(struct call_rows *r)
{
	if (!r)
		return;
	vec_done(&r->paths);
	vec_done(&r->sums);
	free(r->depths);
	free(r->starts);
	free(r);
}
