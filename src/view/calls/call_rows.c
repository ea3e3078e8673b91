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
	uint8_t *chosen;      /* per function: whether it was requested; NULL: all are */
	uint32_t *sum_of;     /* per function: index of its sum, or ID_NONE */
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

const struct call_row *call_rows_at(const struct row_source *s, uint32_t row)
{
	struct call_rows *r = s->model;

	if (r->kind != CALL_ROWS_PATHS)
		return &r->sums.items[row];
	if (r->current_row != row) {
		r->current = row_of_path(r->process, r->paths.items[row]);
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

static bool is_in_image(const struct call_report *r, uint32_t function)
{
	const struct call_function *f = &r->paths->functions.items[function];
	const char *path;

	if (!r->request.filter.image.count)
		return true;
	if (f->kind != CALL_FUNCTION)
		return false;
	path = image_path(&r->paths->images, f->frame.image);
	return filter_list_has(&r->request.filter.image, path,
	                       strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

static void choose_functions(struct picking *g)
{
	const struct call_report *r = g->rows->report;
	enum call_rows_kind kind = g->rows->kind;
	const char *const *one =
	        kind == CALL_ROWS_CALLERS ? &r->request.callers : &r->request.callees;
	struct filter_list wanted = r->request.filter.function;
	size_t count = call_names_count(g->names);

	if (kind == CALL_ROWS_CALLERS || kind == CALL_ROWS_CALLEES)
		wanted = (struct filter_list){(const char **)(uintptr_t)one, 1};
	if (!wanted.count && !r->request.filter.image.count)
		return;
	g->chosen = xcalloc(count + 1, 1);
	for (uint32_t f = 0; f < count; f++) {
		g->chosen[f] = !wanted.count;
		for (size_t i = 0; i < wanted.count && !g->chosen[f]; i++)
			g->chosen[f] = call_names_match(g->names, f, wanted.items[i]);
		g->chosen[f] &= is_in_image(r, f);
	}
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

	switch (g->rows->kind) {
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

void call_rows_pick(struct call_rows *r)
{
	struct picking g = {.rows = r, .process = r->process, .names = r->report->names};

	choose_functions(&g);
	if (r->kind == CALL_ROWS_PATHS)
		pick_paths(&g);
	else
		pick_sums(&g);
	drop_empty_sums(r);
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
	free(g.sum_of);
	vec_done(&g.active);
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
