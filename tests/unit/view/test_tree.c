/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call tree: recursion of any depth is folded, and folding loses no time. */
#include "check.h"
#include "report_print.h"
#include "view_fixture.h"

#define DEEP 20000

static struct report *report_of(struct fixture *f)
{
	struct report_request o = {.limit = -1, .tree = true};
	struct report *r = NULL;

	CHECK(!report_new(&r, f->profile, f->symbols, &o, NULL));
	return r;
}

static uint32_t frame_named(struct fixture *f, const char *name)
{
	struct profile_frame frame = {0};

	frame.frame.image = f->program;
	frame.frame.offset = intern_add(&f->profile->images.names, name);
	return profile_frame_add(f->profile, &frame);
}

/* Adds `count` frames below `path`, which repeat `names`; returns the innermost path. */
static uint32_t rounds(struct fixture *f, uint32_t path, const char *const *names, size_t kinds,
                       size_t count)
{
	for (size_t i = 0; i < count; i++)
		path = profile_path_add(f->profile, path, frame_named(f, names[i % kinds]));
	return path;
}

static void clear_rows(struct fixture *f)
{
	vec_each (row, &f->profile->rows)
		row->samples = row->weight = 0;
	f->profile->events.items[0].samples = f->profile->events.items[0].weight = 0;
}

static const struct tree_node *node_named(const struct view_tree *t, const char *name)
{
	uint32_t found = ID_NONE;

	for (uint32_t id = 0; id < t->nodes.count; id++)
		if (!strcmp(tree_name(t, id), name) &&
		    (found == ID_NONE ||
		     tree_figure(t, id, "samples") > tree_figure(t, found, "samples")))
			found = id;
	return found == ID_NONE ? NULL : tree_node_at(t, found);
}

static size_t nodes_named(const struct view_tree *t, const char *name)
{
	size_t count = 0;

	for (uint32_t id = 0; id < t->nodes.count; id++)
		count += view_tree_shown(t, id, 0) && !strcmp(tree_name(t, id), name);
	return count;
}

/*
 * The total of a node is the sum of its children's totals and its own samples; the root's is
 * `samples`.
 */
static void check_sums(const struct view_tree *t, uint64_t samples)
{
	const struct view_node *nodes = t->nodes.items;
	size_t wrong = 0;

	CHECK_EQ(tree_node_at(t, TREE_ROOT)->samples, samples);
	for (uint32_t id = 0; id < t->nodes.count; id++) {
		uint64_t sum = tree_node_at(t, id)->self_samples;

		for (uint32_t c = nodes[id].first_child; c != ID_NONE; c = nodes[c].next)
			sum += tree_node_at(t, c)->samples;
		wrong += sum != tree_node_at(t, id)->samples;
	}
	CHECK_EQ(wrong, 0);
}

static size_t deepest(const char *json)
{
	size_t depth = 0, most = 0;

	for (; *json; json++) {
		depth += *json == '{' || *json == '[';
		depth -= *json == '}' || *json == ']';
		if (depth > most)
			most = depth;
	}
	return most;
}

/*
 * Each node's id is its index in the list, and callers precede callees. Returns the number of
 * nodes.
 */
static unsigned long check_ids(const char *json)
{
	const char *at = strstr(json, "\"tree\": [");
	unsigned long id, parent, count = 0;

	CHECK(at && strstr(at, "\"parent\": null"));
	while (at && (at = strstr(at, "\"id\": "))) {
		CHECK(sscanf(at, "\"id\": %lu", &id) == 1 && id == count);
		if (sscanf(at, "\"id\": %*u, \"parent\": %lu", &parent) == 1)
			CHECK(parent < id);
		else
			CHECK_EQ(id, 0);
		count++;
		at++;
	}
	return count;
}

static unsigned long count_of(const char *text, const char *word)
{
	unsigned long count = 0;

	for (; (text = strstr(text, word)); text++)
		count++;
	return count;
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		if (length > longest)
			longest = length;
	}
	return longest;
}

static void a_function_that_calls_itself_is_one_node(void)
{
	static const char *const f[] = {"f"}, *const leaf[] = {"leaf"};
	const struct tree_node *node;
	struct document_text_options to = {0};
	struct buf out = {0};
	struct fixture fixture;
	uint32_t path;
	struct report *r;

	fixture_init(&fixture, false);
	clear_rows(&fixture);
	/* one sample at each of the first levels, one in a leaf below the last */
	path = fixture_path(&fixture, "main", NULL);
	for (size_t i = 0; i < DEEP; i++) {
		path = rounds(&fixture, path, f, 1, 1);
		if (i < 100)
			fixture_row(&fixture, path, fixture.sh, 0, PROFILE_USER, 1);
	}
	fixture_row(&fixture, rounds(&fixture, path, leaf, 1, 1), fixture.sh, 0, PROFILE_USER, 60);
	r = report_of(&fixture);
	check_sums(r->tree, 160);
	CHECK_EQ(nodes_named(r->tree, "f"), 1);
	node = node_named(r->tree, "f");
	CHECK(node && node->levels == DEEP && node->round == 1);
	CHECK(node && node->samples == 160 && node->self_samples == 100);
	node = node_named(r->tree, "leaf");
	CHECK(node && node->samples == 60 && !node->levels);
	report_text(r, &to, &out);
	CHECK(strstr(buf_text(&out), "f  (recursion, 20000 levels)\n") != NULL);
	CHECK(longest_line(buf_text(&out)) < 120);
	buf_clear(&out);
	report_json(r, false, &out);
	CHECK(strstr(buf_text(&out), "\"recursion\":20000") ||
	      strstr(buf_text(&out), "\"recursion\": 20000"));
	CHECK(deepest(buf_text(&out)) < 30);
	buf_done(&out);
	report_free(r);
	fixture_done(&fixture);
}

static void functions_that_take_turns_are_one_round(void)
{
	static const char *const turns[] = {"eval", "call", "run"}, *const leaf[] = {"leaf"};
	const struct tree_node *eval, *run;
	struct fixture f;
	struct report *r;
	uint32_t path;

	fixture_init(&f, false);
	clear_rows(&f);
	path = rounds(&f, fixture_path(&f, "main", NULL), turns, 3, 3000);
	fixture_row(&f, rounds(&f, path, leaf, 1, 1), f.sh, 0, PROFILE_USER, 50);
	fixture_row(&f, path, f.sh, 0, PROFILE_USER, 7);
	r = report_of(&f);
	check_sums(r->tree, 57);
	eval = node_named(r->tree, "eval");
	run = node_named(r->tree, "run");
	CHECK(eval && eval->levels == 1000 && eval->round == 3 && eval->samples == 57);
	CHECK(run && !run->levels && run->self_samples == 7);
	CHECK_EQ(nodes_named(r->tree, "eval"), 1);
	CHECK_EQ(nodes_named(r->tree, "leaf"), 1);
	report_free(r);
	fixture_done(&f);
}

/* The same function twice in a row, and a recursion that ends and begins again deeper. */
static void levels_are_those_of_the_longest_run(void)
{
	static const char *const f[] = {"f"}, *const g[] = {"g"};
	const struct tree_node *top;
	struct fixture x;
	struct report *r;
	uint32_t path;

	fixture_init(&x, false);
	clear_rows(&x);
	path = fixture_path(&x, "main", NULL);
	fixture_row(&x, rounds(&x, path, f, 1, 2), x.sh, 0, PROFILE_USER, 1);
	path = rounds(&x, path, f, 1, 5);
	fixture_row(&x, path, x.sh, 0, PROFILE_USER, 2);
	path = rounds(&x, rounds(&x, path, g, 1, 1), f, 1, 3);
	fixture_row(&x, path, x.sh, 0, PROFILE_USER, 4);
	r = report_of(&x);
	check_sums(r->tree, 7);
	top = node_named(r->tree, "f");
	CHECK(top && top->levels == 5 && top->samples == 7 && top->self_samples == 3);
	CHECK_EQ(nodes_named(r->tree, "f"), 2);
	CHECK_EQ(nodes_named(r->tree, "g"), 1);
	for (uint32_t id = 0; id < r->tree->nodes.count; id++)
		if (id != top->id && !strcmp(tree_name(r->tree, id), "f"))
			CHECK(r->tree->nodes.items[id].levels == 3 &&
			      tree_node_at(r->tree, id)->samples == 4);
	report_free(r);
	fixture_done(&x);
}

/* No part of the path repeats, so it cannot be folded: the tree cuts it at a limit. */
static void a_deep_path_without_recursion_is_cut(void)
{
	static const char *const leaf[] = {"leaf"};
	struct document_text_options to = {0};
	const struct tree_node *cut, *last;
	struct buf out = {0};
	struct fixture f;
	unsigned long nodes;
	struct report *r;
	uint32_t path;
	char name[16];

	fixture_init(&f, false);
	clear_rows(&f);
	path = fixture_path(&f, "main", NULL);
	for (int i = 0; i < DEEP; i++) {
		const char *const step[] = {name};

		snprintf(name, sizeof(name), "step%d", i);
		path = rounds(&f, path, step, 1, 1);
	}
	fixture_row(&f, path, f.sh, 0, PROFILE_USER, 10);
	fixture_row(&f, rounds(&f, path, leaf, 1, 1), f.sh, 0, PROFILE_USER, 90);
	r = report_of(&f);
	check_sums(r->tree, 100);
	CHECK(r->tree->nodes.count < TREE_DEPTH_MAX + 50);
	cut = node_named(r->tree, "[deeper]");
	last = node_named(r->tree, "leaf");
	CHECK(cut && cut->samples == 100 && !cut->self_samples);
	CHECK(last && last->samples == 90 && last->parent == cut->id);
	report_text(r, &to, &out);
	CHECK(longest_line(buf_text(&out)) < 120);
	buf_clear(&out);
	report_json(r, true, &out);
	CHECK(deepest(buf_text(&out)) > 2 * TREE_DEPTH_MAX);
	CHECK(deepest(buf_text(&out)) < 2 * TREE_DEPTH_MAX + 20);
	nodes = count_of(buf_text(&out), "\"children\": [");
	buf_clear(&out);
	report_json(r, false, &out);
	CHECK(deepest(buf_text(&out)) < 10);
	CHECK(out.size < 1000 * nodes);
	CHECK_EQ(check_ids(buf_text(&out)), nodes);
	buf_done(&out);
	report_free(r);
	fixture_done(&f);
}

int main(void)
{
	RUN(a_function_that_calls_itself_is_one_node);
	RUN(functions_that_take_turns_are_one_round);
	RUN(levels_are_those_of_the_longest_run);
	RUN(a_deep_path_without_recursion_is_cut);
	return check_end();
}
