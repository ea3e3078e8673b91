/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_tree.h"

#include "view/calls/call_check.h"
#include "view/calls/call_rows.h"
#include "view/tree/invert_tree.h"

#include <stdlib.h>
#include <string.h>

static uint32_t path_parent(void *ctx, uint32_t path)
{
	return ((const struct call_tree_source *)ctx)->process->paths.items[path].parent;
}

static void path_steps(void *ctx, uint32_t path, struct tree_builder_steps *out)
{
	uint32_t function =
	        ((const struct call_tree_source *)ctx)->process->paths.items[path].function;

	vec_push(&out->all, (struct tree_builder_step){.function = function,
	                                               .again = (uint64_t)function + 1,
	                                               .of = function});
}

/* ID_NONE stands for functions that are too deep. */
static uint32_t function_of(const struct view_tree *t, uint32_t node)
{
	const struct call_tree_source *of = t->ctx;

	return node == TREE_ROOT && !of->inverted ? of->process->paths.items[0].function
	                                          : t->nodes.items[node].of;
}

/* The values of an inverted tree are those of the functions of the first level. */
static uint32_t owner_of_values(const struct view_tree *t, uint32_t node)
{
	const struct call_tree_source *of = t->ctx;

	while (of->inverted && t->nodes.items[node].parent != TREE_ROOT)
		node = t->nodes.items[node].parent;
	return node;
}

static bool is_timed(const struct view_tree *t, uint32_t node)
{
	const struct call_tree_source *of = t->ctx;
	uint32_t function = function_of(t, owner_of_values(t, node));

	return function == ID_NONE || !of->report->paths->functions.items[function].counted;
}

static struct cell self_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	return is_timed(s->model, row) ? view_tree_self(s, c, row, text) : cell_none();
}

static struct cell total_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	return is_timed(s->model, row) ? view_tree_total(s, c, row, text) : cell_none();
}

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct view_tree *t = s->model;
	const struct call_tree_source *of = t->ctx;

	if (function_of(t, row) == ID_NONE)
		return cell_text(t->nodes.items[row].name);
	call_names_text(of->report->names, function_of(t, row), text);
	return cell_text(buf_text(text));
}

static struct cell open_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct call_tree_source *of = ((const struct view_tree *)s->model)->ctx;

	return cell_int(of->open.items[row]);
}

static void function_json(const struct row_source *s, const struct column *c, uint32_t row,
                          struct json *j)
{
	const struct view_tree *t = s->model;
	const struct call_tree_source *of = t->ctx;
	uint32_t function = function_of(t, row);

	if (function == ID_NONE) {
		json_kstr(j, "function", t->nodes.items[row].name);
		return;
	}
	json_kstr(j, "function", call_names_of(of->report->names, function));
	call_function_json(of->report, function, j);
}

static void inherited_json(const struct row_source *s, const struct column *c, uint32_t row,
                           struct json *j)
{
	const struct call_tree_source *of = ((const struct view_tree *)s->model)->ctx;

	json_kbool(j, "inherited", of->inherited.items[row]);
}

static void add_marks(const struct view_tree *t, uint32_t node, struct buf *out)
{
	const struct call_tree_source *of = t->ctx;
	uint32_t function = function_of(t, node);

	if (function != ID_NONE)
		call_marks(&of->report->paths->functions.items[function], of->open.items[node],
		           of->inherited.items[node], out);
}

static double total_of(const struct view_tree *t, uint32_t node, size_t measure)
{
	return cell_number(view_tree_total_of(t, node, measure));
}

static double waiting(const struct view_tree *t, uint32_t node)
{
	return total_of(t, node, CALL_TREE_BLOCKED) + total_of(t, node, CALL_TREE_PREEMPTED);
}

static bool is_worth_a_line(const struct row_source *s, uint32_t row, double limit)
{
	const struct view_tree *t = s->model;
	double all = waiting(t, TREE_ROOT);

	return total_of(t, row, CALL_TREE_NET) >= limit * total_of(t, TREE_ROOT, CALL_TREE_NET) ||
	       (all > 0 && waiting(t, row) >= limit * all);
}

#define SELF(measure) .role = ROLE_SUM, .get = self_cell, .argument = CALL_TREE_##measure
#define TOTAL(measure) .role = ROLE_TOTAL, .get = total_cell, .argument = CALL_TREE_##measure

static void add_columns(struct row_source *s, const struct call_tree_source *of)
{
	const struct unit *wait = call_waiting_unit(of->unseparated);
	const struct cell net = cell_real(call_check_net_ns(of->process));
	const struct column columns[] = {
	        {"identity", NULL, NULL, &unit_text, .json = function_json},
	        {"total", "total", "total_ns", &unit_fine_time, TOTAL(NET)},
	        {"share", "", "share", &unit_share, ROLE_RATIO, .of = "total", .base = net},
	        {"net", "net", "net_ns", &unit_fine_time, SELF(NET)},
	        {"calls", "calls", "calls", &unit_count, ROLE_SUM, .get = view_tree_self,
	         .argument = CALL_TREE_CALLS},
	        {"blocked", "blocked", "total_blocked_ns", wait, TOTAL(BLOCKED),
	         .room = CALL_ROOM_MOST},
	        {"preempted", "preempted", "total_preempted_ns", wait, TOTAL(PREEMPTED),
	         .room = CALL_ROOM_MOST},
	        {"self_blocked", NULL, "blocked_ns", wait, SELF(BLOCKED)},
	        {"self_preempted", NULL, "preempted_ns", wait, SELF(PREEMPTED)},
	        {"open", NULL, "open", &unit_count, .get = open_cell},
	        {"inherited", NULL, NULL, &unit_text, .json = inherited_json},
	        {"by_total", NULL, NULL, &unit_fine_time, .get = view_tree_total,
	         .argument = CALL_TREE_NET},
	        {"name", "call tree", NULL, &unit_text, .get = name_cell},
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		vec_push(&s->columns, columns[i]);
}

/* Makes room for the values of new nodes. */
static void add_node_facts(struct view_tree *t, struct call_tree_source *of)
{
	while (of->open.count < t->nodes.count) {
		vec_push(&of->open, 0);
		vec_push(&of->inherited, 0);
	}
}

static void add_path(struct view_tree *t, struct call_tree_source *of, uint32_t id)
{
	const struct call_path *path = &of->process->paths.items[id];
	uint64_t calls = path->calls < INT64_MAX ? path->calls : INT64_MAX;
	uint32_t node = view_tree_at(t, 0, TREE_ROOT, id);

	add_node_facts(t, of);
	of->open.items[node] += path->open;
	of->inherited.items[node] |= path->inherited;
	view_tree_add(t, node, CALL_TREE_NET, cell_real(path->net_ns));
	view_tree_add(t, node, CALL_TREE_BLOCKED, cell_real(path->blocked_ns));
	view_tree_add(t, node, CALL_TREE_PREEMPTED, cell_real(path->preempted_ns));
	view_tree_add(t, node, CALL_TREE_CALLS, cell_int((int64_t)calls));
}

/* Open calls are counted only for functions of the first level. */
static void invert(struct view_tree *t, struct call_tree_source *of)
{
	uint32_t outside = of->process->paths.items[0].function, *first;
	const struct tree_builder_step root = {
	        .function = UINT32_MAX, .again = UINT32_MAX, .of = outside};
	VEC(uint32_t) open = {0};

	memcpy(&open, &of->open, sizeof(open));
	memset(&of->open, 0, sizeof(of->open));
	of->inherited.count = 0;
	of->inverted = true;
	invert_tree(t, &root, &first);
	add_node_facts(t, of);
	for (size_t i = 0; i < open.count; i++)
		if (first[i] != ID_NONE)
			of->open.items[first[i]] += open.items[i];
	invert_tree_columns(t->source, self_cell, total_cell);
	invert_tree_columns(t->source, view_tree_self, view_tree_total);
	vec_done(&open);
	free(first);
}

/* A path without calls and time, or which is not selected, makes no node, except as the caller of
 * another path. */
struct view_tree *call_tree_new(struct call_tree_source *of)
{
	static const struct view_tree_model model = {path_parent, path_steps};
	static const char *const by[] = {"by_total"};
	uint32_t count = (uint32_t)of->process->paths.count;
	uint8_t *chosen = call_report_chosen(of->report);
	struct view_tree *t = view_tree_new(&model, of, count, CALL_TREE_MEASURES);
	column_names order;

	of->unseparated = call_check_unseparated(of->process);
	add_columns(t->source, of);
	t->source->worth = is_worth_a_line;
	t->marks = add_marks;
	if (of->report->request.inverted)
		view_tree_whole(t);
	if (!chosen)
		view_tree_reserve(t, count);
	add_node_facts(t, of);
	for (uint32_t id = 0; id < count; id++) {
		const struct call_path *path = &of->process->paths.items[id];

		if (!call_path_is_empty(path) && (!chosen || chosen[path->function]))
			add_path(t, of, id);
	}
	free(chosen);
	if (of->report->request.inverted)
		invert(t, of);
	order = request_order(&of->report->request, by, 1);
	view_tree_finish(t, order.items, order.count);
	vec_done(&order);
	return t;
}

void call_tree_source_done(struct call_tree_source *of)
{
	vec_done(&of->open);
	vec_done(&of->inherited);
}
