/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report on named call paths: sums by each key, the tree, the accounts, and notes on missing
 * information.
 */
#include "check.h"
#include "symbolized_fixture.h"

#include "output/document_output.h"
#include "view/symbolized/symbolized_report.h"
#include "view/symbolized/symbolized_document.h"

#include <errno.h>
#include <math.h>

static struct symbolized_report *report_of(const struct symbolized_profile *n,
                                           const struct report_request *o)
{
	struct symbolized_report *r = NULL;
	struct error err = {0};

	CHECK(!symbolized_report_new(&r, n, o, true, &err));
	CHECK_STR(err.text, "");
	return r;
}

static const struct named_sum *sum_of(const struct symbolized_sums *s, const char *name)
{
	vec_each (sum, &s->sums) {
		struct buf text = {0};
		bool same;

		symbolized_sums_cell(s, sum, s->keys[s->key_count - 1], true, &text);
		same = !strcmp(buf_text(&text), name);
		buf_done(&text);
		if (same)
			return sum;
	}
	return NULL;
}

static void has(const struct symbolized_sums *s, const char *name, int64_t self, int64_t total)
{
	const struct named_sum *sum = sum_of(s, name);

	CHECK(sum != NULL);
	CHECK_EQ(sum ? sum->self : -1, self);
	CHECK_EQ(sum ? sum->total : -1, total);
}

/* The sums that the fixture's header comment lists. */
static void functions_count_each_path_once(void)
{
	struct report_request o = {.limit = -1, .children = true};
	struct symbolized_report *r;
	struct named_fixture x;

	fixture_calls(&x);
	fixture_name(&x, 0);
	r = report_of(&x.n, &o);
	has(r->functions, "main", 13, 1092);
	has(r->functions, "f", 25, 1065);
	has(r->functions, "g", 40, 1045);
	has(r->functions, "leaf", 1007, 1007);
	has(r->functions, "rec", 7, 7);
	CHECK_EQ(r->books.all, 1192);
	CHECK_EQ(r->books.rows, 1192);
	symbolized_report_free(r);
	o.children = false;
	o.keys[0] = FLAT_INSTANCE;
	o.key_count = 1;
	r = report_of(&x.n, &o);
	has(r->rows, "prog (7)", 1189, 0);
	has(r->rows, "prog (8)", 3, 0);
	CHECK(!r->rows->has_totals);
	symbolized_report_free(r);
	fixture_end(&x);
}

/* The node of a path of names; NAMED_NONE: there is none. */
static uint32_t node_at(const struct view_tree *t, const char *path)
{
	const struct view_node *nodes = t->nodes.items;
	uint32_t at = 0;

	while (*path && at != NAMED_NONE) {
		size_t length = strcspn(path, "/");

		at = nodes[at].first_child;
		while (at != NAMED_NONE &&
		       (strncmp(nodes[at].name, path, length) != 0 || nodes[at].name[length]))
			at = nodes[at].next;
		path += length + (path[length] == '/');
	}
	return at;
}

static int64_t total_at(const struct view_tree *t, const char *path)
{
	uint32_t node = node_at(t, path);

	return node == NAMED_NONE ? -1 : view_tree_total_of(t, node, 0).i;
}

static void the_tree_adds_up(void)
{
	struct report_request o = {.limit = -1, .tree = true};
	const struct view_node *branch;
	struct symbolized_report *r;
	struct named_fixture x;

	fixture_calls(&x);
	fixture_name(&x, 0);
	r = report_of(&x.n, &o);
	CHECK_EQ(total_at(r->tree, ""), 1192);
	CHECK_EQ(total_at(r->tree, "prog/main"), 1092);
	CHECK_EQ(total_at(r->tree, "prog/main/rec"), 7);
	branch = &r->tree->nodes.items[node_at(r->tree, "prog/main/rec")];
	CHECK_EQ(branch->levels, 3);
	CHECK_EQ(branch->round, 1);
	/* f, g, f: the second round is not complete. */
	CHECK_EQ(total_at(r->tree, "prog/main/f/g/f/leaf"), 1000);
	symbolized_report_free(r);
	fixture_end(&x);
}

/* A path of different functions, one below the other, by hand. */
static void add_deep(struct symbolized_profile *n, uint32_t depth)
{
	struct named_owner no_owner = {0};
	uint32_t path = NAMED_ROOT;
	char name[16];

	symbolized_profile_init(n);
	n->values[0] = (struct named_value){"samples", "count"};
	n->values[1] = (struct named_value){"cpu", "nanoseconds"};
	n->value_count = 2;
	n->main_value = 1;
	for (uint32_t i = 0; i < depth; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		path = named_path_step(n, path, named_place_word(n, name));
	}
	named_row_of(n, path, named_owner_id(n, &no_owner))->values[0] = 3;
	named_row_of(n, path, named_owner_id(n, &no_owner))->values[1] = 30;
}

static void deep_paths_keep_their_innermost_function(void)
{
	struct report_request o = {.limit = -1, .tree = true, .children = true};
	struct symbolized_report *r;
	struct symbolized_profile n;

	add_deep(&n, 5000);
	r = report_of(&n, &o);
	CHECK_EQ(r->functions->sums.count, 5000);
	has(r->functions, "f0", 0, 30);
	has(r->functions, "f4999", 30, 30);
	CHECK_EQ(r->tree->nodes.count, TREE_DEPTH_MAX + 3); /* the root, [deeper], innermost */
	CHECK_STR(vec_last(&r->tree->nodes)->name, "f4999");
	CHECK_EQ(vec_last(&r->tree->self)->i, 30);
	CHECK_EQ(total_at(r->tree, ""), 30);
	symbolized_report_free(r);
	symbolized_profile_done(&n);
}

static void books_hold_the_period_against_the_values(void)
{
	struct report_request o = {.limit = -1};
	struct symbolized_report *r;
	struct symbolized_profile n;

	add_deep(&n, 1);
	n.period_of = n.values[1];
	n.period = 10;
	n.duration_ns = 60;
	r = report_of(&n, &o);
	CHECK(r->books.timed);
	CHECK_EQ(r->books.samples, 3);
	CHECK_EQ(r->books.expected, 30);
	CHECK(r->books.cpus == 0.5);
	symbolized_report_free(r);
	n.main_value = 0; /* counts are no time, and the period is of another value */
	r = report_of(&n, &o);
	CHECK(!r->books.timed);
	CHECK(isnan(r->books.cpus));
	symbolized_report_free(r);
	n.main_value = 1;
	n.period = INT64_MAX; /* a product that overflows is not reported */
	r = report_of(&n, &o);
	CHECK(!r->books.timed);
	symbolized_report_free(r);
	symbolized_profile_done(&n);
}

static void refuse(const struct symbolized_profile *n, const struct report_request *o, int code,
                   const char *says)
{
	struct symbolized_report *r = NULL;
	struct error err = {0};

	CHECK_EQ(symbolized_report_new(&r, n, o, true, &err), -code);
	CHECK(strstr(err.text, says) != NULL);
	CHECK(!r);
}

static void missing_facts_are_refused(void)
{
	static const char *const seven[] = {"7"}, *const word[] = {"x"};
	struct report_request o = {.keys = {FLAT_CPU}, .key_count = 1};
	struct symbolized_profile n;

	add_deep(&n, 2);
	refuse(&n, &o, EINVAL, "--sort cpu: these paths do not have it");
	o.keys[0] = FLAT_THREAD;
	o.children = true;
	refuse(&n, &o, EINVAL, "--children with --sort thread");
	o = (struct report_request){.filter.pid = {seven, 1}};
	refuse(&n, &o, ENOENT, "no sample of this profile has a process id");
	o = (struct report_request){.filter.tid = {word, 1}};
	refuse(&n, &o, EINVAL, "'x' is not a thread number");
	symbolized_profile_done(&n);
}

static void print(struct symbolized_report *r, bool program, struct buf *out)
{
	struct document_reader reader = {.program = program};
	struct document_text_options to = {0};
	struct document d;

	document_init(&d);
	symbolized_document(&d, r, &reader, "file.pb", "left\nout\n");
	if (program)
		document_json_print(&d, false, NULL, out);
	else
		document_text_print(&d, &to, NULL, out);
	document_done(&d);
}

/* Values at the ends of their range: sums saturate, without a trap. */
static void values_without_end_stay_in_range(void)
{
	struct report_request o = {.limit = -1, .tree = true, .children = true};
	struct named_owner no_owner = {0};
	struct buf out = {0};
	struct symbolized_report *r;
	struct symbolized_profile n;
	uint32_t path;

	add_deep(&n, 3);
	path = named_path_step(&n, NAMED_ROOT, named_place_word(&n, "other"));
	named_row_of(&n, path, named_owner_id(&n, &no_owner))->values[1] = INT64_MAX;
	path = named_path_step(&n, path, named_place_word(&n, "below"));
	named_row_of(&n, path, named_owner_id(&n, &no_owner))->values[1] = INT64_MIN;
	r = report_of(&n, &o);
	CHECK_EQ(r->books.below_rows, 1);
	CHECK_EQ(r->books.below, INT64_MIN);
	print(r, false, &out);
	CHECK(strstr(buf_text(&out), "negative, ") != NULL);
	symbolized_report_free(r);
	r = report_of(&n, &o);
	print(r, true, &out);
	CHECK(strstr(buf_text(&out), "\"kind\": \"pprof\"") != NULL);
	CHECK(strstr(buf_text(&out), "-9223372036854775808") != NULL);
	buf_done(&out);
	symbolized_report_free(r);
	symbolized_profile_done(&n);
}

static void an_empty_profile_has_a_report(void)
{
	struct report_request o = {.limit = -1, .tree = true, .children = true};
	struct buf out = {0};
	struct symbolized_report *r;
	struct symbolized_profile n;

	symbolized_profile_init(&n);
	n.values[0] = (struct named_value){"samples", "count"};
	n.value_count = 1;
	r = report_of(&n, &o);
	CHECK_EQ(r->books.all, 0);
	CHECK_EQ(r->tree->nodes.count, 1);
	print(r, false, &out);
	CHECK(strstr(buf_text(&out), "the time of the recording") != NULL);
	buf_done(&out);
	symbolized_report_free(r);
	symbolized_profile_done(&n);
}

int main(void)
{
	RUN(functions_count_each_path_once);
	RUN(the_tree_adds_up);
	RUN(deep_paths_keep_their_innermost_function);
	RUN(books_hold_the_period_against_the_values);
	RUN(missing_facts_are_refused);
	RUN(values_without_end_stay_in_range);
	RUN(an_empty_profile_has_a_report);
	return check_end();
}
