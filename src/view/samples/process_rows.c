/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of a sampled profile as rows of a table. */
#include "view/samples/document/report_document.h"

#include <inttypes.h>
#include <stddef.h>

struct process_rows {
	const struct report *report;
	const struct process_line *lines;
	bool instances; /* each instance has a line */
	bool complete;  /* all lines are shown */
};

static const struct process_line *line_at(const struct row_source *s, uint32_t row)
{
	return &((const struct process_rows *)s->model)->lines[row];
}

/* `argument`: the offset of the figure in the line. */
static struct cell count_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const char *line = (const char *)line_at(s, row);

	return cell_int((int64_t) * (const uint64_t *)(const void *)(line + c->argument));
}

static struct cell share_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const char *line = (const char *)line_at(s, row);

	return cell_real(*(const double *)(const void *)(line + c->argument));
}

/* The idle process has kernel time only. */
static struct cell kernel_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	return cell_int((int64_t)(line_at(s, row)->kernel_samples + line_at(s, row)->idle_samples));
}

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct process_rows *m = s->model;
	const struct process_line *line = line_at(s, row);
	const struct process_table *t = m->report->view->profile->processes;

	buf_puts(text, processes_name(m->report->processes, line));
	if (line->name == ID_NONE)
		return cell_text(buf_text(text));
	if (m->instances)
		buf_addf(text, "#%" PRIu32 " (%d)",
		         process_table_process(t, line->process)->instance,
		         process_table_process(t, line->process)->pid);
	else if (line->instances > 1)
		buf_addf(text, " x%" PRIu32, line->instances);
	return cell_text(buf_text(text));
}

/* The name without a number of processes: for filters, not for readers and programs. */
static struct cell comm_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct process_rows *m = s->model;

	return cell_text(processes_name(m->report->processes, line_at(s, row)));
}

static void identity_json(const struct row_source *s, const struct column *c, uint32_t row,
                          struct json *j)
{
	const struct process_rows *m = s->model;
	const struct process_line *line = line_at(s, row);
	const struct process_table *t = m->report->view->profile->processes;
	const struct process *p =
	        line->name == ID_NONE ? NULL : process_table_process(t, line->process);

	json_kstr(j, "name", processes_name(m->report->processes, line));
	json_ku64(j, "instance", p ? p->instance : 1);
	json_ki64(j, "pid", p ? p->pid : -1);
}

static bool is_worth(const struct row_source *s, uint32_t row, double limit)
{
	return ((const struct process_rows *)s->model)->complete || line_at(s, row)->share >= limit;
}

#define COUNT(name_, title_, key_, unit_, field)                                                   \
	{                                                                                          \
		.name = name_, .title = title_, .key = key_, .unit = unit_, .role = ROLE_SUM,      \
		.argument = offsetof(struct process_line, field), .get = count_cell                \
	}

static const struct column figures[] = {
        {.name = "share",
         .title = "share",
         .key = "share",
         .unit = &unit_share,
         .role = ROLE_SUM,
         .bar = true,
         .argument = offsetof(struct process_line, share),
         .get = share_cell},
        COUNT("user", "user", "user_samples", &unit_count, user_samples),
        COUNT("kernel", "kernel", NULL, &unit_count, kernel_samples),
        {.name = "all_kernel",
         .key = "kernel_samples",
         .unit = &unit_count,
         .role = ROLE_SUM,
         .get = kernel_cell},
        COUNT("idle", "idle", "idle_samples", &unit_count, idle_samples),
        COUNT("irq", "hit by irq", "interrupt_samples", &unit_count, interrupt_samples),
};

static const struct column waits[] = {
        COUNT("runnable", "runnable", "runnable_ns", &unit_time, runnable_ns),
        COUNT("blocked", "blocked", "blocked_ns", &unit_time, blocked_ns),
};

static void add_interval(struct row_source *s, const char *name, size_t offset, bool wide)
{
	vec_push(&s->columns, (struct column){.name = name,
	                                      .title = wide ? name : NULL,
	                                      .key = name,
	                                      .unit = &unit_share,
	                                      .argument = (uint32_t)offset,
	                                      .get = share_cell});
}

static void add_columns(struct row_source *s, const struct report *r, bool wide)
{
	static const struct column time = COUNT("weight", "on CPU", NULL, &unit_time, weight);
	const struct profile_event *e = report_event(r);

	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		vec_push(&s->columns, figures[i]);
		if (i)
			continue;
		add_interval(s, "low", offsetof(struct process_line, low), wide);
		add_interval(s, "high", offsetof(struct process_line, high), wide);
	}
	if (r->off_cpu && e && e->period_ns)
		vec_push(&s->columns, time);
	for (size_t i = 0; r->off_cpu && i < sizeof(waits) / sizeof(*waits); i++)
		vec_push(&s->columns, waits[i]);
	vec_push(&s->columns,
	         (struct column){.name = "comm", .unit = &unit_text, .get = comm_cell});
	vec_push(&s->columns, (struct column){.name = "process",
	                                      .title = "process",
	                                      .unit = &unit_text,
	                                      .get = name_cell,
	                                      .json = identity_json});
}

/* Programs get all instances. A list of instances that a reader requested is complete, unless a
 * limit is requested too. The lines are sorted already. */
struct row_set *process_rows(const struct report *r, const struct document_reader *reader)
{
	bool instances = r->options.instances || reader->program;
	struct process_rows *m = xcalloc(1, sizeof(*m));
	struct row_source *s = row_source_new(m);
	const enum flat_key key = instances ? FLAT_INSTANCE : FLAT_PROCESS;
	struct row_request q = {.limit = request_limit(&r->options, reader),
	                        .named = request_names_rows(&r->options, &key, 1),
	                        .lines = r->options.lines,
	                        .by = r->options.by,
	                        .by_count = r->options.by_count};

	if (reader->program)
		q.limit = q.lines = 0;
	m->report = r;
	m->instances = instances;
	m->complete = reader->program || (instances && r->options.limit < 0);
	m->lines = instances ? r->processes->instances.items : r->processes->names.items;
	s->free = free;
	s->rows = (uint32_t)(instances ? r->processes->instances.count : r->processes->names.count);
	s->worth = is_worth;
	add_columns(s, r, reader->wide || reader->intervals);
	return row_set_new(s, &q);
}
