/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_tables: a pprof profile, or other named call paths, as tables. `weight` is the main
 * value. `calls` has rows only if the profile has the values `calls` and `net`.
 */
#include "sql/tables/pprof_tables.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"
#include "sql/image_value.h"
#include "sql/tables/symbolized_model.h"
#include "sql/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct model {
	struct symbolized_model *m;
	void (*done)(void *ctx);
	void *ctx;
};

static void free_model(void *ctx)
{
	struct model *model = ctx;

	symbolized_model_free(model->m);
	if (model->done)
		model->done(model->ctx);
	free(model);
}

static const struct symbolized_model *of(const void *ctx)
{
	return ((const struct model *)ctx)->m;
}

static const char *text_of(const struct symbolized_model *m, uint32_t text)
{
	return intern_text(&m->n->texts, text);
}

/* Text 0 means "not known" and gives NULL. */
static void out_name(const struct symbolized_model *m, uint32_t text, sqlite3_context *out)
{
	if (text)
		sql_out_text(out, text_of(m, text));
}

static void out_id(uint32_t id, sqlite3_context *out)
{
	if (id != NAMED_NONE)
		sqlite3_result_int64(out, id);
}

static void out_start(const struct symbolized_model *m, sqlite3_context *out)
{
	if (m->n->time_ns > 0)
		sqlite3_result_int64(out, m->n->time_ns);
}

static void out_end(const struct symbolized_model *m, sqlite3_context *out)
{
	if (m->n->time_ns > 0)
		sqlite3_result_int64(out, named_add(m->n->time_ns, m->n->duration_ns));
}

static uint64_t one(void *ctx)
{
	return 1;
}

static void session_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);
	const struct named_value *period_of = &m->n->period_of;

	switch (column) {
	case SESSIONS_START_NS:
		out_start(m, out);
		break;
	case SESSIONS_END_NS:
		out_end(m, out);
		break;
	case SESSIONS_COMMAND:
		out_name(m, m->n->command, out);
		break;
	case SESSIONS_EVENT:
		sql_out_text(out, m->n->values[m->n->main_value].name);
		break;
	case SESSIONS_PERIOD_NS:
		if (m->n->period > 0 && period_of->unit && !strcmp(period_of->unit, "nanoseconds"))
			sqlite3_result_int64(out, m->n->period);
		break;
	}
}

static int64_t sum_of(const struct symbolized_model *m, uint32_t column)
{
	int64_t sum = 0;

	vec_each (row, &m->n->rows)
		sum = named_add(sum, row->values[column]);
	return sum;
}

static void window_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);

	if (column == WINDOWS_SESSION || column == WINDOWS_LEVEL)
		sqlite3_result_int(out, 0);
	else if (column == WINDOWS_START_NS)
		out_start(m, out);
	else if (column == WINDOWS_END_NS)
		out_end(m, out);
	else if (column == WINDOWS_MERGED)
		sqlite3_result_int(out, 1);
	else if (column == WINDOWS_SAMPLES && m->columns.count != NAMED_NONE)
		sqlite3_result_int64(out, sum_of(m, m->columns.count));
}

static uint64_t process_count(void *ctx)
{
	return of(ctx)->processes.count;
}

static void process_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);
	const struct named_process *p = &m->processes.items[row];

	if (column == PROCESSES_NAME)
		sql_out_text(out, text_of(m, p->name));
	else if (column == PROCESSES_INSTANCE)
		sqlite3_result_int64(out, p->instance);
	else if (column == PROCESSES_PID && p->pid)
		sqlite3_result_int(out, p->pid);
	else if (column == PROCESSES_INSTANCES)
		sqlite3_result_int(out, 1);
}

static uint64_t thread_count(void *ctx)
{
	return of(ctx)->threads.count;
}

static void thread_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);
	const struct named_thread *t = &m->threads.items[row];

	if (column == THREADS_PROCESS)
		sqlite3_result_int64(out, t->process);
	else if (column == THREADS_TID && t->tid)
		sqlite3_result_int(out, t->tid);
	else if (column == THREADS_NAME)
		out_name(m, t->name, out);
}

static uint64_t image_count(void *ctx)
{
	return of(ctx)->n->images.count;
}

static void image_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);
	const struct named_image *image = &m->n->images.items[row];
	const char *path = text_of(m, image->name);

	if (column == IMAGES_PATH)
		sql_out_text(out, path);
	else if (column == IMAGES_NAME)
		sql_out_text(out, sql_image_short(path));
	else if (column == IMAGES_KIND)
		sql_out_text(out, *path == '/' ? "file" : NULL);
	else
		sql_out_build_id(out, &image->build_id);
}

static uint64_t function_count(void *ctx)
{
	return of(ctx)->n->functions.count;
}

static void function_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);
	const struct named_function *f = &m->n->functions.items[row];

	if (column == FUNCTIONS_IMAGE)
		out_id(f->image, out);
	else
		sql_out_text(out, text_of(m, f->name));
}

static uint64_t frame_count(void *ctx)
{
	return of(ctx)->n->lines.count;
}

/* An inlined function is a separate frame, with the address of its place. */
static void frame_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);
	const struct named_place *place = &m->n->places.items[m->line_place[row]];

	if (column == FRAMES_IMAGE)
		out_id(place->image, out);
	else if (column == FRAMES_OFFSET && (place->address || place->image != NAMED_NONE))
		sqlite3_result_int64(out, (sqlite3_int64)place->address);
	else if (column == FRAMES_FUNCTION)
		sqlite3_result_int64(out, m->n->lines.items[row].function);
}

static uint64_t stack_count(void *ctx)
{
	return of(ctx)->stacks.count - 1;
}

static void stack_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct named_stack *s = &of(ctx)->stacks.items[row + 1];

	sqlite3_result_int64(out, column == STACKS_PARENT  ? s->parent
	                          : column == STACKS_FRAME ? s->line
	                                                   : s->depth);
}

static uint64_t sample_count(void *ctx)
{
	return of(ctx)->n->rows.count;
}

static void out_value(const struct named_row *row, uint32_t column, sqlite3_context *out)
{
	if (column != NAMED_NONE)
		sqlite3_result_int64(out, row->values[column]);
}

static void sample_value(void *ctx, uint64_t number, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);
	const struct named_row *row = &m->n->rows.items[number];
	const uint32_t columns[] = {m->columns.count, m->n->main_value, m->columns.runnable,
	                            m->columns.blocked};

	switch (column) {
	case SAMPLES_WINDOW:
		sqlite3_result_int(out, 0);
		break;
	case SAMPLES_TIME_NS:
		out_start(m, out);
		break;
	case SAMPLES_PROCESS:
		sqlite3_result_int64(out, m->owner_process[row->owner]);
		break;
	case SAMPLES_THREAD:
		out_id(m->owner_thread[row->owner], out);
		break;
	case SAMPLES_STACK:
		sqlite3_result_int64(out, m->path_stack[row->path]);
		break;
	case SAMPLES_MODE:
		sql_out_text(out, "unknown");
		break;
	case SAMPLES_EVENT:
		sql_out_text(out, m->n->values[m->n->main_value].name);
		break;
	case SAMPLES_SAMPLES:
	case SAMPLES_WEIGHT:
	case SAMPLES_RUNNABLE_NS:
	case SAMPLES_BLOCKED_NS:
		out_value(row, columns[column - SAMPLES_SAMPLES], out);
		break;
	}
}

static uint64_t call_count(void *ctx)
{
	return of(ctx)->calls.count;
}

/* The function at the end of a path, without inlined functions; NAMED_NONE: the empty path. */
static uint32_t path_function(const struct symbolized_model *m, uint32_t path)
{
	return path == NAMED_ROOT ? NAMED_NONE
	                          : named_place_function(m->n, m->n->paths.items[path].place);
}

static void out_path(const struct symbolized_model *m, uint32_t path, sqlite3_context *out)
{
	const struct named_path *paths = m->n->paths.items;
	VEC(uint32_t) way = {0};
	struct buf text = {0};

	for (; path != NAMED_ROOT; path = paths[path].parent)
		vec_push(&way, path);
	while (way.count) {
		uint32_t f = path_function(m, way.items[--way.count]);

		buf_addf(&text, "%s%s", text.size ? ";" : "",
		         text_of(m, m->n->functions.items[f].name));
	}
	sql_out_copy(out, buf_text(&text));
	vec_done(&way);
	buf_done(&text);
}

/* Sets net, total, blocked, preempted, min or max. A path without a row of its own only leads to
 * other paths, so its values are 0. */
static void call_times(const struct symbolized_model *m, const struct named_call *c, int column,
                       sqlite3_context *out)
{
	const uint32_t columns[] = {m->columns.net, NAMED_NONE, m->columns.blocked,
	                            m->columns.preempted};
	const struct named_range *range;
	uint32_t value = column < CALLS_MIN_NS ? columns[column - CALLS_NET_NS] : NAMED_NONE;

	if (column == CALLS_TOTAL_NS)
		sqlite3_result_double(out, (double)c->total);
	else if (value != NAMED_NONE)
		sqlite3_result_double(
		        out,
		        c->row == NAMED_NONE ? 0 : (double)m->n->rows.items[c->row].values[value]);
	if (column < CALLS_MIN_NS || column > CALLS_MAX_NS || c->row >= m->n->ranges.count)
		return;
	range = &m->n->ranges.items[c->row];
	if (range->most >= range->least)
		sqlite3_result_double(
		        out, (double)(column == CALLS_MIN_NS ? range->least : range->most));
}

/* Percentiles and the calls that they come from; only traces of event tags have them. */
static void call_percentiles(const struct symbolized_model *m, const struct named_call *c,
                             int column, sqlite3_context *out)
{
	const struct named_percentiles *p;
	int64_t ns;

	if (c->row >= m->n->percentiles.count) {
		if (column == CALLS_TIMED_CALLS && m->n->percentiles.count)
			sqlite3_result_int(out, 0);
		return;
	}
	p = &m->n->percentiles.items[c->row];
	ns = column == CALLS_P50_NS ? p->p50 : column == CALLS_P90_NS ? p->p90 : p->p99;
	if (column == CALLS_TIMED_CALLS)
		sqlite3_result_int64(out, (int64_t)p->timed);
	else if (ns >= 0)
		sqlite3_result_double(out, (double)ns);
}

static void call_value(void *ctx, uint64_t number, int column, sqlite3_context *out)
{
	const struct symbolized_model *m = of(ctx);
	const struct named_call *c = &m->calls.items[number];
	uint32_t function = path_function(m, c->path);

	switch (column) {
	case CALLS_PARENT:
		if (c->parent != NAMED_NONE)
			sqlite3_result_int64(out, (int64_t)c->parent + 1);
		break;
	case CALLS_PROCESS:
		sqlite3_result_int64(out, m->owner_process[c->owner]);
		break;
	case CALLS_THREAD:
		out_id(m->owner_thread[c->owner], out);
		break;
	case CALLS_FUNCTION:
		out_id(function, out);
		break;
	case CALLS_IMAGE:
		if (function != NAMED_NONE)
			out_id(m->n->functions.items[function].image, out);
		break;
	case CALLS_DEPTH:
		sqlite3_result_int64(out, m->n->paths.items[c->path].depth);
		break;
	case CALLS_PATH:
		out_path(m, c->path, out);
		break;
	case CALLS_CALLS:
		sqlite3_result_int64(out,
		                     c->row == NAMED_NONE
		                             ? 0
		                             : m->n->rows.items[c->row].values[m->columns.calls]);
		break;
	case CALLS_P50_NS:
	case CALLS_P90_NS:
	case CALLS_P99_NS:
	case CALLS_TIMED_CALLS:
		call_percentiles(m, c, column, out);
		break;
	default:
		call_times(m, c, column, out);
	}
}

static const struct sql_table tables[] = {
        {.name = "sessions",
         .count = one,
         .value = session_value,
         .has_id = true,
         .done = free_model},
        {.name = "windows", .count = one, .value = window_value, .has_id = true},
        {.name = "processes", .count = process_count, .value = process_value, .has_id = true},
        {.name = "threads", .count = thread_count, .value = thread_value, .has_id = true},
        {.name = "images", .count = image_count, .value = image_value, .has_id = true},
        {.name = "functions", .count = function_count, .value = function_value, .has_id = true},
        {.name = "frames", .count = frame_count, .value = frame_value, .has_id = true},
        {.name = "stacks",
         .count = stack_count,
         .value = stack_value,
         .has_id = true,
         .first_id = 1},
        {.name = "samples", .count = sample_count, .value = sample_value},
        {.name = "calls", .count = call_count, .value = call_value, .has_id = true, .first_id = 1},
};

int sql_add_named(struct sql *s, const struct symbolized_profile *n, void (*done)(void *ctx),
                  void *ctx, struct error *err)
{
	struct model *model = xcalloc(1, sizeof(*model));

	*model = (struct model){symbolized_model_new(n), done, ctx};
	if (model->m->too_many) {
		free_model(model);
		return error_set(
		        err, EFBIG,
		        "the recording has more than %zu call paths, counted per thread, which is "
		        "too many for SQL: use 'assay export --to folded'",
		        NAMED_CALLS_MAX);
	}
	return sql_table_add_all(s, tables, sizeof(tables) / sizeof(*tables), model, err);
}

int sql_add_pprof(struct sql *s, const struct symbolized_profile *n, struct error *err)
{
	return sql_add_named(s, n, NULL, NULL, err);
}
