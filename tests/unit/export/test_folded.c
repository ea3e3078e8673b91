/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines for flame graphs: each path occurs once, no time is lost, and the tools accept each line.
 */
#include "check.h"
#include "symbolized_fixture.h"

#include "export/folded.h"

#define NET (1u << NAMED_NET)

/* The lines as one text; to be freed with buf_done(). */
static struct buf folded(const struct symbolized_profile *n, unsigned columns,
                         struct named_below *below)
{
	struct spill out;
	struct buf text;

	spill_to(&out, -1, "memory");
	*below = folded_write(n, columns, &out);
	text = out.buf;
	CHECK(!spill_close(&out, true, NULL));
	return text;
}

static void every_path_is_a_line_and_the_processes_of_a_name_are_one(void)
{
	struct named_fixture x;
	struct named_below below;
	struct buf text;

	fixture_calls(&x);
	fixture_name(&x, NAMED_DEPTH_MAX);
	text = folded(&x.n, NET, &below);
	CHECK_STR(buf_text(&text), "prog;(outside) 100\n"
	                           "prog;main 13\n"
	                           "prog;main;f 20\n"
	                           "prog;main;f;g 40\n"
	                           "prog;main;f;g;f 5\n"
	                           "prog;main;f;g;f;leaf 1000\n"
	                           "prog;main;leaf 7\n"
	                           "prog;main;rec 1\n"
	                           "prog;main;rec;rec 2\n"
	                           "prog;main;rec;rec;rec 4\n");
	CHECK_EQ(below.rows, 0);
	buf_done(&text);
	text = folded(&x.n, NET | 1u << NAMED_BLOCKED, &below);
	CHECK(strstr(buf_text(&text), "prog;main 63\n") != NULL);
	buf_done(&text);
	text = folded(&x.n, 1u << NAMED_CALLS, &below);
	CHECK(strstr(buf_text(&text), "prog;main;f;g;f;leaf 6\n") != NULL);
	CHECK(strstr(buf_text(&text), "prog;main 2\n") != NULL);
	CHECK(!strstr(buf_text(&text), "(outside)"));
	buf_done(&text);
	fixture_end(&x);
}

static void names_cannot_break_a_line(void)
{
	struct named_fixture x;
	struct named_below below;
	struct buf text;
	uint32_t process, path;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "a;b\nc", 7);
	path = fixture_call(&x, process, 0, "operator;(int, char)", 1, 5);
	path = fixture_call(&x, process, path, "new\nline\t1", 1, 6);
	fixture_call(&x, process, path, "\xff\xfe caf\xc3\xa9", 1, 7);
	fixture_name(&x, NAMED_DEPTH_MAX);
	text = folded(&x.n, NET, &below);
	CHECK_STR(buf_text(&text),
	          "a:b\\nc;operator:(int, char) 5\n"
	          "a:b\\nc;operator:(int, char);new\\nline\\t1 6\n"
	          "a:b\\nc;operator:(int, char);new\\nline\\t1;\\xff\\xfe caf\xc3\xa9 7\n");
	buf_done(&text);
	fixture_end(&x);
}

/* Negative values are reported, and not added to another line. */
static void negative_times_are_left_out_and_reported(void)
{
	struct named_fixture x;
	struct named_below below;
	struct buf text;
	uint32_t process, path;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	path = fixture_call(&x, process, 0, "a", 1, 50);
	path = fixture_call(&x, process, path, "b", 1, -8);
	fixture_call(&x, process, path, "c", 1, -3);
	fixture_name(&x, NAMED_DEPTH_MAX);
	text = folded(&x.n, NET, &below);
	CHECK_EQ(below.rows, 2);
	CHECK_EQ(below.sum, -11);
	CHECK(strstr(buf_text(&text), "# left out: 2 paths with -11 together") == buf_text(&text));
	CHECK(strstr(buf_text(&text), "\np;a 50\n") != NULL);
	CHECK(!strstr(buf_text(&text), "p;a;b"));
	buf_done(&text);
	fixture_end(&x);
}

static void fractions_are_not_lost_over_many_paths(void)
{
	struct named_fixture x;
	struct named_below below;
	struct buf text;
	uint32_t process;
	long long sum = 0;
	char name[16];

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		fixture_call(&x, process, 0, name, 1, 3.4);
	}
	fixture_name(&x, NAMED_DEPTH_MAX);
	text = folded(&x.n, NET, &below);
	for (const char *line = buf_text(&text); *line; line = strchr(line, '\n') + 1)
		sum += strtoll(strchr(line, ' '), NULL, 10);
	CHECK_EQ(sum, 3400);
	buf_done(&text);
	fixture_end(&x);
}

/* 5000 levels of f, and a leaf: cut at the limit, with all of the time. */
static void paths_that_are_too_deep_are_cut_and_keep_their_time(void)
{
	struct named_fixture x;
	struct named_below below;
	struct buf text;
	uint32_t process, path = 0;
	long long sum = 0;
	size_t longest = 0;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	for (int i = 0; i < 5000; i++)
		path = fixture_call(&x, process, path, "f", 1, 2);
	fixture_call(&x, process, path, "leaf", 1, 90);
	fixture_name(&x, NAMED_DEPTH_MAX);
	text = folded(&x.n, NET, &below);
	for (const char *line = buf_text(&text), *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		sum += strtoll(strchr(line, ' '), NULL, 10);
		longest = (size_t)(end - line) > longest ? (size_t)(end - line) : longest;
	}
	CHECK_EQ(sum, 10090);
	CHECK(longest < 2 * NAMED_DEPTH_MAX + 40);
	CHECK(strstr(buf_text(&text), ";f;[deeper];leaf 90\n") != NULL);
	CHECK(strstr(buf_text(&text), ";f;[deeper];f 8000\n") != NULL);
	buf_done(&text);
	fixture_end(&x);
}

int main(void)
{
	RUN(every_path_is_a_line_and_the_processes_of_a_name_are_one);
	RUN(names_cannot_break_a_line);
	RUN(negative_times_are_left_out_and_reported);
	RUN(fractions_are_not_lost_over_many_paths);
	RUN(paths_that_are_too_deep_are_cut_and_keep_their_time);
	return check_end();
}
