/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of one process: paths, functions, callers, callees, and the call tree. */
#include "base/text/plural.h"
#include "output/calls/calls_text.h"
#include "output/text/tree_text.h"

#include "view/calls/call_check.h"
#include "view/calls/call_tree.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS_AT_ONCE 4096
#define TAIL_PIPE 60 /* width of a path's end if there is no terminal */
#define TAIL_LEAST 16
#define STEPS_MAX 64 /* maximum number of functions of a path's end */
#define CELL 11      /* width of a column of times, with the gap */
/* Narrower terminals have fewer columns, so that names stay readable. */
#define ROOMY 150
#define NARROW 110
#define SMALL 72

struct sheet {
	const struct call_report *report;
	const struct call_process *process;
	const struct calls_text_options *options;
	enum call_rows_kind kind;
	struct call_rows *rows;
	struct table table;
	struct buf text;
	VEC(uint32_t) chain;
	size_t room;   /* width of the column for paths */
	double net_ns; /* the denominator of shares */
	bool errors, range, share, average, total, wall, waits, unseparated;
};

static void cell(struct sheet *s, double ns)
{
	buf_clear(&s->text);
	text_fine_time(&s->text, ns);
	table_text(&s->table, buf_text(&s->text));
}

static void wait_cell(struct sheet *s, double ns)
{
	if (s->unseparated && !isnan(ns))
		table_text(&s->table, "not separated");
	else
		cell(s, ns);
}

/* An error is shown if it is more than a hundredth of its value. */
static bool error_matters(const struct call_row *row)
{
	return row->net_error_ns > fabs(row->net_ns) / 100;
}

static void choose_columns(struct sheet *s)
{
	unsigned width = s->options->style.width;

	if (!width || s->options->wide)
		width = UINT_MAX;
	s->range = width >= ROOMY;
	s->share = s->average = s->wall = width >= NARROW;
	s->total = s->waits = width >= SMALL;
	s->errors = s->options->wide;
	for (size_t i = 0; i < s->rows->shown && !s->errors && width >= NARROW; i++) {
		struct call_row row = call_rows_at(s->rows, i);

		s->errors = error_matters(&row);
	}
}

static void add_columns(struct sheet *s)
{
	static const char *const last[] = {"path, innermost function last", "function", "caller",
	                                   "callee"};
	struct table *t = &s->table;
	unsigned width = s->options->style.width;

	choose_columns(s);
	table_column(t, "calls", TABLE_RIGHT);
	table_column(t, "net", TABLE_RIGHT);
	if (s->errors)
		table_column(t, "+/-", TABLE_RIGHT);
	if (s->share)
		table_column(t, "share", TABLE_RIGHT);
	if (s->range)
		table_column(t, "min", TABLE_RIGHT);
	if (s->average)
		table_column(t, "avg", TABLE_RIGHT);
	if (s->range)
		table_column(t, "max", TABLE_RIGHT);
	if (s->total)
		table_column(t, "total", TABLE_RIGHT);
	if (s->wall)
		table_column(t, "wall", TABLE_RIGHT);
	if (s->waits) {
		table_column(t, "blocked", TABLE_RIGHT);
		table_column(t, "preempted", TABLE_RIGHT);
	}
	table_column(t, last[s->kind], TABLE_LEFT);
	s->room = TAIL_PIPE;
	if (width)
		s->room = width > CELL * (t->columns.count - 1) + TAIL_LEAST
		                  ? width - CELL * (t->columns.count - 1)
		                  : TAIL_LEAST;
}

/* In a row of sums, total and range are not defined: NAN. */
static void figure_cells(struct sheet *s, const struct call_row *row, bool timed)
{
	struct table *t = &s->table;

	table_count(t, row->calls);
	cell(s, timed ? row->net_ns : NAN);
	if (s->errors)
		cell(s,
		     timed && (s->options->wide || error_matters(row)) ? row->net_error_ns : NAN);
	if (s->share && timed)
		table_share(t, call_check_share(row->net_ns, s->net_ns));
	else if (s->share)
		table_text(t, "");
	if (s->range)
		cell(s, timed ? row->min_ns : NAN);
	if (s->average)
		cell(s, timed && row->function != ID_NONE ? call_row_average_ns(row) : NAN);
	if (s->range)
		cell(s, timed ? row->max_ns : NAN);
	if (s->total)
		cell(s, timed ? row->total_ns : NAN);
	if (s->wall)
		cell(s, timed ? call_row_wall_ns(row) : NAN);
	if (s->waits) {
		wait_cell(s, timed ? row->blocked_ns : NAN);
		wait_cell(s, timed ? row->preempted_ns : NAN);
	}
}

static void add_marks(const struct call_function *f, uint32_t open, bool inherited, struct buf *out)
{
	if (f->counted)
		buf_puts(out, "  counted, not timed");
	/* A thread is outside of all functions until it ends, so no mark is needed. */
	if (f->kind == CALL_OUTSIDE)
		return;
	if (open > 1)
		buf_addf(out, "  open so far (%" PRIu32 ")", open);
	else if (open)
		buf_puts(out, "  open so far");
	if (inherited)
		buf_puts(out, "  inherited");
}

static void add_name(struct sheet *s, uint32_t path, struct buf *out)
{
	call_names_text(s->report->names, s->process->paths.items[path].function, out);
}

/* The complete path: "main > sort > cmp". */
static void add_whole_path(struct sheet *s, uint32_t path, size_t depth, struct buf *out)
{
	vec_reserve(&s->chain, depth + 1);
	call_rows_chain(s->rows, path, s->chain.items, depth);
	for (size_t i = 0; i < depth; i++) {
		buf_puts(out, i ? " > " : "");
		add_name(s, s->chain.items[i], out);
	}
}

/* "fib x3": a direct recursion is named once. Returns the first path of the recursion. */
static uint32_t add_step(struct sheet *s, uint32_t path, struct buf *out)
{
	uint32_t start = s->rows->starts[path];
	uint32_t times = s->rows->depths[path] - s->rows->depths[start] + 1;

	add_name(s, path, out);
	if (times > 1)
		buf_addf(out, " x%" PRIu32, times);
	return start;
}

/*
 * The end of the path with its depth, "... sort > cmp  (7)": the function, and as many callers
 * before it as fit.
 */
static void add_tail(struct sheet *s, uint32_t path, size_t depth, size_t marks, struct buf *out)
{
	const struct call_path *paths = s->process->paths.items;
	uint32_t steps[STEPS_MAX], count = 0, above = path;
	struct buf name = {0};
	size_t room = s->room, used = 0;
	char number[32];

	marks += (size_t)snprintf(number, sizeof(number), "  (%zu)", depth);
	room = room > marks + TAIL_LEAST ? room - marks : TAIL_LEAST;
	while (above && count < STEPS_MAX) {
		uint32_t next;

		buf_clear(&name);
		next = paths[add_step(s, above, &name)].parent;
		used += name.size + (count ? strlen(" > ") : 0);
		if (count && used + (next ? strlen("... ") : 0) > room)
			break;
		steps[count++] = above;
		above = next;
	}
	buf_puts(out, above ? "... " : "");
	for (uint32_t i = count; i--;) {
		add_step(s, steps[i], out);
		buf_puts(out, i ? " > " : number);
	}
	buf_done(&name);
}

static void path_cell(struct sheet *s, const struct call_row *row)
{
	const struct call_function *f = &s->report->paths->functions.items[row->function];
	size_t depth = row->path == CALL_PATH_NONE ? 0 : s->rows->depths[row->path];
	struct buf text = {0}, marks = {0};

	/* In rows of callers and callees, `open` belongs to the other function. */
	if (s->kind == CALL_ROWS_PATHS || s->kind == CALL_ROWS_FUNCTIONS)
		add_marks(f, row->open, row->inherited, &marks);
	if (!depth)
		call_names_text(s->report->names, row->function, &text);
	else if (s->options->full_paths)
		add_whole_path(s, row->path, depth, &text);
	else
		add_tail(s, row->path, depth, marks.size, &text);
	buf_add(&text, buf_text(&marks), marks.size);
	table_text(&s->table, buf_text(&text));
	buf_done(&text);
	buf_done(&marks);
}

static void add_row(struct sheet *s, size_t i)
{
	struct call_row row = call_rows_at(s->rows, i);
	bool timed = s->kind == CALL_ROWS_CALLERS ||
	             !s->report->paths->functions.items[row.function].counted;

	table_row(&s->table, TABLE_ROW);
	figure_cells(s, &row, timed);
	path_cell(s, &row);
}

static void add_sum(struct sheet *s, enum table_kind kind, const struct call_row *sum,
                    const char *label)
{
	struct call_row row = *sum;

	row.min_ns = row.max_ns = NAN;
	table_row(&s->table, kind);
	figure_cells(s, &row, true);
	table_text(&s->table, label);
}

static void print_rows(struct sheet *s, struct buf *out)
{
	size_t left = s->rows->count - s->rows->shown;
	char label[64];

	add_columns(s);
	for (size_t i = 0; i < s->rows->shown; i++) {
		if (i && i % ROWS_AT_ONCE == 0) {
			table_flush(&s->table, out);
			calls_spill(&s->options->spill, out);
		}
		add_row(s, i);
	}
	snprintf(label, sizeof(label), "[%zu more]", left);
	if (left)
		add_sum(s, TABLE_REST, &s->rows->rest, label);
	add_sum(s, TABLE_TOTAL, &s->rows->all, "total");
	table_print(&s->table, out);
}

void calls_text_rows(const struct call_report *r, const struct call_process *p,
                     enum call_rows_kind kind, const struct calls_text_options *o, struct buf *out)
{
	struct sheet s = {.report = r, .process = p, .options = o, .kind = kind};

	s.rows = call_report_rows(r, p, kind);
	s.net_ns = call_check_net_ns(p);
	s.unseparated = call_check_unseparated(p);
	table_init(&s.table, &o->style);
	if (kind == CALL_ROWS_CALLERS)
		text_heading(out, &o->style, "Callers of %s", r->callers);
	else if (kind == CALL_ROWS_CALLEES)
		text_heading(out, &o->style, "Called by %s", r->callees);
	else
		buf_putc(out, '\n');
	if (s.rows->count)
		print_rows(&s, out);
	else
		buf_puts(out, "no calls\n");
	call_rows_free(s.rows);
	table_done(&s.table);
	vec_done(&s.chain);
	buf_done(&s.text);
}

static void tree_columns(struct sheet *s)
{
	unsigned width = s->options->style.width;

	s->waits = !width || width >= NARROW || s->options->wide;
	table_column(&s->table, "total", TABLE_RIGHT);
	table_column(&s->table, "", TABLE_RIGHT);
	table_column(&s->table, "net", TABLE_RIGHT);
	table_column(&s->table, "calls", TABLE_RIGHT);
	if (s->waits) {
		table_column(&s->table, "blocked", TABLE_RIGHT);
		table_column(&s->table, "preempted", TABLE_RIGHT);
	}
	table_column(&s->table, "call tree", TABLE_LEFT);
}

static void tree_line(struct sheet *s, const struct call_node *node, unsigned depth)
{
	const struct call_function *f = &s->report->paths->functions.items[node->function];
	struct table *t = &s->table;
	struct buf name = {0};

	table_row(t, TABLE_ROW);
	cell(s, f->counted ? NAN : node->total_ns);
	if (f->counted)
		table_text(t, "");
	else
		table_share(t, call_check_share(node->total_ns, s->net_ns));
	cell(s, f->counted ? NAN : node->net_ns);
	table_count(t, node->calls);
	if (s->waits) {
		wait_cell(s, f->counted ? NAN : node->total_blocked_ns);
		wait_cell(s, f->counted ? NAN : node->total_preempted_ns);
	}
	tree_text_indent(&name, depth);
	call_names_text(s->report->names, node->function, &name);
	tree_text_recursion(&name, node->branch.levels, node->branch.round);
	add_marks(f, node->open, node->inherited, &name);
	table_text(t, buf_text(&name));
	buf_done(&name);
}

/* Returns the number of lines that were left out. */
static size_t tree_lines(struct sheet *s, const struct call_tree *tree, double limit,
                         struct buf *out)
{
	size_t most = s->report->lines ? s->report->lines : SIZE_MAX, lines = 0;
	struct branch_walk w = {0};
	bool shown;

	if (!tree->nodes.count)
		return 0;
	do {
		const struct call_node *node = &tree->nodes.items[w.node];

		shown = call_tree_shown(tree, node, limit);
		if (!shown)
			continue;
		tree_line(s, node, w.depth);
		if (++lines % ROWS_AT_ONCE == 0) {
			table_flush(&s->table, out);
			calls_spill(&s->options->spill, out);
		}
	} while (lines < most && branches_step(BRANCHES(&tree->nodes), &w, shown));
	return tree->nodes.count - lines;
}

void calls_text_tree(const struct call_report *r, const struct call_process *p,
                     const struct calls_text_options *o, struct buf *out)
{
	struct sheet s = {.report = r, .process = p, .options = o};
	struct call_tree *tree = call_tree_new(p);
	size_t left;

	s.net_ns = call_check_net_ns(p);
	s.unseparated = call_check_unseparated(p);
	text_heading(out, &o->style, "Call tree, callers above callees");
	table_init(&s.table, &o->style);
	tree_columns(&s);
	left = tree_lines(&s, tree, r->limit < 0 ? CALLS_TREE_LIMIT : r->limit, out);
	table_print(&s.table, out);
	if (left)
		buf_addf(out, "%zu %s left out (%s)\n", left, plural(left, "line", "lines"),
		         r->lines ? "-n N shows N" : "--percent-limit 0 shows all");
	table_done(&s.table);
	buf_done(&s.text);
	call_tree_free(tree);
}
