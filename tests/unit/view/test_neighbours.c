/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers and callees in a call tree: each path is in one part, and the parts add up to the total
 * of the function, in any recursion. */
#include "check.h"
#include "view/function_names.h"
#include "view/tree/neighbour_tables.h"

#include <math.h>

#define NAMES 5
#define PATHS 4096

enum { M_NET, M_CALLS, MEASURES };

static const char *const names[NAMES] = {"main", "f", "g", "leaf", "h(int)"};

struct model {
	uint32_t count, parents[PATHS], functions[PATHS];
	int64_t net[PATHS];
};

static uint32_t parent_of(void *ctx, uint32_t path)
{
	return ((const struct model *)ctx)->parents[path];
}

static void steps_of(void *ctx, uint32_t path, struct tree_builder_steps *out)
{
	uint32_t function = ((const struct model *)ctx)->functions[path];

	vec_push(&out->all, (struct tree_builder_step){.function = function + 1,
	                                               .again = function + 1,
	                                               .name = names[function]});
}

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct view_tree *t = s->model;

	return cell_text(row == TREE_ROOT ? "all" : t->nodes.items[row].name);
}

static struct view_tree *tree_of(struct model *m)
{
	static const struct view_tree_model model = {parent_of, steps_of};
	static const struct column columns[] = {
	        {"total", "total", "total_ns", &unit_time, ROLE_TOTAL, .get = view_tree_total},
	        {"share", "", "share", &unit_share, ROLE_RATIO, .of = "total",
	         .base = {CELL_INT, .i = 100}},
	        {"net", "net", "net_ns", &unit_time, ROLE_SUM, .get = view_tree_self},
	        {"calls", "calls", "calls", &unit_count, ROLE_SUM, .get = view_tree_self,
	         .argument = M_CALLS},
	        {"name", "call tree", "name", &unit_text, .get = name_cell},
	};
	struct view_tree *t = view_tree_new(&model, m, m->count, MEASURES);

	view_tree_whole(t);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		vec_push(&t->source->columns, columns[i]);
	for (uint32_t path = 1; path < m->count; path++) {
		uint32_t node = view_tree_at(t, 0, TREE_ROOT, path);

		view_tree_add(t, node, M_NET, cell_int(m->net[path]));
		view_tree_add(t, node, M_CALLS, cell_int(1));
	}
	view_tree_finish(t, NULL, 0);
	return t;
}

static void add_path(struct model *m, uint32_t parent, uint32_t function, int64_t net)
{
	m->parents[m->count] = parent;
	m->functions[m->count] = function;
	m->net[m->count++] = net;
}

/* A path per letter: "mfgfl" is main > f > g > f > leaf with 1 to 5 ns. */
static void add_chain(struct model *m, const char *letters)
{
	uint32_t path = 0;

	if (!m->count)
		m->count = 1;
	for (int64_t net = 1; *letters; letters++, net++) {
		add_path(m, path, (uint32_t)(strchr("mfglh", *letters) - "mfglh"), net);
		path = m->count - 1;
	}
}

static int64_t figure(const struct row_set *r, uint32_t row, const char *column)
{
	struct buf text = {0};
	struct cell cell = row_cell(r->source, column_named(r->source, column), row, &text);

	buf_done(&text);
	return cell.i;
}

/* "main 14 14 2 1": name, part, total, net and calls of each row, in order. */
static void check_rows(const struct row_set *r, const char *want)
{
	struct buf got = {0}, text = {0};

	for (size_t i = 0; i < r->shown; i++) {
		uint32_t row = r->order.items[i];
		struct cell name = row_cell(r->source, column_named(r->source, "name"), row, &text);

		buf_addf(&got, "%s %lld %lld %lld %lld; ", name.s,
		         (long long)figure(r, row, "part"), (long long)figure(r, row, "total"),
		         (long long)figure(r, row, "net"), (long long)figure(r, row, "calls"));
	}
	CHECK_STR(buf_text(&got), want);
	buf_done(&got);
	buf_done(&text);
}

static int64_t total_of(const struct row_set *r, const char *column)
{
	return r->total[column_named(r->source, column) - r->source->columns.items].i;
}

static struct neighbour_tables tables_of(struct model *m, const char *function)
{
	const struct report_request q = {.callers = function, .callees = function};
	struct neighbour_tables n;

	CHECK_EQ(neighbour_tables_make(&n, tree_of(m), &q, NULL), 0);
	return n;
}

static void check_neighbours(struct model *m, const char *function, const char *callers,
                             const char *callees)
{
	struct neighbour_tables n = tables_of(m, function);

	check_rows(n.caller_rows, callers);
	check_rows(n.callee_rows, callees);
	neighbour_tables_done(&n);
}

static void a_recursion_is_in_the_part_of_its_outermost_caller(void)
{
	struct model m = {0};

	add_chain(&m, "mfgfl");
	check_neighbours(&m, "f", "main 14 14 2 1; g 0 9 4 1; ",
	                 "g 12 12 3 1; [self] 2 6 6 2; leaf 0 5 5 1; ");
	check_neighbours(&m, "g", "f 12 12 3 1; ", "f 9 9 4 1; [self] 3 3 3 1; ");
	check_neighbours(&m, "main", "[no caller] 15 15 1 1; ", "f 14 14 2 1; [self] 1 1 1 1; ");
	check_neighbours(&m, "leaf", "f 5 5 5 1; ", "[self] 5 5 5 1; ");
}

static void a_direct_recursion_is_a_caller_of_itself(void)
{
	struct model m = {0};

	add_chain(&m, "mfffl");
	check_neighbours(&m, "f", "main 14 14 2 1; f 0 12 7 2; ",
	                 "f 12 12 7 2; [self] 2 9 9 3; leaf 0 5 5 1; ");
}

/* Parts, compared with a calculation path by path. */
static void check_parts(struct model *m, uint32_t function)
{
	struct neighbour_tables n = tables_of(m, names[function]);
	int64_t total = 0, calls = 0;

	for (uint32_t path = 1; path < m->count; path++) {
		bool inside = false;

		for (uint32_t p = path; p; p = m->parents[p])
			inside |= m->functions[p] == function;
		total += inside ? m->net[path] : 0;
		calls += m->functions[path] == function;
	}
	CHECK_EQ(total_of(n.caller_rows, "part"), total);
	CHECK_EQ(total_of(n.callee_rows, "part"), total);
	CHECK_EQ(total_of(n.caller_rows, "calls"), calls);
	neighbour_tables_done(&n);
}

static void parts_add_up_to_the_total_of_the_function(void)
{
	static struct model m;
	unsigned random = 1;

	m.count = 1;
	while (m.count < PATHS) {
		random = random * 1103515245 + 12345;
		/* Long chains, with branches. */
		add_path(&m, random >> 8 & 15 ? m.count - 1 : (random >> 12) % m.count,
		         (random >> 16) % NAMES, (random >> 20) % 50);
	}
	for (uint32_t function = 0; function < NAMES; function++)
		check_parts(&m, function);
}

static void rows_below_the_limit_are_summed_up(void)
{
	const struct report_request q = {.callees = "f", .limit = 0.5};
	struct model m = {0};
	struct neighbour_tables n;

	add_chain(&m, "mfffl");
	CHECK_EQ(neighbour_tables_make(&n, tree_of(&m), &q, NULL), 0);
	CHECK(!n.caller_rows);
	check_rows(n.callee_rows, "f 12 12 7 2; [self] 2 9 9 3; ");
	CHECK_EQ(total_of(n.callee_rows, "part"), 14);
	neighbour_tables_done(&n);
}

static void check_choice(const char *wanted, const char *const *all, size_t count, const char *want)
{
	uint8_t chosen[8];
	char got[9] = "";
	struct error err = {0};

	if (function_names_choose(all, count, wanted, chosen, &err)) {
		CHECK_STR(err.text, want);
		return;
	}
	for (size_t i = 0; i < count; i++)
		got[i] = chosen[i] ? '1' : '0';
	CHECK_STR(got, want);
}

static void the_best_match_of_a_name_is_chosen(void)
{
	static const char *const all[] = {"f",  "f(int)",         "f(long)",
	                                  "ff", "Map::find(int)", "malloc"};

	check_choice("f", all, 6, "100000");
	check_choice("f", all + 1, 5, "11000");
	check_choice("f*", all, 6, "111100");
	check_choice("*find*", all, 6, "000010");
	check_choice("find", all, 6,
	             "no function that was called has the name find; near it are Map::find(int)");
	check_choice("mallok", all, 6,
	             "no function that was called has the name mallok; did you mean malloc?");
	check_choice("zzzzzzzz", all, 6, "no function that was called has the name zzzzzzzz");
}

int main(void)
{
	RUN(a_recursion_is_in_the_part_of_its_outermost_caller);
	RUN(a_direct_recursion_is_a_caller_of_itself);
	RUN(parts_add_up_to_the_total_of_the_function);
	RUN(rows_below_the_limit_are_summed_up);
	RUN(the_best_match_of_a_name_is_chosen);
	return check_end();
}
