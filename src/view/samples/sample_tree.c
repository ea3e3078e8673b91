/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/sample_tree.h"

#include "view/samples/tree_steps.h"
#include "view/tree/invert_tree.h"

enum sample_measure {
	MEASURE_SAMPLES,
	MEASURE_WEIGHT,
	MEASURE_RUNNABLE,
	MEASURE_BLOCKED,
	MEASURES,
	MEASURE_WITHOUT = MEASURES, /* only with --without */
};

/* The context of the tree. */
struct sample_tree {
	struct view *view;
	struct tree_steps steps;
	uint64_t base;       /* the denominator of shares */
	bool by_weight;      /* shares are of time; else of samples */
	uint32_t interrupts; /* the owner of interrupts: one above the name ids of processes */
	bool whole;          /* no level of processes */
	const struct sample_without *without; /* NULL: nothing is removed */
};

static uint32_t path_parent(void *ctx, uint32_t path)
{
	const struct sample_tree *g = ctx;

	return g->view->profile->paths.items[path].parent;
}

static void path_steps(void *ctx, uint32_t path, struct tree_builder_steps *out)
{
	struct sample_tree *g = ctx;

	tree_steps_add(&g->steps, g->view->profile->paths.items[path].frame, out);
}

static void add_without(struct view_tree *t, uint32_t node, const struct profile_row *row)
{
	const struct sample_tree *g = t->ctx;
	int64_t value = (int64_t)(g->by_weight ? row->weight : row->samples);

	if (sample_is_removed(g->without, row->path))
		without_tree_add(t, MEASURE_WITHOUT, value);
	else
		view_tree_add(t, node, MEASURE_WITHOUT, cell_int(value));
}

static void add_row(struct view_tree *t, uint32_t process, uint32_t id, bool wait)
{
	const struct sample_tree *g = t->ctx;
	const struct profile_row *row = &g->view->profile->rows.items[id];
	uint32_t path = view_row_path(g->view, row);
	uint32_t node = g->whole
	                        ? view_tree_at(t, 0, TREE_ROOT, path)
	                        : view_tree_at(t, process, view_tree_owner(t, process, NULL), path);

	if (wait) {
		view_tree_add(t, node, MEASURE_RUNNABLE, cell_int((int64_t)row->runnable_ns));
		view_tree_add(t, node, MEASURE_BLOCKED, cell_int((int64_t)row->blocked_ns));
	} else {
		view_tree_add(t, node, MEASURE_SAMPLES, cell_int((int64_t)row->samples));
		view_tree_add(t, node, MEASURE_WEIGHT, cell_int((int64_t)row->weight));
		if (g->without)
			add_without(t, node, row);
	}
}

/* Adds the rows process by process, in order, because many rows share the same paths. */
static void add_rows(struct view_tree *t, const uint32_t *rows, size_t count, bool wait)
{
	const struct sample_tree *g = t->ctx;
	struct view *v = g->view;
	uint32_t *names = xcalloc(count + 1, sizeof(*names)), *sorted;
	VEC(size_t) starts = {0}; /* per name: index of its first row */

	for (size_t i = 0; i < count; i++) {
		const struct profile_row *row = &v->profile->rows.items[rows[i]];

		names[i] = view_is_interrupt(v, row) ? g->interrupts : view_process(v, row)->name;
		(*vec_at(&starts, (size_t)names[i] + 1))++;
	}
	for (size_t i = 1; i < starts.count; i++)
		starts.items[i] += starts.items[i - 1];
	sorted = xcalloc(count + 1, sizeof(*sorted));
	for (size_t i = 0; i < count; i++)
		sorted[starts.items[names[i]]++] = (uint32_t)i;
	for (size_t i = 0; i < count; i++)
		add_row(t, names[sorted[i]], rows[sorted[i]], wait);
	vec_done(&starts);
	free(names);
	free(sorted);
}

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct view_tree *t = s->model;
	const struct view_node *node = &t->nodes.items[row];
	struct view *v = ((const struct sample_tree *)t->ctx)->view;
	const struct symbol *symbol;

	if (row == TREE_ROOT)
		return cell_text("all");
	if (node->is_owner && node->name)
		return cell_text(node->name);
	if (node->is_owner && node->owner == ((const struct sample_tree *)t->ctx)->interrupts)
		return cell_text(VIEW_INTERRUPTS);
	if (node->is_owner)
		return cell_text(process_table_name(v->profile->processes, node->owner));
	if (node->name)
		return cell_text(node->name);
	symbol = view_function(v, node->of);
	return cell_text(symbol_text(symbol));
}

/* Processes and "[deeper]" have no image. */
static void image_json(const struct row_source *s, const struct column *c, uint32_t row,
                       struct json *j)
{
	const struct view_tree *t = s->model;
	const struct profile *p = ((const struct sample_tree *)t->ctx)->view->profile;
	uint32_t frame = row == TREE_ROOT ? ID_NONE : t->nodes.items[row].of;

	if (frame != ID_NONE)
		json_kstr(j, "image", image_path(&p->images, p->frames.items[frame].frame.image));
}

static struct cell waits_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	return cell_add(view_tree_total_of(s->model, row, MEASURE_RUNNABLE),
	                view_tree_total_of(s->model, row, MEASURE_BLOCKED));
}

/* The limit is a share of the selected samples. */
static bool is_worth(const struct row_source *s, uint32_t row, double limit)
{
	const struct view_tree *t = s->model;
	int64_t all = waits_cell(s, NULL, TREE_ROOT, NULL).i,
	        waits = waits_cell(s, NULL, row, NULL).i;
	const struct sample_tree *g = t->ctx;
	size_t measure = g->by_weight ? MEASURE_WEIGHT : MEASURE_SAMPLES;

	return cell_ratio(view_tree_total_of(t, row, measure),
	                  view_tree_total_of(t, TREE_ROOT, measure)) >= limit ||
	       (all && (double)waits >= limit * (double)all);
}

static void add_columns(struct row_source *s, const struct column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vec_push(&s->columns, columns[i]);
}

static void add_sample_columns(struct row_source *s, const struct sample_tree *g)
{
	const char *const total = g->by_weight ? "weight" : "samples";
	const char *const self = g->by_weight ? "self_weight" : "self_samples";
	struct cell base = cell_int((int64_t)g->base);
	const struct column columns[] = {
	        {.name = "share",
	         .title = "total",
	         .key = "share",
	         .unit = &unit_share,
	         .role = ROLE_RATIO,
	         .of = total,
	         .base = base},
	        {.name = "self_share",
	         .title = "self",
	         .key = "self_share",
	         .unit = &unit_share,
	         .role = ROLE_RATIO,
	         .of = self,
	         .base = base,
	         .blank_zero = true},
	        {.name = "samples",
	         .key = "samples",
	         .unit = &unit_count,
	         .role = ROLE_TOTAL,
	         .argument = MEASURE_SAMPLES,
	         .get = view_tree_total},
	        {.name = "self_samples",
	         .key = "self_samples",
	         .unit = &unit_count,
	         .role = ROLE_SUM,
	         .argument = MEASURE_SAMPLES,
	         .get = view_tree_self},
	        {.name = "weight",
	         .unit = &unit_time,
	         .role = ROLE_TOTAL,
	         .argument = MEASURE_WEIGHT,
	         .get = view_tree_total},
	        {.name = "self_weight",
	         .unit = &unit_time,
	         .role = ROLE_SUM,
	         .argument = MEASURE_WEIGHT,
	         .get = view_tree_self},
	};

	add_columns(s, columns, sizeof(columns) / sizeof(*columns));
}

static void add_wait_columns(struct row_source *s, bool waits)
{
	const struct column columns[] = {
	        {.name = "waits", .unit = &unit_time, .get = waits_cell},
	        {.name = "runnable",
	         .title = waits ? "runnable" : NULL,
	         .key = waits ? "runnable_ns" : NULL,
	         .unit = &unit_time,
	         .role = ROLE_TOTAL,
	         .argument = MEASURE_RUNNABLE,
	         .get = view_tree_total},
	        {.name = "blocked",
	         .title = waits ? "blocked" : NULL,
	         .key = waits ? "blocked_ns" : NULL,
	         .unit = &unit_time,
	         .role = ROLE_TOTAL,
	         .argument = MEASURE_BLOCKED,
	         .get = view_tree_total},
	        {.name = "image", .unit = &unit_text, .json = image_json},
	        {.name = "name",
	         .title = "call tree",
	         .key = "name",
	         .unit = &unit_text,
	         .get = name_cell},
	};

	add_columns(s, columns, sizeof(columns) / sizeof(*columns));
}

static uint32_t names_end(const struct process_table *t)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < process_table_process_count(t); i++)
		if (process_table_process(t, i)->name >= end)
			end = process_table_process(t, i)->name + 1;
	return end;
}

struct view_tree *sample_tree_new(struct view *v, const struct selection *s,
                                  const struct report_request *q,
                                  const struct sample_without *without, bool whole)
{
	static const struct view_tree_model model = {path_parent, path_steps};
	static const char *const by[] = {"weight", "samples", "waits"};
	struct sample_tree *g = xcalloc(1, sizeof(*g));
	bool inverted = q->inverted && !whole;
	column_names order;
	struct view_tree *t;

	g->view = v;
	g->interrupts = names_end(v->profile->processes);
	g->by_weight = s->base_weight != 0;
	g->base = s->base_weight ? s->base_weight : s->base_samples;
	g->whole = whole |= inverted;
	g->without = without;
	tree_steps_begin(&g->steps, v, s, whole ? 0 : request_limit(q, &q->reader));
	t = view_tree_new(&model, g, v->profile->paths.count, MEASURES + (without != NULL));
	t->free = free;
	if (whole)
		view_tree_whole(t);
	t->source->worth = is_worth;
	add_sample_columns(t->source, g);
	if (without)
		without_tree_columns(t->source, sample_without_sums(without), MEASURE_WITHOUT,
		                     sample_without_unit(without));
	add_wait_columns(t->source, s->waits.count > 0);
	add_rows(t, s->rows.items, s->rows.count, false);
	add_rows(t, s->waits.items, s->waits.count, true);
	if (inverted) {
		invert_tree(t, NULL, NULL);
		invert_tree_columns(t->source, view_tree_self, view_tree_total);
	}
	order = request_order(q, by, sizeof(by) / sizeof(*by));
	view_tree_finish(t, order.items, order.count);
	vec_done(&order);
	tree_steps_done(&g->steps);
	return t;
}
