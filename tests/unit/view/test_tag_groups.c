/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of functions by rules; the distribution of a function's times. */
#include "tag_report_fixture.h"

#include "format/rules_file.h"

#include <errno.h>

static void add_rule(void *of, const char *group, const char *pattern)
{
	group_rules_rule(of, group, pattern);
}

static const struct tag_group *group_of(const struct tag_groups *g, const char *name)
{
	vec_each (group, &g->groups)
		if (!strcmp(group->name, name))
			return group;
	return NULL;
}

static void the_first_rule_that_fits_decides(void)
{
	static const char rules[] = "# by hand\n"
	                            "net: in_* spl* # and its locks\n"
	                            "  memory:\tbcopy\r\n"
	                            "\n"
	                            "late: in_cksum nothing_*\n"
	                            "net: ma?n";
	struct made *m = device();
	struct group_rules *r = group_rules_new();
	struct tag_groups *g;
	uint64_t net = 0;

	m->summary->elapsed += 10;
	m->summary->outside = 10;
	CHECK_EQ(rules_file_parse(rules, sizeof(rules) - 1, "rules", add_rule, r, NULL), 0);
	g = tag_groups_new(r, report(m));
	CHECK_EQ(group_of(g, "net")->net, 167000 + 78000 + 81905);
	CHECK_EQ(group_of(g, "net")->calls, 1126 + 9000 + 3);
	CHECK_EQ(group_of(g, "net")->functions, 3);
	CHECK_EQ(group_of(g, "memory")->net, 165343);
	CHECK_EQ(group_of(g, "late")->net, 0);
	CHECK_EQ(group_of(g, "(outside)")->net, 10);
	CHECK(!group_of(g, "(other)"));
	vec_each (group, &g->groups)
		net += group->net;
	CHECK_EQ(net, m->report->run);
	print(m, false, g, NULL);
	CHECK(strstr(m->out.data,
	             "326905  10129          3   65.74  66.41  ***********       net\n") != NULL);
	CHECK(strstr(m->out.data, "patterns that matched no function: in_cksum nothing_*\n") !=
	      NULL);
	CHECK(strstr(m->out.data, " late\n") == NULL);
	tag_groups_free(g);
	group_rules_free(r);
	done(m);
}

/* The same groups in JSON: each with its sums, and those without a function, too. */
static void groups_are_in_json(void)
{
	static const char rules[] = "net: in_* spl*\nmemory: bcopy\nlate: nothing_*\n";
	struct made *m = device();
	struct group_rules *r = group_rules_new();
	struct tag_groups *g;

	CHECK_EQ(rules_file_parse(rules, sizeof(rules) - 1, "rules", add_rule, r, NULL), 0);
	g = tag_groups_new(r, report(m));
	json(m);
	CHECK(strstr(m->out.data, "\"groups\"") == NULL);
	print(m, true, g, NULL);
	CHECK(strstr(m->out.data, "\"groups\": [") != NULL);
	CHECK(strstr(m->out.data, "\"group\": \"net\"") != NULL);
	CHECK(strstr(m->out.data, "\"group\": \"memory\"") != NULL);
	CHECK(strstr(m->out.data, "\"group\": \"late\"") != NULL);
	CHECK(strstr(m->out.data, "\"net_ns\": 245000000") != NULL);
	tag_groups_free(g);
	group_rules_free(r);
	done(m);
}

/* C++ names match with and without their parameters. */
static void rules_match_names_in_all_their_forms(void)
{
	static const char *const patterns[] = {"foo::bar(int)", "foo::bar", "foo::*",
	                                       "_ZN3foo3barEi"};
	struct made *m = threads();

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		struct group_rules *r = group_rules_new();
		struct tag_groups *g;

		group_rules_rule(r, "cpp", patterns[i]);
		g = tag_groups_new(r, report(m));
		CHECK_EQ(group_of(g, "cpp")->net, 4000000);
		CHECK_EQ(group_of(g, "(other)")->net, 4000000);
		tag_groups_free(g);
		group_rules_free(r);
	}
	done(m);
}

/* The file of a function is its program. */
static void qualifiers_name_programs(void)
{
	struct made *m = threads();
	struct group_rules *r = group_rules_new();
	struct tag_groups *g;

	group_rules_rule(r, "none", "another!");
	group_rules_rule(r, "none", "*");
	group_rules_rule(r, "kernel", "kernel!");
	group_rules_rule(r, "kernel", "*");
	group_rules_rule(r, "worker", "cc?!");
	group_rules_rule(r, "worker", "foo::bar");
	g = tag_groups_new(r, report(m));
	CHECK_EQ(group_of(g, "none")->functions, 0);
	CHECK_EQ(group_of(g, "kernel")->functions, 0);
	CHECK_EQ(group_of(g, "worker")->functions, 1);
	CHECK(!g->used[0] && !g->used[1] && g->used[2]);
	tag_groups_free(g);
	group_rules_free(r);
	done(m);
}

static void bad_rules_name_their_line(void)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
	        {"net: a\nno colon\n", "rules, line 2: no ':' after a group's name; a line is"},
	        {"net: a\n\n# c\n: a b", "rules, line 4: no group name before the ':'"},
	        {"net: # nothing", "rules, line 1: no pattern after the ':'"},
	        {"(other): a",
	         "rules, line 1: groups that begin with '(' are reserved for the report"},
	        {"net: a libc.so*!", "rules, line 1: no pattern after the last FILE!"},
	        {"net: a\x01", "rules, line 1: control characters"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct group_rules *r = group_rules_new();
		struct error err = {0};

		CHECK_EQ(rules_file_parse(bad[i].text, strlen(bad[i].text), "rules", add_rule, r,
		                          &err),
		         -EINVAL);
		CHECK(!strncmp(err.text, bad[i].error, strlen(bad[i].error)));
		group_rules_free(r);
	}
}

static void percentiles_lie_in_their_steps(void)
{
	struct tag_histogram h = {0};
	struct tag_row row = {.function = "f",
	                      .calls = 100,
	                      .net = 5000,
	                      .certain = {100, {5000, 10, 900}, {5000, 10, 900}}};
	struct tag_distribution *s;
	histogram_steps coarse = {0};
	uint64_t calls = 0;

	h.count[step_of(10)] = 50;
	h.count[step_of(100)] = 40;
	h.count[step_of(500)] = 9;
	h.count[step_of(900)] = 1;
	s = tag_distribution_new(&row, &h);
	CHECK_EQ(s->count, 100);
	CHECK_EQ(s->steps.items[0].count, 50);
	CHECK_EQ(vec_last(&s->steps)->count, 1);
	CHECK(s->percentiles[0].step.from <= 10 && 10 < s->percentiles[0].step.to);
	CHECK(s->percentiles[1].step.from <= 100 && 100 < s->percentiles[1].step.to);
	CHECK(s->percentiles[2].step.from <= 500 && 500 < s->percentiles[2].step.to);
	tag_distribution_coarse(s, 5, &coarse);
	CHECK(coarse.count <= 5 && coarse.count >= 2);
	CHECK_EQ(coarse.items[0].from, s->steps.items[0].from);
	CHECK_EQ(vec_last(&coarse)->to, vec_last(&s->steps)->to);
	for (size_t i = 0; i < coarse.count; i++) {
		calls += coarse.items[i].count;
		CHECK(!i || coarse.items[i].from == coarse.items[i - 1].to);
	}
	CHECK_EQ(calls, 100);
	vec_done(&coarse);
	tag_distribution_free(s);
	/* Of ten calls, the longest is the 99th percentile. */
	h = (struct tag_histogram){.count = {0}};
	h.count[step_of(10)] = 9;
	h.count[step_of(900)] = 1;
	s = tag_distribution_new(&row, &h);
	CHECK(s->percentiles[1].step.from <= 10 && 10 < s->percentiles[1].step.to);
	CHECK(s->percentiles[2].step.from <= 900 && 900 < s->percentiles[2].step.to);
	tag_distribution_free(s);
}

static void a_histogram_of_no_calls_is_empty(void)
{
	struct tag_histogram h = {.total = true};
	struct tag_row row = {.function = "f"};
	struct tag_distribution *s = tag_distribution_new(&row, &h);
	struct made *m = device();

	CHECK_EQ(s->count, 0);
	CHECK_EQ(s->steps.count, 0);
	print(m, false, NULL, s);
	CHECK(strstr(m->out.data, "f, total (with callees) time of a call\n0 calls\n") != NULL);
	tag_distribution_free(s);
	done(m);
}

int main(void)
{
	RUN(the_first_rule_that_fits_decides);
	RUN(groups_are_in_json);
	RUN(rules_match_names_in_all_their_forms);
	RUN(qualifiers_name_programs);
	RUN(bad_rules_name_their_line);
	RUN(percentiles_lie_in_their_steps);
	RUN(a_histogram_of_no_calls_is_empty);
	return check_end();
}
