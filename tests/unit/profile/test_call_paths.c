/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of call paths: trees of three functions with known sums.
 */
#include "check.h"
#include "profile/calls/call_paths.h"

#include <math.h>

static uint32_t function(struct call_paths *c, uint64_t offset)
{
	struct call_function f = {.frame = {IMAGE_ID_UNKNOWN, offset}};

	return call_paths_function(c, &f);
}

static void functions_are_one_each(void)
{
	struct call_paths *c = call_paths_new();
	struct call_function f = {.frame = {IMAGE_ID_UNKNOWN, 64}}, plain = f;
	uint32_t id = call_paths_function(c, &f);

	f.name = intern_add(&c->images.names, "late");
	f.line = 12;
	CHECK_EQ(call_paths_function(c, &f), id);
	CHECK_STR(intern_text(&c->images.names, c->functions.items[id].name), "late");
	CHECK_EQ(c->functions.items[id].line, 12);
	f.name = intern_add(&c->images.names, "later");
	CHECK_EQ(call_paths_function(c, &f), id);
	CHECK_STR(intern_text(&c->images.names, c->functions.items[id].name), "late");
	f = plain;
	f.library = true;
	CHECK(call_paths_function(c, &f) != id);
	f = plain;
	f.counted = true;
	CHECK(call_paths_function(c, &f) != id);
	f = plain;
	f.kind = CALL_OTHER;
	CHECK(call_paths_function(c, &f) != id);
	CHECK_EQ(c->functions.count, 4);
	call_paths_free(c);
}

static void a_path_is_its_parent_and_function(void)
{
	struct call_paths *c = call_paths_new();
	uint32_t p = call_paths_process(c, "prog", 7), q = call_paths_process(c, "other", 8);
	struct call_process *process = &c->processes.items[p];
	uint32_t a = function(c, 16), b = function(c, 32);
	uint32_t in_a = call_path_child(process, 0, a), in_ab = call_path_child(process, in_a, b);

	CHECK_EQ(call_path_child(process, 0, a), in_a);
	CHECK_EQ(call_path_child(process, in_a, b), in_ab);
	CHECK(call_path_child(process, 0, b) != in_ab);
	CHECK_EQ(process->paths.count, 4);
	CHECK_EQ(in_ab, 2);
	CHECK_EQ(c->functions.items[process->paths.items[0].function].kind, CALL_OUTSIDE);
	CHECK_EQ(c->processes.items[q].paths.count, 1);
	CHECK_EQ(c->processes.items[q].pid, 8);
	CHECK(isnan(process->paths.items[in_ab].min_ns));
	call_paths_free(c);
}

static void totals_take_in_callees(void)
{
	struct call_paths *c = call_paths_new();
	uint32_t p = call_paths_process(c, "prog", 7), paths[4];
	struct call_process *process = &c->processes.items[p];
	const struct call_path *root, *first;

	/* root -> 1 -> 2, root -> 3; net 1, 10, 100, 1000, beginning at the root */
	paths[0] = 0;
	paths[1] = call_path_child(process, 0, function(c, 16));
	paths[2] = call_path_child(process, paths[1], function(c, 32));
	paths[3] = call_path_child(process, 0, function(c, 32));
	for (int i = 0; i < 4; i++) {
		struct call_path *path = &process->paths.items[paths[i]];

		path->net_ns = pow(10, i);
		path->net_error_ns = pow(10, i) / 100;
		path->blocked_ns = 2 * path->net_ns;
		path->preempted_ns = 3 * path->net_ns;
	}
	process->paths.items[paths[2]].net_ns = -100; /* negative times are kept */
	call_paths_close(c);
	call_paths_close(c); /* sums are computed once */
	root = &process->paths.items[0];
	first = &process->paths.items[paths[1]];
	CHECK_EQ(first->total_ns, -90);
	CHECK_EQ(root->total_ns, 1 + 10 - 100 + 1000);
	CHECK_EQ(llrint(root->total_error_ns * 100), 1111);
	CHECK_EQ(root->total_blocked_ns, 2222);
	CHECK_EQ(root->total_preempted_ns, 3333);
	CHECK_EQ(call_path_wall_ns(first), -90 + 220 + 330);
	CHECK_EQ(root->first_child, paths[1]);
	CHECK_EQ(first->sibling, paths[3]);
	CHECK_EQ(first->first_child, paths[2]);
	CHECK_EQ(process->paths.items[paths[3]].sibling, CALL_PATH_NONE);
	CHECK_EQ(process->paths.items[paths[3]].first_child, CALL_PATH_NONE);
	call_paths_free(c);
}

static void chains_go_from_the_root_down(void)
{
	struct call_paths *c = call_paths_new();
	uint32_t p = call_paths_process(c, "prog", 7), chain[3] = {0}, path = 0;
	struct call_process *process = &c->processes.items[p];

	for (uint64_t i = 1; i <= 5; i++)
		path = call_path_child(process, path, function(c, i * 16));
	CHECK_EQ(call_path_depth(process, path), 5);
	CHECK_EQ(call_path_depth(process, 0), 0);
	CHECK_EQ(call_path_chain(process, path, chain, 3), 3);
	CHECK_EQ(chain[0], 3);
	CHECK_EQ(chain[2], path);
	CHECK_EQ(call_path_chain(process, 2, chain, 3), 2);
	CHECK_EQ(chain[0], 1);
	CHECK_EQ(call_path_chain(process, 0, chain, 3), 0);
	call_paths_free(c);
}

static void ranges_widen(void)
{
	struct call_path path = {.min_ns = NAN, .max_ns = NAN};

	call_path_range(&path, NAN, NAN);
	CHECK(isnan(path.min_ns) && isnan(path.max_ns));
	call_path_range(&path, 5, 9);
	call_path_range(&path, -1, 3);
	call_path_range(&path, NAN, NAN);
	CHECK_EQ(path.min_ns, -1);
	CHECK_EQ(path.max_ns, 9);
}

static void many_paths(void)
{
	struct call_paths *c = call_paths_new();
	uint32_t p = call_paths_process(c, "prog", 7), wide = 100000, n = 0;
	struct call_process *process = &c->processes.items[p];

	for (uint32_t i = 0; i < 2 * wide; i++) {
		uint32_t path = call_path_child(process, 0, function(c, i % wide + 1));

		process->paths.items[path].net_ns += 1;
	}
	call_paths_close(c);
	CHECK_EQ(process->paths.count, wide + 1);
	CHECK_EQ(process->paths.items[0].total_ns, 2 * wide);
	for (uint32_t i = process->paths.items[0].first_child; i != CALL_PATH_NONE;
	     i = process->paths.items[i].sibling)
		CHECK_EQ(i, ++n);
	CHECK_EQ(n, wide);
	call_paths_free(c);
	call_paths_free(NULL);
}

int main(void)
{
	RUN(functions_are_one_each);
	RUN(a_path_is_its_parent_and_function);
	RUN(totals_take_in_callees);
	RUN(chains_go_from_the_root_down);
	RUN(ranges_widen);
	RUN(many_paths);
	return check_end();
}
