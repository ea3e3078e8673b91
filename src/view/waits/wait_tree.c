/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The off-wake tree: below the path of a waiting thread is the path of the thread that woke it. */
#include "view/waits/wait_tree.h"

#include "view/waits/wait_steps.h"

struct wait_tree {
	const struct wait_report *report;
	struct wait_steps steps;
	struct tree_builder_steps way;
	VEC(char *) names; /* of steps that are threads: two per text */
};

/* Values of `function` for steps that are texts; pointers of functions have other values. */
#define TEXT_STEP ((uint64_t)1 << 63)

/* The path is not one of the profile: every node is made by its way. */
static uint32_t no_parent(void *ctx, uint32_t path)
{
	return 0;
}

static void no_steps(void *ctx, uint32_t path, struct tree_builder_steps *out)
{
}

/* A step that is a thread: a waiter, or the waker of the thread above. */
static void add_thread(struct wait_tree *g, uint32_t text, bool is_waker)
{
	uint32_t step = 2 * text + is_waker;

	if (!*vec_at(&g->names, step))
		g->names.items[step] =
		        xasprintf("%s%s", is_waker ? "<- " : "", wait_text(g->report, text));
	vec_push(&g->way.all, (struct tree_builder_step){.function = TEXT_STEP | step,
	                                                 .name = g->names.items[step],
	                                                 .of = ID_NONE});
}

static void add_wait(struct view_tree *t, uint32_t id)
{
	struct wait_tree *g = t->ctx;
	const struct wait_report *r = g->report;
	const struct wait_sum *sum = &r->log->sums.items[id];
	uint32_t node, by = r->by_of[id];

	g->way.all.count = 0;
	add_thread(g, r->rows.items[r->row_of[id]].waiter, false);
	wait_steps_add(&g->steps, sum->key.path, &g->way);
	if (by) {
		add_thread(g, by, true);
		if (r->releaser_of[id] != ID_NONE && sum->key.waker_path != ID_NONE)
			wait_steps_add(&g->steps, sum->key.waker_path, &g->way);
	}
	node = tree_builder_add_way(t, &g->way, NULL);
	view_tree_add(t, node, WAIT_MEASURE_BLOCKED, cell_int((int64_t)sum->blocked_ns));
	view_tree_add(t, node, WAIT_MEASURE_RUNNABLE, cell_int((int64_t)sum->runnable_ns));
	view_tree_add(t, node, WAIT_MEASURE_COUNT, cell_int((int64_t)sum->count));
}

/* Threads without any record have no path. */
static void add_silent(struct view_tree *t, const struct wait_row *row)
{
	struct wait_tree *g = t->ctx;
	uint32_t node;

	g->way.all.count = 0;
	add_thread(g, row->waiter, false);
	node = tree_builder_add_way(t, &g->way, NULL);
	view_tree_add(t, node, WAIT_MEASURE_BLOCKED, cell_int((int64_t)row->silent_ns));
	view_tree_add(t, node, WAIT_MEASURE_COUNT, cell_int((int64_t)row->count));
}

const char *wait_tree_name(const struct view_tree *t, uint32_t node)
{
	const struct view_node *of = &t->nodes.items[node];
	const struct wait_tree *g = t->ctx;
	const struct symbol *symbol;

	if (node == TREE_ROOT)
		return "all";
	if (of->name)
		return of->name;
	symbol = view_function(g->report->view, of->of);
	return symbol_text(symbol);
}

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	return cell_text(wait_tree_name(s->model, row));
}

static struct cell waited_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	return cell_add(view_tree_total_of(s->model, row, WAIT_MEASURE_BLOCKED),
	                view_tree_total_of(s->model, row, WAIT_MEASURE_RUNNABLE));
}

static void add_columns(struct row_source *s, const struct wait_report *r)
{
	struct cell all = cell_int((int64_t)wait_account_whole(&r->account));
	const struct column columns[] = {
	        {"share", "share", "share", &unit_share, ROLE_RATIO, .of = "waited", .base = all,
	         .cut = true},
	        {"waited", .unit = &unit_time, .role = ROLE_TOTAL, .get = waited_cell},
	        {"blocked", "blocked", "blocked_ns", &unit_time, ROLE_TOTAL,
	         .argument = WAIT_MEASURE_BLOCKED, .get = view_tree_total},
	        {"runnable", "runnable", "runnable_ns", &unit_time, ROLE_TOTAL,
	         .argument = WAIT_MEASURE_RUNNABLE, .get = view_tree_total, .blank_zero = true},
	        {"count", "waits", "count", &unit_count, ROLE_TOTAL, .argument = WAIT_MEASURE_COUNT,
	         .get = view_tree_total},
	        {"name", "waiter > ... <- waker > ...", "name", &unit_text, .get = name_cell},
	};

	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
}

static void tree_free(void *ctx)
{
	struct wait_tree *g = ctx;

	wait_steps_done(&g->steps);
	vec_done(&g->way.all);
	vec_each (name, &g->names)
		free(*name);
	vec_done(&g->names);
	free(g);
}

struct view_tree *wait_tree(struct wait_report *r)
{
	static const struct view_tree_model model = {no_parent, no_steps};
	static const char *const by[] = {"waited"};
	const struct report_request *q = &r->options->request;
	struct wait_tree *g = xcalloc(1, sizeof(*g));
	column_names order;
	struct view_tree *t;

	g->report = r;
	wait_steps_begin(&g->steps, r->view);
	t = view_tree_new(&model, g, 1, WAIT_MEASURES);
	t->free = tree_free;
	add_columns(t->source, r);
	for (uint32_t i = 0; i < r->log->sums.count; i++)
		if (r->row_of[i] != ID_NONE)
			add_wait(t, i);
	for (uint32_t i = 0; i < r->rows.count; i++)
		if (r->rows.items[i].silent_ns)
			add_silent(t, &r->rows.items[i]);
	order = request_order(q, by, sizeof(by) / sizeof(*by));
	view_tree_finish(t, order.items, order.count);
	vec_done(&order);
	return t;
}
