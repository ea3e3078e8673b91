/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_tables: processes, threads and samples. */
#include "sql/tables/profile_tables.h"

#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"

static uint64_t process_count(void *ctx)
{
	return process_table_process_count(((struct profile_model *)ctx)->profile->processes);
}

/* The times of a process from switch records; NULL: there are none. */
static const struct ledger_process *times_of(struct profile_model *m, uint64_t process)
{
	if (!m->process_times) {
		size_t count = process_count(m);

		m->process_times = xcalloc(count + 1, sizeof(const struct ledger_process *));
		vec_each (times, &m->profile->ledger.processes)
			if (times->process < count)
				m->process_times[times->process] = times;
	}
	return m->process_times[process];
}

/* A process does not refer to a recording: with several, the clock of the first one is used. */
static void out_time(const struct profile_model *m, uint64_t time_ns, sqlite3_context *out)
{
	if (time_ns)
		sql_out_u64(out, profile_model_wall(m, 0, time_ns));
}

static void out_times(struct profile_model *m, uint64_t row, int column, sqlite3_context *out)
{
	const struct ledger_process *times = times_of(m, row);

	if (times)
		sql_out_u64(out, column == PROCESSES_ONCPU_NS      ? times->oncpu_ns
		                 : column == PROCESSES_RUNNABLE_NS ? times->runnable_ns
		                                                   : times->blocked_ns);
}

static void out_name(const struct process_table *t, uint32_t name, sqlite3_context *out)
{
	const char *text = name == ID_NONE ? "" : process_table_name(t, name);

	sql_out_text(out, *text ? text : NULL);
}

static void process_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	struct profile_model *m = ctx;
	const struct process_table *t = m->profile->processes;
	const struct process *p = process_table_process(t, (uint32_t)row);

	switch (column) {
	case PROCESSES_HOST:
		sqlite3_result_int(out, 0);
		break;
	case PROCESSES_NAME:
		sql_out_text(out, process_table_name(t, p->name));
		break;
	case PROCESSES_INSTANCE:
		sql_out_u64(out, p->instance);
		break;
	case PROCESSES_PID:
		sqlite3_result_int(out, p->pid);
		break;
	case PROCESSES_PARENT:
		if (p->parent != ID_NONE)
			sql_out_u64(out, p->parent);
		break;
	case PROCESSES_START_NS:
		out_time(m, p->start_ns, out);
		break;
	case PROCESSES_END_NS:
		out_time(m, p->end_ns, out);
		break;
	case PROCESSES_CGROUP:
		out_name(t, p->cgroup, out);
		break;
	case PROCESSES_VERSION:
		out_name(t, p->version, out);
		break;
	case PROCESSES_LABELS:
		out_name(t, p->labels, out);
		break;
	case PROCESSES_KERNEL:
		sqlite3_result_int(out, p->kernel);
		break;
	case PROCESSES_INSTANCES:
		sqlite3_result_int(out, 1);
		break;
	default:
		out_times(m, row, column, out);
	}
}

static uint64_t thread_count(void *ctx)
{
	return process_table_thread_count(((struct profile_model *)ctx)->profile->processes);
}

static void thread_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct profile_model *m = ctx;
	const struct process_table *t = m->profile->processes;
	const struct thread *thread = process_table_thread_at(t, (uint32_t)row);

	switch (column) {
	case THREADS_PROCESS:
		sql_out_u64(out, thread->process);
		break;
	case THREADS_TID:
		sqlite3_result_int(out, thread->tid);
		break;
	case THREADS_NAME:
		sql_out_text(out, process_table_name(t, thread->name));
		break;
	case THREADS_START_NS:
		out_time(m, thread->start_ns, out);
		break;
	case THREADS_END_NS:
		out_time(m, thread->end_ns, out);
		break;
	}
}

static uint64_t sample_count(void *ctx)
{
	return ((struct profile_model *)ctx)->profile->rows.count;
}

/* Sorts rows by window. Rows are in the order of their first sample, so usually sorted already. */
static void order_rows(struct profile_model *m)
{
	const struct profile *p = m->profile;
	size_t windows = p->windows.count + 1, count = p->rows.count;
	bool in_order = true;
	uint32_t *next;

	m->ordered = true;
	for (size_t i = 1; i < count && in_order; i++)
		in_order = p->rows.items[i - 1].window <= p->rows.items[i].window;
	if (in_order)
		return;
	next = xcalloc(windows + 1, sizeof(*next));
	m->by_window = xcalloc(count, sizeof(*m->by_window));
	vec_each (row, &p->rows)
		next[(row->window < windows ? row->window : windows - 1) + 1]++;
	for (size_t i = 1; i <= windows; i++)
		next[i] += next[i - 1];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t window = p->rows.items[i].window;

		m->by_window[next[window < windows ? window : windows - 1]++] = i;
	}
	free(next);
}

static const struct profile_row *row_at(struct profile_model *m, uint64_t row)
{
	if (!m->ordered)
		order_rows(m);
	return &m->profile->rows.items[m->by_window ? m->by_window[row] : row];
}

/* The first row whose window is not below `window`. */
static uint64_t first_row(struct profile_model *m, int64_t window)
{
	return sorted_count(i, m->profile->rows.count, (int64_t)row_at(m, i)->window < window);
}

/* Range by `window`, or by `time_ns`, the start of the window. The starts are sorted only within
 * one recording. */
static void sample_range(void *ctx, const struct sql_bound *bound, uint64_t *first, uint64_t *end)
{
	struct profile_model *m = ctx;
	const struct profile *p = m->profile;
	int64_t low = 0, high = (int64_t)p->windows.count;

	*first = 0;
	*end = p->rows.count;
	if (!p->windows.count)
		return;
	if (bound->column == SAMPLES_WINDOW) {
		*first = first_row(m, bound->low);
		*end = bound->high == INT64_MAX ? *end : first_row(m, bound->high + 1);
		return;
	}
	if (p->recordings.count != 1)
		return;
	while (low < high &&
	       (int64_t)profile_model_wall(m, 0, p->windows.items[low].start_ns) < bound->low)
		low++;
	while (high > low &&
	       (int64_t)profile_model_wall(m, 0, p->windows.items[high - 1].start_ns) > bound->high)
		high--;
	*first = first_row(m, low);
	*end = first_row(m, high);
}

static const char *mode_name(uint8_t mode)
{
	static const char *const names[] = {[PROFILE_USER] = "user",
	                                    [PROFILE_KERNEL] = "kernel",
	                                    [PROFILE_IDLE] = "idle",
	                                    [PROFILE_GUEST] = "guest",
	                                    [PROFILE_UNKNOWN] = "unknown"};

	return mode < sizeof(names) / sizeof(*names) ? names[mode] : NULL;
}

static void sample_time(const struct profile_model *m, const struct profile_row *row,
                        sqlite3_context *out)
{
	const struct profile *p = m->profile;
	const struct profile_span *w;

	if (row->window >= p->windows.count)
		return;
	w = &p->windows.items[row->window];
	/* 0: the samples have no time. */
	if (w->start_ns)
		sql_out_u64(out, profile_model_wall(m, w->recording, w->start_ns));
}

static void sample_sum(const struct profile_row *row, int column, sqlite3_context *out)
{
	const uint64_t values[] = {row->samples, row->weight, row->runnable_ns, row->blocked_ns};

	sql_out_u64(out, values[column - SAMPLES_SAMPLES]);
}

static void sample_value(void *ctx, uint64_t number, int column, sqlite3_context *out)
{
	struct profile_model *m = ctx;
	const struct profile *p = m->profile;
	const struct profile_row *row = row_at(m, number);

	switch (column) {
	case SAMPLES_WINDOW:
		if (row->window < p->windows.count)
			sql_out_u64(out, row->window);
		break;
	case SAMPLES_TIME_NS:
		sample_time(m, row, out);
		break;
	case SAMPLES_PROCESS:
		sql_out_u64(out, process_table_thread_at(p->processes, row->thread)->process);
		break;
	case SAMPLES_THREAD:
		sql_out_u64(out, row->thread);
		break;
	case SAMPLES_STACK:
		sql_out_u64(out, row->path);
		break;
	case SAMPLES_CPU:
		if (row->cpu != PROFILE_CPU_UNKNOWN)
			sql_out_u64(out, row->cpu);
		break;
	case SAMPLES_MODE:
		sql_out_text(out, mode_name(row->mode));
		break;
	case SAMPLES_EVENT:
		sql_out_text(out, p->events.items[row->event].name);
		break;
	case SAMPLES_REGION:
		if (row->region != REGION_NONE)
			sql_out_u64(out, row->region);
		break;
	case SAMPLES_STACK_END:
		sql_out_text(out, stack_quality_name(stack_quality(row->stack_end)));
		break;
	default:
		sample_sum(row, column, out);
	}
}

int profile_tables_add_samples(struct sql *s, struct profile_model *m, struct error *err)
{
	const struct sql_table tables[] = {
	        {.name = "processes",
	         .count = process_count,
	         .value = process_value,
	         .has_id = true},
	        {.name = "threads", .count = thread_count, .value = thread_value, .has_id = true},
	        {.name = "samples",
	         .count = sample_count,
	         .value = sample_value,
	         .ranged = 1 << SAMPLES_WINDOW | 1 << SAMPLES_TIME_NS,
	         .range = sample_range},
	};

	return sql_table_add_all(s, tables, sizeof(tables) / sizeof(*tables), m, err);
}
