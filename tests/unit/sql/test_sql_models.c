/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls and profiles as tables: every value is known. */
#include "check.h"
#include "symbolized_fixture.h"
#include "sql_fixture.h"

/* The values that the fixture's header comment lists. */
static void sums_of_the_fixture(struct sql *s)
{
	answer(s,
	       "SELECT f.name, sum(calls), sum(net_ns) FROM calls c JOIN functions f ON f.id = "
	       "c.function GROUP BY 1 ORDER BY 1",
	       "(outside)|0|100\nf|5|25\ng|4|40\nleaf|11|1007\nmain|2|13\nrec|3|7\n");
	answer(s, "SELECT path, calls, net_ns, total_ns FROM calls WHERE path LIKE 'main;f%'",
	       "main;f|2|20|1065\nmain;f;g|4|40|1045\nmain;f;g;f|3|5|1005\n"
	       "main;f;g;f;leaf|6|1000|1000\n");
	answer(s, "SELECT sum(weight), sum(samples), sum(blocked_ns) FROM samples", "1192|25|50\n");
	answer(s, "SELECT function, samples, weight_ns FROM by_function LIMIT 1", "leaf|11|1007\n");
	answer(s, "SELECT stack_text(stack) FROM samples ORDER BY weight DESC LIMIT 1",
	       "main;f;g;f;leaf\n");
	answer(s, "SELECT name, instance, pid FROM processes ORDER BY id", "prog|1|7\nprog|2|8\n");
	answer(s, "SELECT process, path, blocked_ns FROM calls WHERE blocked_ns > 0",
	       "1|main|50\n");
	answer(s, "SELECT event, count(*) FROM sessions", "net|1\n");
	answer(s, "SELECT samples FROM windows", "25\n");
	answer(s, "SELECT path, name, kind, build_id FROM images WHERE path LIKE '/%'",
	       "/bin/prog|prog|file|010203ab\n");
	answer(s,
	       "SELECT a.path, b.path FROM calls a JOIN calls b ON b.id = a.parent WHERE a.path = "
	       "'main;rec;rec;rec'",
	       "main;rec;rec;rec|main;rec;rec\n");
}

static void counted_calls_are_rows(void)
{
	struct sql *s = opened();
	struct named_fixture x;

	fixture_calls(&x);
	fixture_name(&x, NAMED_DEPTH_MAX);
	CHECK(!sql_add_calls(s, x.calls, NULL, NULL));
	sums_of_the_fixture(s);
	hold_together(s);
	/* Each process has its own root, and all times are below one of them. */
	answer(s, "SELECT process, total_ns FROM calls WHERE depth = 0", "0|1189\n1|3\n");
	answer(s, "SELECT count(*) FROM calls WHERE min_ns IS NOT NULL", "0\n");
	/* A stack of one frame has depth 1, also that of a process's root. */
	answer(s, "SELECT DISTINCT depth FROM stacks WHERE coalesce(parent, 0) = 0", "1\n");
	answer(s,
	       "SELECT count(*) FROM stacks s JOIN stacks p ON p.id = s.parent WHERE s.depth <> "
	       "p.depth + 1",
	       "0\n");
	sql_close(s);
	fixture_end(&x);
}

static void a_profile_is_rows(void)
{
	struct sql *s = opened();
	struct named_fixture x;

	fixture_calls(&x);
	fixture_name(&x, NAMED_DEPTH_MAX);
	CHECK(!sql_add_pprof(s, &x.n, NULL));
	sums_of_the_fixture(s);
	hold_together(s);
	sql_close(s);
	fixture_end(&x);
}

/* A path without calls, one with an inlined function, and one without frames. */
static void inlined_functions_are_frames(void)
{
	struct sql *s = opened();
	struct named_function f = {.image = NAMED_NONE};
	struct named_line lines[2] = {{0, 7}, {0, 8}};
	struct named_owner o = {.tid = 5};
	struct symbolized_profile n;
	uint32_t main, place;

	symbolized_profile_init(&n);
	n.value_count = 2;
	n.main_value = 1;
	n.values[0] = (struct named_value){"inuse_objects", "count"};
	n.values[1] = (struct named_value){"inuse_space", "bytes"};
	f.name = named_text(&n, "inner");
	lines[0].function = named_function_id(&n, &f);
	f.name = named_text(&n, "outer");
	lines[1].function = named_function_id(&n, &f);
	main = named_path_step(&n, NAMED_ROOT, named_place_word(&n, "main"));
	place = named_place_add(&n, NAMED_NONE, 64, lines, 2);
	o.process = named_text(&n, "p");
	named_row_of(&n, named_path_step(&n, main, place), named_owner_id(&n, &o))->values[1] = 42;
	named_row_of(&n, NAMED_ROOT, named_owner_id(&n, &o))->values[0] = 3;
	CHECK(!sql_add_pprof(s, &n, NULL));
	answer(s, "SELECT stack_text(stack), samples, weight, event FROM samples ORDER BY weight",
	       "|3|0|inuse_space\nmain;outer;inner|0|42|inuse_space\n");
	answer(s, "SELECT depth, offset FROM stacks s JOIN frames f ON f.id = s.frame ORDER BY 1",
	       "1|\n2|64\n3|64\n");
	answer(s, "SELECT count(*) FROM calls", "0\n");
	answer(s, "SELECT process, tid, samples FROM by_thread", "p|5|3\n");
	look_at_all(s);
	sql_close(s);
	symbolized_profile_done(&n);
}

int main(void)
{
	RUN(counted_calls_are_rows);
	RUN(a_profile_is_rows);
	RUN(inlined_functions_are_frames);
	return check_end();
}
