/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing of rules, and the times when they fire, with a simulated /proc. */
#include "check.h"
#include "fixture.h"
#include "session/daemon/trigger.h"
#include "session/daemon/trigger_rule.h"

#include <errno.h>
#include <math.h>

#define SECOND UINT64_C(1000000000)

static void say(const char *name, const char *text)
{
	CHECK(fixture_write(name, text, strlen(text)));
}

static void quiet_machine(void)
{
	CHECK(mkdir(fixture_path("pressure"), 0700) == 0 || errno == EEXIST);
	say("loadavg", "0.50 0.40 0.30 2/300 4711\n");
	say("stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3\n");
	say("meminfo", "MemTotal:        1000 kB\nMemFree:           10 kB\n"
	               "MemAvailable:     800 kB\n");
	say("pressure/cpu", "some avg10=1.50 avg60=0.00 avg300=0.00 total=1\n");
	say("pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
	                   "full avg10=0.00 avg60=90.00 avg300=0.00 total=1\n");
	say("pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
	                       "full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
}

static struct trigger *trigger_of(const char *a, const char *b)
{
	const char *rules[] = {a, b};
	struct error err = {0};
	struct trigger *t = NULL;

	if (trigger_new(&t, rules, b ? 2 : 1, fixture_dir, &err))
		printf("# %s\n", err.text);
	CHECK(t != NULL);
	return t;
}

static bool fires(struct trigger *t, uint64_t second)
{
	return trigger_look(t, second * SECOND, (second + 1000000) * SECOND) != NULL;
}

static struct trigger_rule parsed(const char *text)
{
	struct trigger_rule rule = {0};
	struct error err = {0};

	CHECK_EQ(trigger_rule_parse(text, &rule, &err), 0);
	CHECK_STR(rule.text, text);
	return rule;
}

static void rules_are_read_as_they_are_written(void)
{
	static const struct {
		const char *text;
		enum trigger_rule_kind kind;
		bool above;
		double limit;
	} good[] = {
	        {"load>4", TRIGGER_LOAD, true, 4},
	        {"  load  >  4.25  ", TRIGGER_LOAD, true, 4.25},
	        {"load<0.5", TRIGGER_LOAD, false, 0.5},
	        {"runq>16", TRIGGER_RUNQ, true, 16},
	        {"cpu>90%", TRIGGER_CPU, true, 90},
	        {"cpu>90", TRIGGER_CPU, true, 90},
	        {"cpu < 5 %", TRIGGER_CPU, false, 5},
	        {"mem<10%", TRIGGER_MEM, false, 10},
	        {"mem<100%", TRIGGER_MEM, false, 100},
	        {"cpu.some>20%", TRIGGER_PRESSURE, true, 20},
	        {"io.full>0.01", TRIGGER_PRESSURE, true, 0.01},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct trigger_rule rule = parsed(good[i].text);

		CHECK_EQ(rule.kind, good[i].kind);
		CHECK_EQ(rule.above, good[i].above);
		CHECK(fabs(rule.limit - good[i].limit) < 1e-9);
		trigger_rule_done(&rule);
	}
}

static void names_are_as_long_as_the_kernel_keeps_them(void)
{
	static const char *const names[][2] = {
	        {"process=make", "make"},
	        {" process = make ", "make"},
	        {"exit=a b", "a b"},
	        {"process=a-very-long-program", "a-very-long-pro"},
	        {"process=a-very-long-program*", "a-very-long-program*"},
	        {"exit=cc[12]", "cc[12]"},
	        {"process==", "="},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct trigger_rule rule = parsed(names[i][0]);

		CHECK_EQ(rule.kind, names[i][0][0] == 'e' ? TRIGGER_EXIT : TRIGGER_PROCESS);
		CHECK_STR(rule.name, names[i][1]);
		trigger_rule_done(&rule);
	}
}

static void an_invalid_rule_is_refused_with_the_place(void)
{
	static const char *const bad[][2] = {
	        {"", "letter 1: the rule is empty"},
	        {"   ", "letter 4: the rule is empty"},
	        {"lod>4", "letter 1: unknown name"},
	        {"LOAD>4", "letter 1: unknown name"},
	        {"load.some>4", "letter 1: unknown name"},
	        {"load", "letter 5: < or > is missing here"},
	        {"load=4", "letter 5: < or > is missing here"},
	        {"load>=4", "letter 6: a number is missing here"},
	        {"load>", "letter 6: a number is missing here"},
	        {"load>-1", "letter 6: a number is missing here"},
	        {"load>nan", "letter 6: a number is missing here"},
	        {"load>.5", "letter 6: a number is missing here"},
	        {"load>4%", "letter 7: the rule should end here"},
	        {"load>4.", "letter 7: the rule should end here"},
	        {"load>0x4", "letter 7: the rule should end here"},
	        {"load>12345678901", "letter 6: that number is too long"},
	        {"cpu>101%", "letter 5: a share is 100% at most"},
	        {"cpu>90%%", "letter 8: the rule should end here"},
	        {"cpu>90% x", "letter 9: the rule should end here"},
	        {"process", "letter 8: = is missing here"},
	        {"process>4", "letter 8: = is missing here"},
	        {"process=", "letter 9: a name is missing here"},
	        {"exit=  ", "letter 8: a name is missing here"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct trigger_rule rule = {0};
		struct error err = {0};

		CHECK_EQ(trigger_rule_parse(bad[i][0], &rule, &err), -EINVAL);
		CHECK(strstr(err.text, bad[i][1]) != NULL);
		if (!strstr(err.text, bad[i][1]))
			printf("# %s\n", err.text);
		/* The error lists the valid rules. */
		CHECK(strstr(err.text, "mem<10%") && strstr(err.text, "process=NAME"));
		trigger_rule_done(&rule);
	}
}

static void a_rule_fires_when_it_becomes_true(void)
{
	struct trigger *t;

	quiet_machine();
	t = trigger_of("load>4", NULL);
	CHECK(!fires(t, 1));
	say("loadavg", "4.00 0 0 1/1 1\n");
	CHECK(!fires(t, 2)); /* not more than 4 */
	say("loadavg", "4.01 0 0 1/1 1\n");
	CHECK(fires(t, 3));
	CHECK(!fires(t, 4)); /* it is still true */
	CHECK(!fires(t, 300));
	say("loadavg", "1 0 0 1/1 1\n");
	CHECK(!fires(t, 301));
	say("loadavg", "9 0 0 1/1 1\n");
	CHECK(fires(t, 302));
	CHECK_EQ(trigger_at(t, 0)->fired, 2);
	CHECK_EQ(trigger_at(t, 0)->fired_ns, 302 * SECOND);
	CHECK_EQ(trigger_at(t, 0)->fired_wall_ns, 1000302 * SECOND);
	CHECK(trigger_at(t, 0)->holds && fabs(trigger_at(t, 0)->value - 9) < 1e-9);
	CHECK_EQ(trigger_at(t, 0)->held_back, 0);
	trigger_free(t);
}

static void a_rule_true_from_the_start_does_not_fire(void)
{
	struct trigger *t;

	quiet_machine();
	t = trigger_of("mem<90%", NULL);
	CHECK(!fires(t, 1));
	CHECK(!fires(t, 2));
	say("meminfo", "MemTotal: 1000 kB\nMemAvailable: 950 kB\n");
	CHECK(!fires(t, 3));
	say("meminfo", "MemTotal: 1000 kB\nMemAvailable: 899 kB\n");
	CHECK(fires(t, 4));
	trigger_free(t);
}

static void at_most_once_a_minute(void)
{
	struct trigger *t;

	quiet_machine();
	t = trigger_of("load>4", NULL);
	CHECK(!fires(t, 1));
	for (uint64_t second = 2; second < 62; second += 2) {
		say("loadavg", "5 0 0 1/1 1\n");
		CHECK_EQ(fires(t, second), second == 2);
		say("loadavg", "3 0 0 1/1 1\n");
		CHECK(!fires(t, second + 1));
	}
	CHECK_EQ(trigger_at(t, 0)->fired, 1);
	CHECK_EQ(trigger_at(t, 0)->held_back, 29);
	say("loadavg", "5 0 0 1/1 1\n");
	CHECK(fires(t, 62));
	trigger_free(t);
}

static void the_share_of_the_cpus_is_that_since_the_last_look(void)
{
	struct trigger *t;

	quiet_machine();
	t = trigger_of("cpu>50%", NULL);
	CHECK(!fires(t, 1));
	CHECK(!trigger_at(t, 0)->known);
	say("stat", "cpu  110 0 110 870 10 0 0 0 0 0\n"); /* 20 of 100 */
	CHECK(!fires(t, 2));
	CHECK(fabs(trigger_at(t, 0)->value - 20) < 1e-9);
	say("stat", "cpu  150 5 120 895 15 2 3 10 0 0\n"); /* 60 of 100, 10 stolen */
	CHECK(fires(t, 3));
	CHECK(fabs(trigger_at(t, 0)->value - 60) < 1e-9);
	trigger_free(t);
}

static void pressure_is_of_the_last_ten_seconds(void)
{
	struct trigger *t;

	quiet_machine();
	t = trigger_of("cpu.some>1%", "io.full>50");
	CHECK(!fires(t, 1));
	CHECK(fabs(trigger_at(t, 0)->value - 1.5) < 1e-9);
	say("pressure/io", "some avg10=99.00 avg60=0 avg300=0 total=1\n"
	                   "full avg10=50.10 avg60=0 avg300=0 total=1\n");
	CHECK(fires(t, 2));
	CHECK_EQ(trigger_at(t, 0)->fired, 0);
	CHECK_EQ(trigger_at(t, 1)->fired, 1);
	trigger_free(t);
}

static void a_kernel_without_pressure_says_so_at_once(void)
{
	const char *rules[] = {"load>1", "mem.some>1%"};
	struct error err = {0};
	struct trigger *t;

	quiet_machine();
	CHECK_EQ(unlink(fixture_path("pressure/memory")), 0);
	CHECK_EQ(trigger_new(&t, rules, 2, fixture_dir, &err), -ENOTSUP);
	CHECK(t == NULL);
	CHECK(strstr(err.text, "mem.some") && strstr(err.text, "psi=1"));
}

/* A missing or invalid file does not fire a rule. */
static void unreadable_values_are_unknown(void)
{
	struct trigger *t;

	quiet_machine();
	t = trigger_of("load>4", "mem<10%");
	CHECK(!fires(t, 1));
	say("loadavg", "no numbers");
	say("meminfo", "MemTotal: 0 kB\nMemAvailable: 0 kB\n");
	CHECK(!fires(t, 2));
	CHECK(!trigger_at(t, 0)->known && !trigger_at(t, 1)->known);
	/* The first value after the file returns is a new start. */
	say("loadavg", "7 0 0 1/1 1\n");
	CHECK(!fires(t, 3));
	CHECK(trigger_at(t, 0)->holds);
	trigger_free(t);
}

static bool task(struct trigger *t, enum event_kind kind, int32_t pid, int32_t tid, int32_t parent,
                 uint64_t second)
{
	struct event e = {.kind = kind, .pid = pid, .tid = tid};

	e.fork.parent_pid = e.fork.parent_tid = parent;
	return trigger_task(t, &e, second * SECOND, 0) != NULL;
}

static bool comm(struct trigger *t, int32_t pid, int32_t tid, const char *name, bool exec,
                 uint64_t second)
{
	struct event e = {.kind = EVENT_COMM, .pid = pid, .tid = tid};

	e.comm.name = name;
	e.comm.exec = exec;
	return trigger_task(t, &e, second * SECOND, 0) != NULL;
}

static void a_program_that_starts(void)
{
	struct trigger *t;

	quiet_machine();
	t = trigger_of("process=ma?e*", NULL);
	CHECK(!comm(t, 10, 10, "cc1", true, 1));
	CHECK(!comm(t, 10, 11, "make", false, 2)); /* a thread's name */
	CHECK(comm(t, 10, 10, "make", true, 3));
	CHECK_EQ(trigger_at(t, 0)->pid, 10);
	CHECK(!comm(t, 12, 12, "maker", true, 4)); /* too soon */
	CHECK_EQ(trigger_at(t, 0)->held_back, 1);
	/* A child has its parent's name, but is not a started program. */
	CHECK(!task(t, EVENT_FORK, 13, 13, 10, 70));
	CHECK(!comm(t, 13, 13, "make", false, 71));
	CHECK(comm(t, 13, 13, "make", true, 72));
	/* The process renames itself. */
	CHECK(!comm(t, 14, 14, "sh", true, 140));
	CHECK(comm(t, 14, 14, "made", false, 141));
	CHECK_EQ(trigger_at(t, 0)->fired, 3);
	trigger_free(t);
}

static void a_program_that_ends(void)
{
	struct trigger *t;

	quiet_machine();
	t = trigger_of("exit=make", NULL);
	CHECK(!comm(t, 10, 10, "make", true, 1));
	CHECK(!task(t, EVENT_FORK, 10, 11, 10, 2));
	CHECK(!task(t, EVENT_EXIT, 10, 11, 10, 3)); /* a thread */
	CHECK(!task(t, EVENT_EXIT, 99, 99, 10, 4));
	CHECK(task(t, EVENT_EXIT, 10, 10, 10, 5));
	CHECK(!task(t, EVENT_EXIT, 10, 10, 10, 500)); /* it has exited */
	/* A child that executed no program. */
	CHECK(!comm(t, 20, 20, "make", true, 600));
	CHECK(!task(t, EVENT_FORK, 21, 21, 20, 601));
	CHECK(task(t, EVENT_EXIT, 21, 21, 20, 602));
	/* A child that executed another program. */
	CHECK(!comm(t, 20, 20, "cc1", true, 700));
	CHECK(!task(t, EVENT_EXIT, 20, 20, 1, 701));
	CHECK_EQ(trigger_at(t, 0)->fired, 2);
	trigger_free(t);
}

static void a_running_process_may_end_and_does_not_start(void)
{
	struct trigger *t;

	quiet_machine();
	CHECK(mkdir(fixture_path("4711"), 0700) == 0);
	say("4711/comm", "server\n");
	t = trigger_of("exit=serv*", "process=server");
	CHECK(!comm(t, 4711, 4711, "server", false, 1));
	CHECK(task(t, EVENT_EXIT, 4711, 4711, 1, 2));
	CHECK_EQ(trigger_at(t, 0)->fired, 1);
	CHECK_EQ(trigger_at(t, 1)->fired, 0);
	trigger_free(t);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(rules_are_read_as_they_are_written);
	RUN(names_are_as_long_as_the_kernel_keeps_them);
	RUN(an_invalid_rule_is_refused_with_the_place);
	RUN(a_rule_fires_when_it_becomes_true);
	RUN(a_rule_true_from_the_start_does_not_fire);
	RUN(at_most_once_a_minute);
	RUN(the_share_of_the_cpus_is_that_since_the_last_look);
	RUN(pressure_is_of_the_last_ten_seconds);
	RUN(a_kernel_without_pressure_says_so_at_once);
	RUN(unreadable_values_are_unknown);
	RUN(a_program_that_starts);
	RUN(a_program_that_ends);
	RUN(a_running_process_may_end_and_does_not_start);
	fixture_end();
	return check_end();
}
