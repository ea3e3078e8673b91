/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of call paths: every sum is known from the fixture. */
#include "call_view_fixture.h"

#include <math.h>

static struct call_report last_report; /* the rows refer to it */

static struct row_set *rows_for(const struct call_report *r, const struct call_process *p,
                                enum call_rows_kind kind)
{
	last_report = *r;
	return call_rows_new(&last_report, p, kind);
}

static struct call_row row_at(const struct row_set *r, size_t i)
{
	return *call_rows_at(r->source, r->order.items[i]);
}

/* A column of the total or the rest; 0: it has none. */
static double sum_of(const struct row_set *r, const struct cell *sums, const char *column)
{
	struct cell cell = sums[column_named(r->source, column) - r->source->columns.items];

	return cell.kind == CELL_NONE ? 0 : cell_number(cell);
}

static struct row_set *rows_of(const struct call_fixture *f, enum call_rows_kind kind,
                               const char *function)
{
	struct call_report r = fixture_report(f);

	r.request.callers = r.request.callees = function;
	return rows_for(&r, fixture_process(f), kind);
}

static struct call_row row_named(const struct call_fixture *f, const struct row_set *r,
                                 const char *name)
{
	for (size_t i = 0; i < r->shown; i++)
		if (!row_at(r, i).self &&
		    !strcmp(call_names_of(f->names, row_at(r, i).function), name))
			return row_at(r, i);
	printf("# there is no row of %s\n", name);
	CHECK(!"the row is there");
	return (struct call_row){0};
}

static void paths_add_up_and_empty_ones_are_left_out(void)
{
	struct call_fixture f;
	struct row_set *r;

	fixture_init(&f);
	r = rows_of(&f, CALL_ROWS_PATHS, NULL);
	CHECK_EQ(r->shown, 11);
	CHECK_EQ(sum_of(r, r->total, "calls"), 1 + 2 + 100 + 1 + 2 + 4 + 7 + 3 + 1 + 1);
	CHECK_EQ(sum_of(r, r->total, "net"), fixture_process(&f)->paths.items[0].total_ns);
	CHECK_EQ(sum_of(r, r->total, "blocked"), 5000);
	for (size_t i = 1; i < r->shown; i++)
		CHECK(row_at(r, i - 1).net_ns >= row_at(r, i).net_ns);
	CHECK_EQ(row_at(r, 0).path, f.main);
	CHECK_EQ(call_row_wall_ns(&(struct call_row){
	                 .total_ns = 3, .total_blocked_ns = 4, .total_preempted_ns = 5}),
	         12);
	row_set_free(r);
	fixture_done(&f);
}

static void totals_of_a_function_count_outermost_calls_alone(void)
{
	struct call_fixture f;
	struct row_set *r;
	struct call_row row;

	fixture_init(&f);
	r = rows_of(&f, CALL_ROWS_FUNCTIONS, NULL);
	row = row_named(&f, r, "fib");
	CHECK_EQ(row.calls, 1 + 2 + 4 + 1);
	CHECK_EQ(row.net_ns, 10 + 20 + 40 + 6);
	CHECK_EQ(row.total_ns, 10 + 20 + 40 + 5 + 6);
	CHECK_EQ(row.min_ns, 5);
	CHECK_EQ(row.max_ns, 11);
	row = row_named(&f, r, "sort");
	CHECK_EQ(row.calls, 3);
	CHECK_EQ(row.net_ns, 205);
	CHECK_EQ(row.total_ns, 200 + 300 + 5 + 6);
	CHECK_EQ(call_row_wall_ns(&row), 511 + 5000);
	row = row_named(&f, r, "main");
	CHECK_EQ(row.total_ns, 1651);
	CHECK_EQ(row.open, 1);
	CHECK_EQ(sum_of(r, r->total, "net"), 1701);
	row_set_free(r);
	fixture_done(&f);
}

static struct call_row *row_of_path(const struct row_set *r, uint32_t path, struct call_row *row)
{
	for (size_t i = 0; i < r->shown; i++) {
		*row = row_at(r, i);
		if (row->path == path)
			return row;
	}
	CHECK(!"the path is there");
	return row;
}

/* Two paths of fib have durations; two with five calls have none. */
static void percentiles_of_a_function_come_from_all_its_paths(void)
{
	struct call_fixture f;
	struct call_process *p;
	struct call_times *times;
	struct row_set *r;
	struct call_row row;

	fixture_init(&f);
	p = &f.paths->processes.items[0];
	times = call_path_times(p, f.fib);
	times->timed = times->squares = 100;
	call_times_count(times, 1e6, 100);
	p->paths.items[f.fib].calls = 100;
	times = call_path_times(p, f.fib2);
	times->timed = times->squares = 300;
	call_times_count(times, 8, 300);
	p->paths.items[f.fib2].calls = 300;
	r = rows_of(&f, CALL_ROWS_FUNCTIONS, NULL);
	row = row_named(&f, r, "fib");
	CHECK_EQ(row.timed, 400);
	CHECK(fabs(row.p50_ns - 8) < 1);
	CHECK_EQ(row.p90_ns, row.max_ns); /* not above the longest call */
	row = row_named(&f, r, "sort");
	CHECK_EQ(row.timed, 0);
	CHECK(isnan(row.p50_ns));
	row_set_free(r);
	r = rows_of(&f, CALL_ROWS_PATHS, NULL);
	CHECK_EQ(row_of_path(r, f.fib2, &row)->timed, 300);
	CHECK_EQ(row.p99_ns, row.min_ns); /* not below the shortest */
	row_set_free(r);
	fixture_done(&f);
}

/* The parts add up to the total of the function. The totals of the rows may be larger. */
static void callers_and_callees_have_calls_and_times(void)
{
	struct call_fixture f;
	struct row_set *r;
	struct call_row row;

	fixture_init(&f);
	r = rows_of(&f, CALL_ROWS_CALLERS, "fib");
	CHECK_EQ(r->shown, 3);
	row = row_named(&f, r, "main");
	CHECK_EQ(row.calls, 1);
	CHECK_EQ(row.total_ns, 81);
	row = row_named(&f, r, "fib");
	CHECK_EQ(row.calls, 6);
	CHECK_EQ(row.net_ns, 60);
	CHECK_EQ(row.total_ns, 20 + 40 + 5 + 6);
	CHECK_EQ(row.part_ns, 0);
	row = row_named(&f, r, "sort");
	CHECK_EQ(row.total_ns, 6);
	CHECK_EQ(sum_of(r, r->total, "part"), 81);
	row_set_free(r);
	r = rows_of(&f, CALL_ROWS_CALLEES, "fib");
	CHECK_EQ(r->shown, 3);
	CHECK_EQ(sum_of(r, r->total, "part"), 81);
	CHECK_EQ(row_named(&f, r, "fib").part_ns, 71);
	CHECK_EQ(row_named(&f, r, "fib").total_ns, 71);
	CHECK_EQ(row_named(&f, r, "sort").calls, 1);
	CHECK_EQ(row_named(&f, r, "sort").total_ns, 11);
	row_set_free(r);
	r = rows_of(&f, CALL_ROWS_CALLERS, "absent");
	CHECK_EQ(r->shown, 0);
	row_set_free(r);
	fixture_done(&f);
}

/* The first letters of the functions, in the requested order. */
static void check_order(const struct call_fixture *f, const char *order, const char *want)
{
	struct call_report report = fixture_report(f);
	struct buf got = {0};
	struct row_set *r;

	report.request.by = &order;
	report.request.by_count = 1;
	r = rows_for(&report, fixture_process(f), CALL_ROWS_FUNCTIONS);
	for (size_t i = 0; i < r->shown; i++)
		buf_addf(&got, "%.3s ", call_names_of(f->names, row_at(r, i).function));
	CHECK_STR(buf_text(&got), want);
	row_set_free(r);
	buf_done(&got);
}

static void rows_are_sorted_as_asked(void)
{
	struct call_fixture f;

	fixture_init(&f);
	check_order(&f, "net", "mai app sor fib str (ou set ");
	check_order(&f, "name", "(ou app fib mai set sor str ");
	check_order(&f, "first", "(ou mai sor app fib str set ");
	check_order(&f, "calls", "app fib str sor set mai (ou ");
	fixture_done(&f);
}

/* The functions in the requested order, if rows are equal in the column. */
static void check_ties(const struct call_paths *c, struct call_names *names, const char *order,
                       const char *want)
{
	struct call_report report = {.paths = c,
	                             .names = names,
	                             .request.by = &order,
	                             .request.by_count = 1,
	                             .request.limit = -1};
	struct buf got = {0};
	struct row_set *r = rows_for(&report, c->processes.items, CALL_ROWS_FUNCTIONS);

	for (size_t i = 0; i < r->shown; i++)
		buf_addf(&got, "%s:%.0f ", call_names_of(names, row_at(r, i).function),
		         row_at(r, i).net_ns);
	CHECK_STR(buf_text(&got), want);
	row_set_free(r);
	buf_done(&got);
}

/*
 * Order by calls: ties are ordered by net, then by the first call. Order by name: ties by the first
 * call.
 */
static void ties_are_decided_by_net_then_by_what_was_first(void)
{
	struct call_paths *c = call_paths_new();
	uint32_t one = image_table_named(&c->images, IMAGE_FILE, "/usr/bin/one");
	uint32_t other = image_table_named(&c->images, IMAGE_FILE, "/usr/bin/other");
	struct call_names *names;
	struct call_process *p;

	call_paths_process(c, "ties", 1);
	p = c->processes.items;
	fixture_path(p, 0, fixture_function(c, one, "b", 1, false, false), 5, 10);
	fixture_path(p, 0, fixture_function(c, one, "same", 2, false, false), 5, 20);
	fixture_path(p, 0, fixture_function(c, one, "a", 3, false, false), 5, 20);
	fixture_path(p, 0, fixture_function(c, other, "same", 4, false, false), 5, 30);
	fixture_path(p, 0, fixture_function(c, one, "c", 5, false, false), 6, 1);
	call_paths_close(c);
	names = call_names_new(c, NULL, false);
	check_ties(c, names, "calls", "c:1 same:30 same:20 a:20 b:10 ");
	check_ties(c, names, "net", "same:30 same:20 a:20 b:10 c:1 ");
	check_ties(c, names, "name", "a:20 b:10 c:1 same:20 same:30 ");
	check_ties(c, names, "first", "b:10 same:20 a:20 same:30 c:1 ");
	call_names_free(names);
	call_paths_free(c);
}

/* One inherited path marks the function's row, in any order of its paths. */
static void a_sum_with_an_inherited_path_is_inherited(void)
{
	struct call_fixture f;
	struct row_set *r;

	for (int round = 0; round < 3; round++) {
		fixture_init(&f);
		if (round)
			fixture_process(&f)->paths.items[round == 1 ? f.fib : f.fib3].inherited =
			        true;
		r = rows_of(&f, CALL_ROWS_FUNCTIONS, NULL);
		CHECK_EQ(row_named(&f, r, "fib").inherited, round > 0);
		CHECK_EQ(row_named(&f, r, "main").inherited, false);
		row_set_free(r);
		fixture_done(&f);
	}
}

static void truncated_rows_are_summed_up(void)
{
	struct call_fixture f;
	struct call_report report;
	struct row_set *r;

	fixture_init(&f);
	report = fixture_report(&f);
	report.request.lines = 2;
	r = rows_for(&report, fixture_process(&f), CALL_ROWS_PATHS);
	CHECK_EQ(r->shown, 2);
	CHECK_EQ(sum_of(r, r->rest, "net"), 1701 - 1000 - 300);
	CHECK_EQ(sum_of(r, r->rest, "calls"), 122 - 1 - 100);
	row_set_free(r);
	/* Rows with a tenth of the total 1701, or of the waiting time: cmp, main and sort. */
	report.request.lines = 0;
	report.request.limit = 0.15;
	r = rows_for(&report, fixture_process(&f), CALL_ROWS_PATHS);
	CHECK_EQ(r->shown, 3);
	CHECK_EQ(sum_of(r, r->rest, "net"), 1701 - 1000 - 300 - 200);
	row_set_free(r);
	fixture_done(&f);
}

static void filters_choose_processes_and_functions(void)
{
	const char *names[] = {"app::cmp"}, *pids[] = {"42"}, *others[] = {"43"}, *bad[] = {"4x"};
	const struct call_process *p;
	struct call_fixture f;
	struct call_report report;
	struct row_set *r;
	struct error err = {0};

	fixture_init(&f);
	p = fixture_process(&f);
	report = fixture_report(&f);
	report.request.filter.function = (struct filter_list){names, 1};
	r = rows_for(&report, p, CALL_ROWS_PATHS);
	CHECK_EQ(r->shown, 1);
	CHECK_EQ(row_at(r, 0).path, f.cmp);
	/* The row and the sum of rows not selected are the whole process. */
	CHECK(r->has_unselected);
	for (size_t i = 0; i < r->source->columns.count; i++) {
		const struct column *c = &r->source->columns.items[i];
		struct buf text = {0};
		struct cell sum;

		if (strcmp(c->name, "net") != 0 && strcmp(c->name, "calls") != 0)
			continue;
		sum = cell_add(r->unselected[i], row_cell(r->source, c, r->order.items[0], &text));
		buf_done(&text);
		CHECK(fabs(cell_number(sum) - cell_number(r->total[i])) < 1e-6);
		if (!strcmp(c->name, "net"))
			CHECK(fabs(cell_number(r->total[i]) - call_check_net_ns(p)) < 1e-6);
	}
	row_set_free(r);
	report.request.filter.relative = true;
	r = rows_for(&report, p, CALL_ROWS_PATHS);
	CHECK(!r->has_unselected);
	row_set_free(r);
	report.request.filter.pid = (struct filter_list){pids, 1};
	CHECK(call_report_selects(&report, p));
	report.request.filter.comm = (struct filter_list){names, 1};
	CHECK(!call_report_selects(&report, p));
	report.request.filter.comm.count = 0;
	report.request.filter.pid = (struct filter_list){others, 1};
	CHECK(!call_report_selects(&report, p));
	CHECK_EQ(call_report_check(&report, &err), 0);
	report.request.filter.pid = (struct filter_list){bad, 1};
	CHECK(call_report_check(&report, &err) < 0);
	CHECK(strstr(err.text, "4x"));
	report.request.filter.pid.count = 0;
	report.request.callees = "absent";
	CHECK(call_report_check(&report, &err) < 0);
	CHECK(strstr(err.text, "absent"));
	fixture_done(&f);
}

/* The tree has only selected paths; without any, it has only the root. */
static void filters_choose_paths_of_the_tree(void)
{
	const char *names[] = {"app::cmp"}, *absent[] = {"absent"};
	struct call_fixture f;
	struct call_report report;
	struct call_tree_source of = {.report = &report};
	struct view_tree *t;

	fixture_init(&f);
	of.process = fixture_process(&f);
	report = fixture_report(&f);
	report.request.filter.function = (struct filter_list){names, 1};
	t = call_tree_new(&of);
	CHECK_EQ((int64_t)cell_number(view_tree_total_of(t, 0, CALL_TREE_NET)),
	         (int64_t)of.process->paths.items[f.cmp].net_ns);
	CHECK(t->nodes.count > 1);
	view_tree_free(t);
	call_tree_source_done(&of);
	of = (struct call_tree_source){.report = &report, .process = of.process};
	report.request.filter.function = (struct filter_list){absent, 1};
	t = call_tree_new(&of);
	CHECK_EQ(t->nodes.count, 1);
	CHECK_EQ(of.open.count, 1);
	view_tree_free(t);
	call_tree_source_done(&of);
	fixture_done(&f);
}

/* The child of `parent` with this function. */
static uint32_t node_of(const struct view_tree *t, uint32_t parent, uint32_t function)
{
	for (uint32_t i = 1; i < t->nodes.count; i++)
		if (t->nodes.items[i].of == function && t->nodes.items[i].parent == parent)
			return i;
	CHECK(!"the node is there");
	return 0;
}

static double cell_of(const struct view_tree *t, uint32_t node, const char *column)
{
	struct buf text = {0};
	struct cell cell = row_cell(t->source, column_named(t->source, column), node, &text);

	buf_done(&text);
	return cell_number(cell);
}

static void recursion_is_folded_and_no_time_is_lost(void)
{
	struct call_fixture f;
	struct call_report report;
	struct call_tree_source of = {.report = &report};
	struct view_tree *t;
	uint32_t top, node;

	fixture_init(&f);
	report = fixture_report(&f);
	of.process = fixture_process(&f);
	t = call_tree_new(&of);
	CHECK_EQ(cell_of(t, TREE_ROOT, "total"), 1701);
	top = node_of(t, TREE_ROOT, f.functions[F_MAIN]);
	CHECK_EQ(cell_of(t, top, "total"), 1651);
	CHECK_EQ(t->nodes.items[top].levels, 0);
	node = node_of(t, top, f.functions[F_FIB]);
	CHECK_EQ(cell_of(t, node, "calls"), 7);
	CHECK_EQ(t->nodes.items[node].levels, 3);
	CHECK_EQ(t->nodes.items[node].round, 1);
	CHECK_EQ(cell_of(t, node, "net"), 70);
	CHECK_EQ(cell_of(t, node, "total"), 81);
	/* fib > sort > fib is not two complete rounds: no path moves below another caller. */
	node = node_of(t, node, f.functions[F_SORT]);
	CHECK_EQ(cell_of(t, node, "total"), 11);
	CHECK_EQ(cell_of(t, node_of(t, node, f.functions[F_FIB]), "calls"), 1);
	node = node_of(t, top, f.functions[F_SORT]);
	CHECK_EQ(cell_of(t, node, "blocked"), 5000);
	CHECK_EQ(cell_of(t, TREE_ROOT, "blocked"), 5000);
	/* The largest total comes first. */
	CHECK_EQ(t->nodes.items[t->nodes.items[top].first_child].of, f.functions[F_SORT]);
	CHECK(view_tree_shown(t, top, 0.9));
	CHECK(!view_tree_shown(t, node_of(t, top, f.functions[F_STRLEN]), 0.05));
	view_tree_free(t);
	call_tree_source_done(&of);
	fixture_done(&f);
}

/* main > f > g > f > leaf with 1 to 5 ns: the outer g has 3 + 4 + 5 ns. */
static void a_path_stays_below_its_callers(void)
{
	struct call_paths *c = call_paths_new();
	struct call_report report = {.paths = c, .request.limit = -1};
	struct call_tree_source of = {.report = &report};
	uint32_t functions[4], at = 0, node = TREE_ROOT;
	static const char *const names[] = {"main", "f", "g", "leaf"};
	static const int path[] = {0, 1, 2, 1, 3};
	static const double totals[] = {15, 14, 12, 9, 5};
	struct view_tree *t;

	for (uint32_t i = 0; i < 4; i++)
		functions[i] = fixture_function(c, 0, names[i], i + 1, false, false);
	call_paths_process(c, "recursion", 1);
	for (int i = 0; i < 5; i++)
		at = fixture_path(c->processes.items, at, functions[path[i]], 1, i + 1);
	call_paths_close(c);
	report.names = call_names_new(c, NULL, false);
	of.process = c->processes.items;
	t = call_tree_new(&of);
	for (int i = 0; i < 5; i++) {
		node = node_of(t, node, functions[path[i]]);
		CHECK_EQ(cell_of(t, node, "total"), totals[i]);
	}
	view_tree_free(t);
	call_tree_source_done(&of);
	call_names_free(report.names);
	call_paths_free(c);
}

/* 200,000 calls below each other do not overflow the stack. */
static void deep_paths_need_no_stack(void)
{
	struct call_paths *c = call_paths_new();
	struct call_report report = {.paths = c, .request.limit = -1};
	struct call_tree_source of = {.report = &report};
	struct row_set *r;
	struct view_tree *t;
	uint32_t at = 0, ping, pong;
	const uint32_t deep = 200000;

	ping = fixture_function(c, 0, "ping", 1, false, false);
	pong = fixture_function(c, 0, "pong", 2, false, false);
	call_paths_process(c, "deep", 1);
	for (uint32_t i = 0; i < deep; i++)
		at = fixture_path(c->processes.items, at, i % 2 ? pong : ping, 1, 1);
	call_paths_close(c);
	report.names = call_names_new(c, NULL, false);
	of.process = c->processes.items;
	r = rows_for(&report, of.process, CALL_ROWS_FUNCTIONS);
	CHECK_EQ(r->shown, 2);
	CHECK_EQ(row_at(r, 0).total_ns + row_at(r, 1).total_ns, 2 * deep - 1);
	t = call_tree_new(&of);
	CHECK(t->nodes.count <= 4);
	CHECK_EQ(t->nodes.items[1].levels, deep / 2);
	CHECK_EQ(cell_of(t, 1, "total"), deep);
	view_tree_free(t);
	call_tree_source_done(&of);
	row_set_free(r);
	call_names_free(report.names);
	call_paths_free(c);
}

int main(void)
{
	RUN(paths_add_up_and_empty_ones_are_left_out);
	RUN(totals_of_a_function_count_outermost_calls_alone);
	RUN(percentiles_of_a_function_come_from_all_its_paths);
	RUN(callers_and_callees_have_calls_and_times);
	RUN(rows_are_sorted_as_asked);
	RUN(truncated_rows_are_summed_up);
	RUN(filters_choose_processes_and_functions);
	RUN(filters_choose_paths_of_the_tree);
	RUN(recursion_is_folded_and_no_time_is_lost);
	RUN(a_path_stays_below_its_callers);
	RUN(deep_paths_need_no_stack);
	RUN(ties_are_decided_by_net_then_by_what_was_first);
	RUN(a_sum_with_an_inherited_path_is_inherited);
	return check_end();
}
