/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/recording_facts.h"
#include "view/samples/report.h"

#include "base/process/helper_thread.h"
#include "base/memory/xalloc.h"
#include "view/samples/document/report_summary.h"

#include <errno.h>
#include <string.h>

/* Number of rows from which the tree is built in a separate thread. */
#define TREE_ASIDE 20000

const struct profile_event *report_event(const struct report *r)
{
	const struct profile *p = r->view->profile;

	return r->event < p->events.count ? &p->events.items[r->event] : NULL;
}

const char *report_event_caveat(const struct report *r)
{
	const struct profile_event *e = report_event(r);

	if (e && e->role == ATTR_CLOCK && e->period_ns)
		return "a maskable timer: samples due while interrupts are off appear at the "
		       "instruction that enables them again";
	return NULL;
}

static uint64_t elapsed_of(const struct profile *p)
{
	uint64_t sum = 0;

	vec_each (rec, &p->recordings)
		sum += recording_elapsed_ns(*rec);
	return sum;
}

static bool is_observer(const struct profile *p, int32_t pid)
{
	vec_each (rec, &p->recordings)
		if ((*rec)->account.present && pid > 0 &&
		    ((*rec)->account.observer_pid == pid || (*rec)->account.reader_pid == pid))
			return true;
	return false;
}

/*
 * The recorder's account is of the whole recording. For a part of the time, switch records have the
 * CPU time of the recorder.
 */
static void observe_part(const struct profile *p, struct report_observer *o)
{
	o->present = false;
	o->cpu_ns = 0;
	vec_each (line, &p->ledger.processes)
		if (is_observer(p, process_table_process(p->processes, line->process)->pid)) {
			o->switches = true;
			o->cpu_ns += line->oncpu_ns;
		}
}

static void observe(struct report *r)
{
	const struct profile *p = r->view->profile;
	struct report_observer *o = &r->observer;
	uint64_t wall = r->account->total.wall_ns ? r->account->total.wall_ns : r->elapsed_ns;

	vec_each (rec, &p->recordings) {
		const struct account *a = &(*rec)->account;

		o->lost += recording_lost(*rec);
		if (!a->present)
			continue;
		if (recording_is_part(*rec)) {
			o->part = true;
			continue;
		}
		o->present = true;
		o->cpu_ns += a->observer_cpu_ns;
		o->start_cpu_ns += a->observer_start_cpu_ns;
		o->bytes += a->observer_bytes;
		o->wakeups += a->observer_wakeups;
		o->flush_asked_ns = a->flush_asked_ns;
		o->flushes += a->flushes;
		o->flush_cpu_ns += a->flush_cpu_ns;
		o->reads_unanswered += a->reads_unanswered;
		o->reads_not_made += a->reads_not_made;
	}
	if (o->part)
		observe_part(p, o);
	if (!o->bytes)
		vec_each (rec, &p->recordings)
			o->bytes += (*rec)->bytes;
	vec_each (row, &p->rows)
		if (row->event == r->event && is_observer(p, view_process(r->view, row)->pid) &&
		    !view_is_interrupt(r->view, row))
			o->samples += row->samples;
	o->share = wall ? (double)o->cpu_ns / (double)wall : 0;
}

static uint64_t count_paths(const struct report *r)
{
	const struct profile *p = r->view->profile;
	bool *seen = xcalloc(p->paths.count, sizeof(*seen));
	uint64_t count = 0;

	vec_each (id, &r->selection.rows) {
		bool *here = &seen[p->rows.items[*id].path];

		count += !*here;
		*here = true;
	}
	free(seen);
	return count;
}

/* A selected row and its process's name id, the sort key. */
struct report_named_row {
	uint32_t name, row;
};
typedef VEC(struct report_named_row) report_named_rows;

static int compare_named(const void *a, const void *b)
{
	const struct report_named_row *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void keep(const struct report *r, uint32_t id, unsigned modes, struct selection *out)
{
	const struct profile_row *row = &r->view->profile->rows.items[id];

	if (!(modes >> view_mode(r->view, row) & 1))
		return;
	if (row->event != r->event) {
		out->witness_event = row->event;
		vec_push(&out->witness, id);
		return;
	}
	vec_push(&out->rows, id);
	out->samples += row->samples;
	out->weight += row->weight;
}

static bool wants_intervals(const struct report *r)
{
	return r->options.reader.wide || r->options.reader.program || r->options.reader.intervals;
}

/* A table with shares of its own total; NULL: no rows were kept. */
static struct flat *own_table(struct report *r, struct selection *s, bool with_mode)
{
	struct flat_request request = {.keys = {FLAT_IMAGE, FLAT_FUNCTION, FLAT_MODE},
	                               .key_count = with_mode ? 3 : 2,
	                               .intervals = wants_intervals(r),
	                               .children = r->options.children};
	struct flat *f = NULL;

	s->event = r->event;
	s->base_samples = s->samples;
	s->base_weight = s->weight;
	s->own_base = true;
	if (s->rows.count)
		f = flat_new(r->view, s, &request);
	selection_done(s);
	return f;
}

#define MODES_USER (1u << VIEW_USER | 1u << VIEW_GUEST)
#define MODES_KERNEL (1u << VIEW_KERNEL | 1u << VIEW_UNKNOWN)
#define MODES_ALL_KERNEL (MODES_KERNEL | 1u << VIEW_IRQ)

static bool reaches(const struct report *r, const struct process_limit *limit, uint64_t weight,
                    uint64_t samples)
{
	const struct selection *s = &r->selection;

	if (limit->ns)
		return weight >= limit->ns;
	return s->base_weight ? (double)weight >= limit->share * (double)s->base_weight
	                      : (double)samples >= limit->share * (double)s->base_samples;
}

/* The rows of a part are dropped if it is below its own limit, or below that of the process. */
static void limit_part(const struct report *r, const struct process_limit *limit, bool is_large,
                       struct selection *part)
{
	if (limit->given ? reaches(r, limit, part->weight, part->samples) : is_large)
		return;
	selection_done(part);
	*part = (struct selection){0};
}

static void process_tables(struct report *r, const struct process_line *line,
                           const struct report_named_row *rows, size_t count)
{
	const struct process_limits *limits = &r->options.process_limits;
	uint64_t samples = line->user_samples + line->kernel_samples + line->idle_samples;
	bool is_large = reaches(r, &limits->all, line->weight, samples);
	struct selection user = {0}, kernel = {0};
	struct report_process *t;

	for (size_t i = 0; i < count; i++) {
		keep(r, rows[i].row, MODES_USER, &user);
		keep(r, rows[i].row, MODES_KERNEL, &kernel);
	}
	limit_part(r, &limits->user, is_large, &user);
	limit_part(r, &limits->kernel, is_large, &kernel);
	if (!user.rows.count && !kernel.rows.count)
		return;
	t = vec_add(&r->tables);
	t->name = line->name;
	t->share = line->share;
	t->instances = line->instances;
	t->user = own_table(r, &user, false);
	t->kernel = own_table(r, &kernel, false);
}

static void name_row(struct report *r, uint32_t id, report_named_rows *rows,
                     struct selection *kernel)
{
	const struct profile_row *row = &r->view->profile->rows.items[id];
	struct report_named_row named = {view_process(r->view, row)->name, id};

	if (!view_is_interrupt(r->view, row))
		vec_push(rows, named);
	keep(r, id, MODES_ALL_KERNEL, kernel);
}

static void build_tables(struct report *r)
{
	report_named_rows rows = {0};
	struct selection kernel = {0};

	vec_each (id, &r->selection.rows)
		name_row(r, *id, &rows, &kernel);
	vec_each (id, &r->selection.witness)
		name_row(r, *id, &rows, &kernel);
	r->kernel = own_table(r, &kernel, true);
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), compare_named);
	vec_each (line, &r->processes->names) {
		size_t from = 0, to;

		if (line->name == ID_NONE || !(line->user_samples + line->kernel_samples))
			continue;
		while (from < rows.count && rows.items[from].name != line->name)
			from++;
		for (to = from; to < rows.count && rows.items[to].name == line->name;)
			to++;
		process_tables(r, line, rows.items + from, to - from);
	}
	vec_done(&rows);
}

static void grow_tree(void *ctx)
{
	struct report *r = ctx;

	r->tree = sample_tree_new(r->view, &r->selection, &r->options, r->without, false);
}

/*
 * Building the tree takes as long as building all tables, so a second thread builds it. All
 * functions are looked up first: after that, the tree does not change the view, and the tables do
 * not use the symbolizer.
 */
static void begin_tree(struct report *r, struct helper_thread *grower)
{
	if (r->selection.rows.count < TREE_ASIDE)
		return;
	for (size_t i = 0; i < r->view->profile->frames.count; i++)
		view_function(r->view, (uint32_t)i);
	helper_thread_start(grower, grow_tree, r);
}

static void gather_warnings(struct report *r)
{
	struct warnings w = {.view = r->view,
	                     .selection = &r->selection,
	                     .event = report_event(r),
	                     .account = r->account,
	                     .functions = r->functions};

	warnings_gather(&w);
	r->warnings = w.list;
}

/* The standard tables of processes and the kernel, and the use of CPUs over the time. */
static bool wants_tables(const struct report_request *q)
{
	return q->reader.program || (!q->key_count && !request_of_paths(q) && !q->reader.brief);
}

/* The limit of whole processes, as a share. */
static double least_share(const struct report *r)
{
	const struct process_limit *limit = &r->options.process_limits.all;
	uint64_t base = r->selection.base_weight;

	return limit->ns && base ? (double)limit->ns / (double)base : limit->share;
}

static void build(struct report *r)
{
	const struct report_request *o = &r->options;
	struct flat_request functions = {.keys = {FLAT_IMAGE, FLAT_FUNCTION, FLAT_MODE},
	                                 .key_count = 3,
	                                 .children = o->children,
	                                 /* The warnings compare the clocks. */
	                                 .intervals =
	                                         wants_intervals(r) || r->selection.witness.count};
	struct flat_request chosen = {.key_count = o->key_count,
	                              .labels = o->labels,
	                              .rules = o->rules,
	                              .without = r->without,
	                              .children = o->children,
	                              .intervals = wants_intervals(r)};
	struct helper_thread grower = {0};

	if (o->tree)
		begin_tree(r, &grower);
	r->account = account_view_new(r->view);
	r->elapsed_ns = elapsed_of(r->view->profile);
	/* Without the recorder's account, the ledger covers more time than the samples do. */
	if (r->account->machine_wide && r->account->wall_ns > r->elapsed_ns)
		r->elapsed_ns = r->account->wall_ns;
	observe(r);
	stacks_of(r->view, &r->selection, &r->stacks);
	r->paths = count_paths(r);
	/* Before the tables: it needs much memory, but only while it is made. */
	if (o->reader.program || o->reader.summary)
		r->reasons = report_reasons(r->view, &r->selection);
	r->exits = kernel_exits_new(r->view, r->event, r->selection.rows.items,
	                            r->selection.rows.count);
	r->processes = processes_new(r->view, &r->selection, wants_intervals(r));
	r->functions = flat_new(r->view, &r->selection, &functions);
	if (wants_tables(o)) {
		r->timeline = timeline_new(r->view, &r->selection, r->processes, least_share(r));
		build_tables(r);
		r->delays = delays_new(r->view, &r->selection);
	}
	helper_thread_join(&grower);
	if (o->tree && !r->tree)
		grow_tree(r);
	memcpy(chosen.keys, o->keys, sizeof(chosen.keys));
	if (o->key_count)
		r->rows = flat_new(r->view, &r->selection, &chosen);
	r->off_cpu = r->selection.waits.count > 0;
	gather_warnings(r);
}

static int find_neighbours(struct report *r, struct error *err)
{
	const struct report_request *q = &r->options;

	struct error without = {0};
	int ret;

	if (!q->callers && !q->callees)
		return 0;
	ret = neighbour_tables_make(&r->neighbours,
	                            sample_tree_new(r->view, &r->selection, q, NULL, true), q, err);
	if (ret != -ENOENT || r->view->profile->events.items[r->event].user_callchain)
		return ret;
	without = *err;
	return error_set(err, ENOENT,
	                 "%s; this recording has no call paths of programs ('assay record -g' "
	                 "records them)",
	                 without.text);
}

/* The samples of a counter have no time. */
static int check_limits(const struct report *r, struct error *err)
{
	const struct process_limits *l = &r->options.process_limits;
	const struct profile_event *e = report_event(r);

	if (!(l->all.ns || l->user.ns || l->kernel.ns) || e->period_ns)
		return 0;
	return error_set(err, EINVAL,
	                 "--process-limit with a time needs samples of a timer, not of %s: give a "
	                 "share, such as 2%%",
	                 e->name);
}

int report_new(struct report **out, const struct profile *p, struct symbolizer *symbols,
               const struct report_request *options, struct error *err)
{
	struct report *r = xcalloc(1, sizeof(*r));
	int ret;

	r->options = *options;
	r->view = view_new(p, symbols);
	r->view->inlines = options->inlines;
	ret = profile_find_event(p, options->event, &r->event, err);
	if (!ret)
		ret = recording_facts_check(options, recording_lacks_samples(p, r->event), true,
		                            err);
	if (!ret)
		ret = check_limits(r, err);
	if (!ret)
		ret = filter_select(r->view, &options->filter, r->event, &r->selection, err);
	if (!ret)
		ret = sample_without_new(&r->without, r->view, options, &r->selection, err);
	if (!ret)
		ret = find_neighbours(r, err);
	if (ret) {
		report_free(r);
		return ret;
	}
	build(r);
	*out = r;
	return 0;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	account_view_free(r->account);
	timeline_free(r->timeline);
	processes_free(r->processes);
	flat_free(r->reasons);
	flat_free(r->functions);
	flat_free(r->kernel);
	delays_free(r->delays);
	kernel_exits_free(r->exits);
	flat_free(r->rows);
	view_tree_free(r->tree);
	neighbour_tables_done(&r->neighbours);
	vec_each (t, &r->tables) {
		flat_free(t->user);
		flat_free(t->kernel);
	}
	vec_each (text, &r->warnings)
		free(*text);
	vec_done(&r->tables);
	vec_done(&r->warnings);
	selection_done(&r->selection);
	sample_without_free(r->without);
	view_free(r->view);
	free(r);
}
