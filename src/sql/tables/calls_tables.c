/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_tables: counted calls as tables. The rows of `calls` are the call paths of all processes,
 * one process after the other. `stacks` and `samples` have the same rows and ids, so queries for
 * sampled stacks work here too; `weight` is then the net time.
 */
#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"
#include "sql/image_value.h"
#include "sql/sql.h"
#include "view/calls/call_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAIN_EVENT "net"

struct calls_model {
	const struct call_paths *calls;
	struct call_names *names;
	/* by process: the sum over all processes before it; the last element is the total */
	uint64_t *paths, *threads;
	uint32_t *instances;
	uint32_t *depths; /* by path, over all processes; 0 for a root */
	uint64_t start_ns, end_ns;
	bool running; /* at least one process */
};

static void free_model(void *ctx)
{
	struct calls_model *m = ctx;

	call_names_free(m->names);
	free(m->paths);
	free(m->threads);
	free(m->instances);
	free(m->depths);
	free(m);
}

/* Numbers the processes of each name from 1, in the order of the recording. */
static void number_instances(struct calls_model *m)
{
	uint32_t *seen = xcalloc(m->calls->images.names.texts.count + 1, sizeof(*seen));
	size_t i = 0;

	vec_each (p, &m->calls->processes)
		m->instances[i++] = ++seen[p->name];
	free(seen);
}

static void measure(struct calls_model *m)
{
	size_t i = 0;

	vec_each (p, &m->calls->processes) {
		uint64_t end = p->start_ns;

		m->paths[i + 1] = m->paths[i] + p->paths.count;
		m->threads[i + 1] = m->threads[i] + p->threads.count;
		i++;
		m->running |= (p->flags & CALL_RUNNING) != 0;
		if (!p->start_ns)
			continue;
		if (p->wall_ns > 0 && p->wall_ns < 9e18)
			end += (uint64_t)p->wall_ns;
		if (!m->start_ns || p->start_ns < m->start_ns)
			m->start_ns = p->start_ns;
		m->end_ns = end > m->end_ns ? end : m->end_ns;
	}
}

/* A caller has a smaller index than its callees. */
static void measure_depths(struct calls_model *m)
{
	uint32_t *depth = m->depths;

	vec_each (p, &m->calls->processes) {
		for (size_t i = 1; i < p->paths.count; i++)
			depth[i] = depth[p->paths.items[i].parent] + 1;
		depth += p->paths.count;
	}
}

static struct calls_model *new_model(const struct call_paths *c, struct symbolizer *symbols)
{
	struct calls_model *m = xcalloc(1, sizeof(*m));
	size_t count = c->processes.count;

	m->calls = c;
	m->names = call_names_new(c, symbols, false);
	m->paths = xcalloc(count + 1, sizeof(*m->paths));
	m->threads = xcalloc(count + 1, sizeof(*m->threads));
	m->instances = xcalloc(count + 1, sizeof(*m->instances));
	number_instances(m);
	measure(m);
	m->depths = xcalloc(m->paths[count] + 1, sizeof(*m->depths));
	measure_depths(m);
	return m;
}

/* The process that owns row `row`: the last one whose element of `firsts` is not above `row`. */
static size_t process_of(const struct calls_model *m, const uint64_t *firsts, uint64_t row)
{
	return sorted_count(i, m->calls->processes.count, firsts[i] <= row) - 1;
}

static uint64_t one(void *ctx)
{
	return 1;
}

/* Sets whole nanoseconds. A damaged recording may contain NaN or infinity: NULL then. */
static void out_whole(sqlite3_context *out, double ns)
{
	if (isfinite(ns) && fabs(ns) < 9e18)
		sqlite3_result_int64(out, llround(ns));
}

static void session_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct calls_model *m = ctx;
	const struct call_paths *c = m->calls;

	switch (column) {
	case SESSIONS_START_NS:
		sql_out_known(out, m->start_ns);
		break;
	case SESSIONS_END_NS:
		sql_out_known(out, m->end_ns);
		break;
	case SESSIONS_ENDED:
		sql_out_text(out, m->running ? NULL : "stopped");
		break;
	case SESSIONS_COMMAND:
		if (c->processes.count)
			sql_out_text(out,
			             intern_text(&c->images.names, c->processes.items[0].command));
		break;
	case SESSIONS_EVENT:
		sql_out_text(out, MAIN_EVENT);
		break;
	}
}

static uint64_t calls_of(const struct call_paths *c)
{
	uint64_t calls = 0;

	vec_each (p, &c->processes)
		calls += call_process_calls(p);
	return calls;
}

static void window_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct calls_model *m = ctx;

	if (column == WINDOWS_SESSION || column == WINDOWS_LEVEL)
		sqlite3_result_int(out, 0);
	else if (column == WINDOWS_START_NS || column == WINDOWS_END_NS)
		sql_out_known(out, column == WINDOWS_START_NS ? m->start_ns : m->end_ns);
	else if (column == WINDOWS_MERGED)
		sqlite3_result_int(out, 1);
	else if (column == WINDOWS_SAMPLES)
		sql_out_u64(out, calls_of(m->calls));
}

static uint64_t process_count(void *ctx)
{
	return ((struct calls_model *)ctx)->calls->processes.count;
}

/* The parent is the last process with the parent pid before this row: pids are reused. */
static void out_parent(const struct calls_model *m, uint64_t row, sqlite3_context *out)
{
	const struct call_process *all = m->calls->processes.items;

	for (uint64_t i = row; all[row].parent > 0 && i-- > 0;)
		if (all[i].pid == all[row].parent) {
			sql_out_u64(out, i);
			return;
		}
}

static void out_sum(const struct call_process *p, int column, sqlite3_context *out)
{
	double sum = 0;

	vec_each (t, &p->threads)
		sum += column == PROCESSES_ONCPU_NS      ? t->cpu_ns
		       : column == PROCESSES_RUNNABLE_NS ? t->preempted_ns
		                                         : t->blocked_ns;
	if (p->threads.count)
		out_whole(out, sum);
}

static void process_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct calls_model *m = ctx;
	const struct call_process *p = &m->calls->processes.items[row];

	switch (column) {
	case PROCESSES_NAME:
		sql_out_text(out, intern_text(&m->calls->images.names, p->name));
		break;
	case PROCESSES_INSTANCE:
		sqlite3_result_int64(out, m->instances[row]);
		break;
	case PROCESSES_PID:
		sqlite3_result_int(out, p->pid);
		break;
	case PROCESSES_PARENT:
		out_parent(m, row, out);
		break;
	case PROCESSES_START_NS:
		sql_out_known(out, p->start_ns);
		break;
	case PROCESSES_END_NS:
		if (p->start_ns && !(p->flags & CALL_RUNNING) && p->wall_ns >= 0 &&
		    p->wall_ns < 9e18)
			sql_out_u64(out, p->start_ns + (uint64_t)p->wall_ns);
		break;
	case PROCESSES_KERNEL:
		sqlite3_result_int(out, 0);
		break;
	case PROCESSES_INSTANCES:
		sqlite3_result_int(out, 1);
		break;
	case PROCESSES_ONCPU_NS:
	case PROCESSES_RUNNABLE_NS:
	case PROCESSES_BLOCKED_NS:
		out_sum(p, column, out);
		break;
	}
}

static uint64_t thread_count(void *ctx)
{
	const struct calls_model *m = ctx;

	return m->threads[m->calls->processes.count];
}

static void thread_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct calls_model *m = ctx;
	size_t process = process_of(m, m->threads, row);
	const struct call_thread *t =
	        &m->calls->processes.items[process].threads.items[row - m->threads[process]];

	if (column == THREADS_PROCESS)
		sql_out_u64(out, process);
	else if (column == THREADS_TID && t->tid)
		sqlite3_result_int(out, t->tid);
	else if (column == THREADS_NAME)
		sql_out_text(out, intern_text(&m->calls->images.names, t->name));
}

static uint64_t image_count(void *ctx)
{
	return ((struct calls_model *)ctx)->calls->images.images.count;
}

static void image_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	sql_image_value(&((struct calls_model *)ctx)->calls->images, (uint32_t)row, column, out);
}

static uint64_t function_count(void *ctx)
{
	return ((struct calls_model *)ctx)->calls->functions.count;
}

static void out_image(const struct call_function *f, sqlite3_context *out)
{
	if (f->kind == CALL_FUNCTION)
		sql_out_u64(out, f->frame.image);
}

static void function_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct calls_model *m = ctx;

	if (column == FUNCTIONS_IMAGE)
		out_image(&m->calls->functions.items[row], out);
	else
		sql_out_text(out, call_names_of(m->names, (uint32_t)row));
}

/* One frame per function: its first address. */
static void frame_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct calls_model *m = ctx;
	const struct call_function *f = &m->calls->functions.items[row];

	if (column == FRAMES_IMAGE)
		out_image(f, out);
	else if (column == FRAMES_OFFSET && f->kind == CALL_FUNCTION)
		sqlite3_result_int64(out, (sqlite3_int64)f->frame.offset);
	else if (column == FRAMES_FUNCTION)
		sql_out_u64(out, row);
	else if (column == FRAMES_CALLER)
		sqlite3_result_int(out, 0);
}

/* One call path, and the process that owns it. */
struct calls_table_row {
	size_t process;
	const struct call_process *of;
	const struct call_path *path;
	uint64_t first; /* row of the process's root */
};

static struct calls_table_row row_at(const struct calls_model *m, uint64_t number)
{
	struct calls_table_row r = {.process = process_of(m, m->paths, number)};

	r.of = &m->calls->processes.items[r.process];
	r.first = m->paths[r.process];
	r.path = &r.of->paths.items[number - r.first];
	return r;
}

static uint64_t path_count(void *ctx)
{
	const struct calls_model *m = ctx;

	return m->paths[m->calls->processes.count];
}

/* A function without a caller has parent 0, and so has the root of a process. */
static void stack_value(void *ctx, uint64_t number, int column, sqlite3_context *out)
{
	const struct calls_model *m = ctx;
	struct calls_table_row r = row_at(m, number);

	if (column == STACKS_PARENT)
		sql_out_u64(out,
		            number > r.first && r.path->parent ? r.first + r.path->parent + 1 : 0);
	else if (column == STACKS_FRAME)
		sql_out_u64(out, r.path->function);
	else if (number > r.first)
		sql_out_u64(out, m->depths[number]);
	else
		sqlite3_result_int(out, 1);
}

static void sample_value(void *ctx, uint64_t number, int column, sqlite3_context *out)
{
	struct calls_table_row r = row_at(ctx, number);

	switch (column) {
	case SAMPLES_WINDOW:
		sqlite3_result_int(out, 0);
		break;
	case SAMPLES_TIME_NS:
		sql_out_known(out, r.of->start_ns);
		break;
	case SAMPLES_PROCESS:
		sql_out_u64(out, r.process);
		break;
	case SAMPLES_STACK:
		sql_out_u64(out, number + 1);
		break;
	case SAMPLES_MODE:
		sql_out_text(out, "unknown");
		break;
	case SAMPLES_EVENT:
		sql_out_text(out, MAIN_EVENT);
		break;
	case SAMPLES_SAMPLES:
		sql_out_u64(out, r.path->calls);
		break;
	case SAMPLES_WEIGHT:
		out_whole(out, r.path->net_ns);
		break;
	case SAMPLES_RUNNABLE_NS:
		out_whole(out, r.path->preempted_ns);
		break;
	case SAMPLES_BLOCKED_NS:
		out_whole(out, r.path->blocked_ns);
		break;
	}
}

/* The path as in folded stacks. A path above NAMED_DEPTH_MAX functions is cut to the outermost
 * ones, "[deeper]" and the innermost one. */
static void out_path(const struct calls_model *m, const struct calls_table_row *r,
                     sqlite3_context *out)
{
	const struct call_path *all = r->of->paths.items;
	uint32_t depth = m->depths[r->first + (uint64_t)(r->path - all)];
	uint32_t *chain = xcalloc(depth + 1, sizeof(*chain));
	size_t count = call_path_chain(r->of, (uint32_t)(r->path - all), chain, depth);
	struct buf text = {0};

	for (size_t i = 0; i < count; i++) {
		if (i == NAMED_DEPTH_MAX && count > NAMED_DEPTH_MAX + 1) {
			buf_puts(&text, ";[deeper]");
			i = count - 1;
		}
		buf_addf(&text, "%s%s", i ? ";" : "",
		         call_names_of(m->names, all[chain[i]].function));
	}
	if (!count)
		buf_puts(&text, call_names_of(m->names, r->path->function));
	sql_out_copy(out, buf_text(&text));
	buf_done(&text);
	free(chain);
}

static void call_times(const struct call_path *p, int column, sqlite3_context *out)
{
	const double values[] = {p->net_ns,       p->total_ns, p->blocked_ns,
	                         p->preempted_ns, p->min_ns,   p->max_ns};

	sql_out_double(out, values[column - CALLS_NET_NS]);
}

/* The durations of single calls. */
static void call_percentiles(const struct calls_table_row *r, int column, sqlite3_context *out)
{
	static const double parts[] = {0.5, 0.9, 0.99};
	const struct call_path *p = r->path;
	const struct call_times *times =
	        call_path_times_of(r->of, (uint32_t)(p - r->of->paths.items));

	if (column == CALLS_TIMED_CALLS)
		sql_out_u64(out, times ? times->timed : 0);
	else
		sql_out_double(out, call_times_percentile_between(
		                            times, call_times_unknown(times, p->calls),
		                            parts[column - CALLS_P50_NS], p->min_ns, p->max_ns));
}

static void call_value(void *ctx, uint64_t number, int column, sqlite3_context *out)
{
	const struct calls_model *m = ctx;
	struct calls_table_row r = row_at(m, number);

	switch (column) {
	case CALLS_PARENT:
		if (number > r.first)
			sql_out_u64(out, r.first + r.path->parent + 1);
		break;
	case CALLS_PROCESS:
		sql_out_u64(out, r.process);
		break;
	case CALLS_THREAD: /* all threads of a process share one tree of paths */
		break;
	case CALLS_FUNCTION:
		sql_out_u64(out, r.path->function);
		break;
	case CALLS_IMAGE:
		out_image(&m->calls->functions.items[r.path->function], out);
		break;
	case CALLS_DEPTH:
		sql_out_u64(out, m->depths[number]);
		break;
	case CALLS_PATH:
		out_path(m, &r, out);
		break;
	case CALLS_CALLS:
		sql_out_u64(out, r.path->calls);
		break;
	case CALLS_P50_NS:
	case CALLS_P90_NS:
	case CALLS_P99_NS:
	case CALLS_TIMED_CALLS:
		call_percentiles(&r, column, out);
		break;
	default:
		call_times(r.path, column, out);
	}
}

int sql_add_calls(struct sql *s, const struct call_paths *c, struct symbolizer *symbols,
                  struct error *err)
{
	const struct sql_table tables[] = {
	        {.name = "sessions",
	         .count = one,
	         .value = session_value,
	         .has_id = true,
	         .done = free_model},
	        {.name = "windows", .count = one, .value = window_value, .has_id = true},
	        {.name = "processes",
	         .count = process_count,
	         .value = process_value,
	         .has_id = true},
	        {.name = "threads", .count = thread_count, .value = thread_value, .has_id = true},
	        {.name = "images", .count = image_count, .value = image_value, .has_id = true},
	        {.name = "functions",
	         .count = function_count,
	         .value = function_value,
	         .has_id = true},
	        {.name = "frames", .count = function_count, .value = frame_value, .has_id = true},
	        {.name = "stacks",
	         .count = path_count,
	         .value = stack_value,
	         .has_id = true,
	         .first_id = 1},
	        {.name = "samples", .count = path_count, .value = sample_value},
	        {.name = "calls",
	         .count = path_count,
	         .value = call_value,
	         .has_id = true,
	         .first_id = 1},
	};
	struct calls_model *m = new_model(c, symbols);

	return sql_table_add_all(s, tables, sizeof(tables) / sizeof(*tables), m, err);
}
