/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status of a session as text and as JSON: every figure has its place. */
#include "check.h"
#include "base/text/shell_word.h"
#include "output/document_output.h"
#include "view/status/status_document.h"

#include <stdlib.h>

static void show(const struct session_account *a, bool json, struct buf *out)
{
	const struct document_text_options plain = {0};
	const struct document_reader reader = {.program = json};
	struct document d;

	document_init(&d);
	status_document_fill(&d, a, &reader);
	if (json)
		document_json_print(&d, false, NULL, out);
	else
		document_text_print(&d, &plain, NULL, out);
	document_done(&d);
}

static struct session_account account_of(enum session_state state, enum session_kind kind)
{
	struct session_account a = {
	        .name = xstrdup("day"),
	        .what = xstrdup("the whole machine at 997 Hz"),
	        .output = xstrdup("/x/perf.data"),
	        .state = state,
	        .kind = kind,
	        .pid = 4711,
	        .started_wall_ns = UINT64_C(1700000000000000000),
	        .now_wall_ns = UINT64_C(1700000010000000000),
	        .elapsed_ns = 10000000000,
	        .ticks_known = 1,
	        .machine_wide = 1,
	        .ticks_user = 1000,
	        .ticks_system = 200,
	        .ticks_idle = 18700,
	        .ticks_unobserved = 100,
	        .samples = 22000,
	        .records = 30000,
	        .bytes = 2500000,
	        .observer_cpu_ns = 20000000,
	        .period_ns = 1003009,
	        .period_asked_ns = 1003009,
	};

	vec_push(&a.cpus, (struct session_account_cpu){0, 4000000, 1000, 100000, 2000, 0});
	vec_push(&a.cpus, (struct session_account_cpu){1, 4000000, 2000, 400000, 6000, 7});
	a.lost_records = 7;
	return a;
}

static void add_held(struct session_account *a)
{
	a->held_ns = 42500000000;
	a->held_most = 64000000;
	a->left_samples = 1200;
	vec_push(&a->rules, (struct session_account_rule){
	                            .text = xstrdup("load>4"), .known = 1, .value_milli = 3420});
	vec_push(&a->rules,
	         (struct session_account_rule){
	                 .text = xstrdup("mem<99"), .known = 1, .holds = 1, .value_milli = 42000});
	vec_push(&a->rules,
	         (struct session_account_rule){.text = xstrdup("exit=cc"),
	                                       .fired = 1,
	                                       .held_back = 3,
	                                       .fired_wall_ns = UINT64_C(1700000005000000000)});
}

static void the_end_is_encoded_completely(void)
{
	struct session_account a = account_of(SESSION_ENDED, SESSION_FILE);
	struct buf out = {0};

	a.end = SESSION_END_STOPPED;
	show(&a, false, &out);
	CHECK_STR(
	        buf_text(&out),
	        "Session day: stopped\n"
	        "sampled     the whole machine at 997 Hz\n"
	        "elapsed     2023-11-14 22:13:20 to 2023-11-14 22:13:30, 10.000 s\n"
	        "ticks       20,000: 1,000 user, 200 system, 18,700 idle, 100 unobserved\n"
	        "samples     22,000\n"
	        "buffers     at most 400.0 KB of 4.0 MB used (10.0 %, CPU 1), 4.0 KB on average;\n"
	        "            8.0 MB for 2 CPUs\n"
	        "dropped     7 records: the buffers were full; --memory makes them larger\n"
	        "cost        20.00 ms of CPU time by the session itself (0.2 % of a CPU)\n"
	        "written     2.5 MB in /x/perf.data\n"
	        "\n"
	        "CPU  buffer    used  average   at most   share  dropped\n"
	        "  0  4.0 MB  1.0 KB   2.0 KB  100.0 KB   2.5 %        0\n"
	        "  1  4.0 MB  2.0 KB   6.0 KB  400.0 KB  10.0 %        7\n"
	        "\n"
	        "Read it with 'assay report /x/perf.data'.\n");
	buf_done(&out);
	session_account_done(&a);
}

static void a_ring_holds_and_a_store_is_read_as_one(void)
{
	struct session_account a = account_of(SESSION_RUNNING, SESSION_RING);
	struct buf out = {0};

	add_held(&a);
	a.snapshots = 2;
	a.snapshot = xstrdup("/x/s");
	a.period_ns = 10030090;
	a.ticks_known = 0;
	show(&a, false, &out);
	CHECK(strstr(out.data, "Session day: running\n"));
	CHECK(strstr(out.data, "\nsince       2023-11-14 22:13:20, 10.000 s\n"));
	CHECK(strstr(out.data, "\nprocess     4711\n"));
	CHECK(strstr(out.data,
	             "\nticks       not known: this kind of session does not count them\n"));
	CHECK(strstr(out.data, "\nrate        100 Hz now, 997 Hz requested\n"));
	a.state = SESSION_ENDED;
	buf_clear(&out);
	show(&a, false, &out);
	CHECK(strstr(out.data, "\nrate        100 Hz at the end, 997 Hz requested\n"));
	a.state = SESSION_RUNNING;
	buf_clear(&out);
	show(&a, false, &out);
	CHECK(strstr(out.data,
	             "\nheld        2.5 MB of 64.0 MB in memory, the last 42.500 s (1,200 "
	             "earlier\n            samples have left it), for /x/perf.data\n"));
	CHECK(strstr(out.data, "\nrule        load>4: 3.42 now, has not held\n"));
	CHECK(strstr(out.data, "\nrule        mem<99: 42 now, has held since the start\n"));
	CHECK(strstr(out.data,
	             "\nrule        exit=cc: held 1 time, last at 2023-11-14 22:13:25; 3 times "
	             "more\n            within a minute of the last\n"));
	CHECK(strstr(out.data, "\nsnapshots   2, the last in /x/s\n"));
	CHECK(!strstr(out.data, "Read it"));
	a.state = SESSION_ENDED;
	a.kind = SESSION_STORE;
	buf_clear(&out);
	a.ticks_known = 1;
	a.machine_wide = 0;
	show(&a, false, &out);
	CHECK(strstr(out.data, "\nticks       1,200: 1,000 user, 200 system\n"));
	CHECK(strstr(out.data, "\nRead it with 'assay report --store /x/perf.data'.\n"));
	buf_done(&out);
	session_account_done(&a);
}

static void an_unwritten_ring_has_no_file_to_read(void)
{
	struct session_account a = account_of(SESSION_ENDED, SESSION_RING);
	struct buf out = {0};

	a.end = SESSION_END_ERROR;
	a.error = xstrdup("no\033[1m room");
	a.bytes = 0;
	vec_push(&a.notes, xstrdup("a note"));
	show(&a, false, &out);
	CHECK(strstr(out.data, "Session day: ended by an error\n"));
	CHECK(strstr(out.data, "\nerror       no\\x1b[1m room\nnote        a note\n"));
	CHECK(strstr(out.data, "\nwritten     nothing\n"));
	CHECK(!strstr(out.data, "Read it"));
	buf_done(&out);
	session_account_done(&a);
}

static void a_path_is_written_as_a_shell_takes_it(void)
{
	static const char *const paths[][2] = {
	        {"/x/perf.data-20260131T120000", "/x/perf.data-20260131T120000"},
	        {"/x/my file", "\"/x/my file\""},
	        {"/x/$a`b\"c\\", "\"/x/\\$a\\`b\\\"c\\\\\""},
	        {"it's", "\"it's\""},
	        {"/\303\251t\303\251", "/\303\251t\303\251"},
	        {"", "\"\""},
	        {"/x/a\033[2J\xe2\x82'", "$'/x/a\\x1b[2J\\xe2\\x82\\''"},
	        {"/x/\xc2\x9b\xc2", "$'/x/\\xc2\\x9b\\xc2'"},
	};
	struct session_account a = account_of(SESSION_ENDED, SESSION_STORE);
	struct buf out = {0};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		buf_clear(&out);
		shell_word_add(&out, paths[i][0]);
		CHECK_STR(buf_text(&out), paths[i][1]);
	}
	free(a.output);
	a.output = xstrdup("/x/my file");
	show(&a, false, &out);
	CHECK(strstr(out.data, "\nRead it with 'assay report --store \"/x/my file\"'.\n"));
	buf_done(&out);
	session_account_done(&a);
}

static void with_many_cpus_the_fullest_buffers_are_shown(void)
{
	struct session_account a = account_of(SESSION_RUNNING, SESSION_FILE);
	struct buf out = {0};

	for (uint64_t cpu = 2; cpu < 20; cpu++)
		vec_push(&a.cpus, (struct session_account_cpu){cpu, 4000000, 0, cpu * 1000, 0, 0});
	show(&a, false, &out);
	CHECK(strstr(out.data, "\n  1  4.0 MB   2.0 KB   6.0 KB  400.0 KB  10.0 %         7\n"));
	CHECK(strstr(out.data, "\n 19  4.0 MB  0 bytes"));
	CHECK(!strstr(out.data, "\n  2  4.0 MB"));
	CHECK(strstr(out.data, "\n     4.0 MB  0 bytes  0 bytes    5.0 KB   0.1 %  [4 more]\n"));
	buf_done(&out);
	session_account_done(&a);
}

static void json_has_nulls_for_what_is_not_known(void)
{
	struct session_account a = account_of(SESSION_RUNNING, SESSION_RING);
	struct buf out = {0};

	add_held(&a);
	show(&a, true, &out);
	CHECK(strstr(out.data, "\"state\": \"running\""));
	CHECK(strstr(out.data, "\"end\": null"));
	CHECK(strstr(out.data, "\"all\": 20000"));
	CHECK(strstr(out.data, "\"used_max_bytes\": 400000"));
	CHECK(strstr(out.data, "\"held_ns\": 42500000000"));
	CHECK(strstr(out.data, "\"rule\": \"load>4\""));
	CHECK(strstr(out.data, "\"value\": 3.42"));
	CHECK(strstr(out.data, "\"value\": null"));
	CHECK(strstr(out.data, "\"fired_ns\": 1700000005000000000"));
	a.machine_wide = 0;
	buf_clear(&out);
	show(&a, true, &out);
	CHECK(strstr(out.data, "\"user\": 1000"));
	CHECK(strstr(out.data, "\"idle\": null"));
	CHECK(strstr(out.data, "\"unobserved\": null"));
	CHECK(strstr(out.data, "\"all\": 1200"));
	a.ticks_known = 0;
	a.state = SESSION_ENDED;
	a.end = SESSION_END_TARGETS;
	buf_clear(&out);
	show(&a, true, &out);
	CHECK(strstr(out.data, "\"all\": null"));
	CHECK(strstr(out.data, "\"end\": \"processes gone\""));
	CHECK(strstr(out.data, "\"sample_cost_ns\": null"));
	CHECK(strstr(out.data, "\"held_ns\": null"));
	buf_done(&out);
	session_account_done(&a);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	RUN(the_end_is_encoded_completely);
	RUN(a_ring_holds_and_a_store_is_read_as_one);
	RUN(an_unwritten_ring_has_no_file_to_read);
	RUN(a_path_is_written_as_a_shell_takes_it);
	RUN(with_many_cpus_the_fullest_buffers_are_shown);
	RUN(json_has_nulls_for_what_is_not_known);
	return check_end();
}
