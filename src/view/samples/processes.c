/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/processes.h"

#include "view/confidence/group_confidence.h"

typedef VEC(struct process_line) line_vec;

/* Lines by a dense key: name ids or process ids; the key of the interrupts is the last. */
struct process_view_tally {
	line_vec lines;
	uint32_t *line_of;  /* per key: index in lines */
	uint32_t *group_of; /* per profile row, for the intervals */
};

static struct process_line *tally_line(struct process_view_tally *t, uint32_t key, uint32_t process,
                                       uint32_t name)
{
	struct process_line *line;

	if (t->line_of[key] != ID_NONE)
		return &t->lines.items[t->line_of[key]];
	t->line_of[key] = (uint32_t)t->lines.count;
	line = vec_add(&t->lines);
	line->process = process;
	line->name = name;
	return line;
}

static void tally_row(struct view *v, struct process_view_tally *t, uint32_t id,
                      struct process_line *line)
{
	const struct profile_row *row = &v->profile->rows.items[id];
	enum view_mode mode = view_mode(v, row);

	if (mode == VIEW_USER || mode == VIEW_GUEST)
		line->user_samples += row->samples;
	else if (mode == VIEW_IDLE)
		line->idle_samples += row->samples;
	else
		line->kernel_samples += row->samples;
	line->weight += row->weight;
	t->group_of[id] = (uint32_t)(line - t->lines.items);
}

static int compare_lines(const void *a, const void *b)
{
	const struct process_line *x = a, *y = b;
	uint64_t wx = x->runnable_ns + x->blocked_ns, wy = y->runnable_ns + y->blocked_ns;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (wx != wy)
		return wx < wy ? 1 : -1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static void fill_shares(struct view *v, const struct selection *s, struct process_view_tally *t,
                        bool intervals)
{
	struct group_confidence_group *groups = xcalloc(t->lines.count + 1, sizeof(*groups));

	vec_each (line, &t->lines) {
		uint64_t samples = line->user_samples + line->kernel_samples + line->idle_samples;

		line->share = s->base_weight    ? (double)line->weight / (double)s->base_weight
		              : s->base_samples ? (double)samples / (double)s->base_samples
		                                : 0;
		line->low = line->high = line->share;
		groups[line - t->lines.items].share = line->share;
	}
	if (intervals) {
		group_confidence_intervals(v, s, t->group_of, groups, t->lines.count);
		vec_each (line, &t->lines) {
			line->low = groups[line - t->lines.items].low;
			line->high = groups[line - t->lines.items].high;
		}
	}
	free(groups);
}

/* The tally of the selection, by name or by instance. */
struct process_view_run {
	struct view *view;
	struct process_view_tally tally;
	bool by_name;
	uint32_t keys; /* the key of the interrupts */
	bool *seen;    /* per process */
};

/* The key of a process's line. */
static uint32_t key_of(const struct process_view_run *r, uint32_t process)
{
	if (process == ID_NONE)
		return r->keys;
	return r->by_name ? process_table_process(r->view->profile->processes, process)->name
	                  : process;
}

static struct process_line *line_of(struct process_view_run *r, uint32_t process)
{
	const struct process_table *table = r->view->profile->processes;
	uint32_t name = process == ID_NONE ? ID_NONE : process_table_process(table, process)->name;
	struct process_line *line = tally_line(&r->tally, key_of(r, process), process, name);

	if (process == ID_NONE) {
		line->instances = 1;
		return line;
	}
	line->instances += !r->seen[process];
	r->seen[process] = true;
	return line;
}

static void tally_selection(struct process_view_run *r, const struct selection *s)
{
	struct view *v = r->view;
	const struct profile *p = v->profile;

	vec_each (id, &s->rows)
		tally_row(v, &r->tally, *id,
		          line_of(r, view_counted_process(v, &p->rows.items[*id])));
	vec_each (id, &s->waits) {
		const struct profile_row *row = &p->rows.items[*id];
		struct process_line *line = line_of(r, view_counted_process(v, row));

		line->runnable_ns += row->runnable_ns;
		line->blocked_ns += row->blocked_ns;
	}
	vec_each (id, &s->hits) {
		const struct profile_row *row = &p->rows.items[*id];
		const struct thread *thread = process_table_thread_at(p->processes, row->thread);

		line_of(r, thread->process)->interrupt_samples += row->samples;
	}
	/* The samples of the second clock make no lines. */
	vec_each (id, &s->witness) {
		uint32_t process = view_counted_process(v, &p->rows.items[*id]);

		r->tally.group_of[*id] = r->tally.line_of[key_of(r, process)];
	}
}

/* Makes the lines of the selection. */
static void tally_run(struct view *v, const struct selection *s, bool by_name, bool intervals,
                      struct process_view_tally *out)
{
	const struct process_table *table = v->profile->processes;
	uint32_t processes = (uint32_t)process_table_process_count(table), keys = processes;
	struct process_view_run r = {.view = v, .by_name = by_name};

	for (uint32_t i = 0; by_name && i < processes; i++)
		if (process_table_process(table, i)->name >= keys)
			keys = process_table_process(table, i)->name + 1;
	r.keys = keys;
	r.seen = xcalloc(processes + 1, sizeof(*r.seen));
	r.tally.line_of = xmalloc((keys + 1) * sizeof(*r.tally.line_of));
	r.tally.group_of = group_confidence_groups_new(v);
	for (uint32_t i = 0; i <= keys; i++)
		r.tally.line_of[i] = ID_NONE;
	tally_selection(&r, s);
	fill_shares(v, s, &r.tally, intervals);
	if (r.tally.lines.count)
		qsort(r.tally.lines.items, r.tally.lines.count, sizeof(*r.tally.lines.items),
		      compare_lines);
	free(r.seen);
	free(r.tally.line_of);
	free(r.tally.group_of);
	*out = r.tally;
}

struct processes *processes_new(struct view *v, const struct selection *s, bool intervals)
{
	struct processes *p = xcalloc(1, sizeof(*p));
	struct process_view_tally names = {0}, instances = {0};

	p->view = v;
	p->samples = s->samples;
	p->weight = s->weight;
	tally_run(v, s, true, intervals, &names);
	tally_run(v, s, false, intervals, &instances);
	vec_each (line, &names.lines)
		vec_push(&p->names, *line);
	vec_each (line, &instances.lines)
		vec_push(&p->instances, *line);
	vec_done(&names.lines);
	vec_done(&instances.lines);
	return p;
}

void processes_free(struct processes *p)
{
	if (!p)
		return;
	vec_done(&p->names);
	vec_done(&p->instances);
	free(p);
}

const char *processes_name(const struct processes *p, const struct process_line *line)
{
	return view_process_name(p->view, line->process);
}
