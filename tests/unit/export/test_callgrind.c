/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callgrind format: a small separate parser finds the calls of each pair; the times that go
 * into each function add up to its time, with or without recursion.
 */
#include "check.h"
#include "symbolized_fixture.h"

#include "export/callgrind.h"

#define NAMES 16

struct reading {
	char names[NAMES][32]; /* by number */
	long long self[NAMES], into[NAMES], calls[NAMES][NAMES], arc[NAMES][NAMES];
	long long totals, blocked;
	unsigned at, callee, lines;
};

/* "(3) name" or "(3)". */
static unsigned name_number(struct reading *r, const char *text)
{
	char *rest;
	unsigned number = (unsigned)strtoul(text + 1, &rest, 10);

	CHECK(*text == '(' && number < NAMES);
	number %= NAMES;
	if (rest[1] == ' ')
		snprintf(r->names[number], sizeof(r->names[number]), "%s", rest + 2);
	else
		CHECK(r->names[number][0]); /* defined before its use */
	return number;
}

static void read_line(struct reading *r, const char *line)
{
	static long long calls;
	long long at, net, blocked, preempted;

	if (!strncmp(line, "fn=", 3)) {
		r->at = name_number(r, line + 3);
	} else if (!strncmp(line, "cfn=", 4)) {
		r->callee = name_number(r, line + 4);
	} else if (!strncmp(line, "calls=", 6)) {
		calls = strtoll(line + 6, NULL, 10);
	} else if (sscanf(line, "totals: %lld %lld", &net, &blocked) == 2) {
		r->totals = net;
		r->blocked = blocked;
	} else if (sscanf(line, "%lld %lld %lld %lld", &at, &net, &blocked, &preempted) == 4) {
		r->lines++;
		if (calls) {
			r->calls[r->at][r->callee] += calls;
			r->arc[r->at][r->callee] += net;
			r->into[r->callee] += net;
			calls = 0;
		} else {
			r->self[r->at] += net;
		}
	}
}

static void read_all(struct reading *r, const struct symbolized_profile *n,
                     struct named_below *below)
{
	struct spill out;
	char *line, *rest;

	memset(r, 0, sizeof(*r));
	spill_to(&out, -1, "memory");
	*below = callgrind_write(n, &out);
	rest = out.buf.data;
	while ((line = strsep(&rest, "\n")))
		read_line(r, line);
	buf_done(&out.buf);
	CHECK(!spill_close(&out, true, NULL));
}

static unsigned numbered(const struct reading *r, const char *name)
{
	for (unsigned i = 0; i < NAMES; i++)
		if (!strcmp(r->names[i], name))
			return i;
	CHECK(!*name);
	return 0;
}

static void check_function(const struct reading *r, const char *name, long long self, long long all)
{
	unsigned i = numbered(r, name);

	CHECK_EQ(r->self[i], self);
	CHECK_EQ(r->into[i], all);
}

static void check_calls(const struct reading *r, const char *caller, const char *callee,
                        long long calls)
{
	CHECK_EQ(r->calls[numbered(r, caller)][numbered(r, callee)], calls);
}

static void times_and_calls_are_those_of_the_paths(void)
{
	struct named_fixture x;
	struct named_below below;
	struct reading r;

	fixture_calls(&x);
	fixture_name(&x, 0);
	read_all(&r, &x.n, &below);
	CHECK_EQ(r.totals, 1192);
	CHECK_EQ(r.blocked, 50);
	check_function(&r, "(outside)", 100, 0);
	check_function(&r, "main", 13, 1092);
	check_function(&r, "f", 25, 1065);
	check_function(&r, "g", 40, 1045);
	check_function(&r, "leaf", 1007, 1007);
	check_function(&r, "rec", 7, 7);
	check_calls(&r, "(outside)", "main", 2);
	check_calls(&r, "main", "f", 2);
	check_calls(&r, "f", "g", 4);
	check_calls(&r, "g", "f", 3);
	check_calls(&r, "f", "leaf", 6);
	check_calls(&r, "main", "leaf", 5);
	check_calls(&r, "main", "rec", 1);
	check_calls(&r, "rec", "rec", 2);
	CHECK_EQ(r.arc[numbered(&r, "rec")][numbered(&r, "rec")], 0);
	CHECK_EQ(r.lines, 6 + 8); /* one a function, one a pair */
	fixture_end(&x);
}

static void negative_times_are_left_out_and_reported(void)
{
	struct named_fixture x;
	struct named_below below;
	struct reading r;
	uint32_t process, path;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	path = fixture_call(&x, process, 0, "a", 1, 50);
	fixture_call(&x, process, path, "b", 4, -8);
	fixture_name(&x, 0);
	read_all(&r, &x.n, &below);
	CHECK_EQ(below.rows, 1);
	CHECK_EQ(below.sum, -8);
	CHECK_EQ(r.totals, 50);
	check_function(&r, "b", 0, 0);
	check_calls(&r, "a", "b", 4);
	fixture_end(&x);
}

/* After a reset main() is open without a new call: its time is not counted for the root. */
static void calls_open_at_a_reset_keep_their_time(void)
{
	struct named_fixture x;
	struct named_below below;
	struct reading r;
	uint32_t process, path;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	path = fixture_call(&x, process, 0, "main", 0, 50);
	fixture_call(&x, process, path, "b", 4, 8);
	fixture_name(&x, 0);
	read_all(&r, &x.n, &below);
	check_function(&r, "(outside)", 0, 0);
	check_function(&r, "main", 50, 58);
	check_calls(&r, "(outside)", "main", 1);
	fixture_end(&x);
}

static void deep_recursion_takes_no_more_than_its_time(void)
{
	struct named_fixture x;
	struct named_below below;
	struct reading r;
	uint32_t process, path = 0;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	for (int i = 0; i < 100000; i++)
		path = fixture_call(&x, process, path, i % 2 ? "odd" : "even", 1, 1);
	fixture_name(&x, 0);
	read_all(&r, &x.n, &below);
	check_function(&r, "even", 50000, 100000);
	check_function(&r, "odd", 50000, 99999);
	check_calls(&r, "even", "odd", 50000);
	check_calls(&r, "odd", "even", 49999);
	fixture_end(&x);
}

/* Counters of a damaged file: the ends of the range, and nothing wraps around. */
static void absurd_figures_stay_in_range(void)
{
	struct named_fixture x;
	struct named_below below;
	struct reading r;
	uint32_t process, path;

	fixture_begin(&x);
	process = call_paths_process(x.calls, "p", 7);
	path = fixture_call(&x, process, 0, "a", UINT64_MAX, 1e300);
	path = fixture_call(&x, process, path, "b", UINT64_MAX, 1e300);
	fixture_call(&x, process, path, "b", 1, -1e300);
	path = fixture_call(&x, process, path, "c", 1, -1e300);
	fixture_call(&x, process, path, "c", 1, 0.0 / 0.0);
	fixture_name(&x, 0);
	read_all(&r, &x.n, &below);
	CHECK(r.totals == INT64_MAX && below.sum == INT64_MIN);
	fixture_end(&x);
}

int main(void)
{
	RUN(times_and_calls_are_those_of_the_paths);
	RUN(negative_times_are_left_out_and_reported);
	RUN(calls_open_at_a_reset_keep_their_time);
	RUN(deep_recursion_takes_no_more_than_its_time);
	RUN(absurd_figures_stay_in_range);
	return check_end();
}
