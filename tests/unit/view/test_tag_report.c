/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report on event tags, from sums that are given here: rows, orders, shares, and notes on lost
 * events. test_tag_engine tests how the sums are computed.
 */
#include "tag_report_fixture.h"

#include <math.h>

static void a_device_with_microseconds_has_whole_ones(void)
{
	struct made *m = device();

	CHECK_STR(text(m), "Elapsed time          497272 us  (28060 tags)\n"
	                   "Accumulated run time  492248 us  (98.99 %)\n"
	                   "Idle time               5024 us  ( 1.01 %)\n"
	                   "Switches                   7     (swtch)\n"
	                   "Profiled functions         5     (10 triggers)\n"
	                   "\n"
	                   "Elapsed     Net  Calls  (max/avg/min)    % real  % net  Function\n"
	                   " 168000  167000   1126  (892/148/11)      33.58  33.93  in_cksum\n"
	                   " 166218  165343    889  (1089/185/2)      33.25  33.59  bcopy\n"
	                   " 492248   81905      3  (81000/27301/5)   16.47  16.64  main\n"
	                   "  78000   78000   9000  (24/8/0)          15.69  15.85  splnet\n");
	done(m);
}

/* All orders, by the letters that functions begin with. */
static void rows_are_in_the_requested_order(void)
{
	static const struct {
		const char *word, *rows;
	} orders[] = {
	        {"net", "ibms"}, {"real", "ibms"}, {"elapsed", "mibs"}, {"calls", "sibm"},
	        {"max", "mbis"}, {"avg", "mbis"},  {"min", "imbs"},     {"name", "bims"},
	};
	struct made *m = device();

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		char rows[5] = "";

		CHECK(tag_order_known(orders[i].word));
		m->options.request.by = &orders[i].word;
		m->options.request.by_count = 1;
		report(m);
		for (size_t k = 0; k < m->report->table->shown && k < 4; k++)
			rows[k] = row_of(m, k)->function[0];
		CHECK_STR(rows, orders[i].rows);
	}
	CHECK(!tag_order_known("comm"));
	CHECK(!tag_order_known("ne"));
	done(m);
}

/* Among equals the next order counts. */
static void a_second_order_parts_equals(void)
{
	static const char *const orders[] = {"calls", "max"};
	struct made *m = make(1000000);
	uint32_t names = program(m, "", true);

	timed(m, names, 2, "a", 10, 10, 5, 3, 1);
	timed(m, names, 4, "b", 30, 30, 5, 9, 1);
	timed(m, names, 6, "c", 20, 20, 6, 9, 1);
	m->summary->elapsed = 60;
	m->options.request.by = orders;
	m->options.request.by_count = 2;
	report(m);
	CHECK_STR(row_of(m, 0)->function, "c");
	CHECK_STR(row_of(m, 1)->function, "b");
	CHECK_STR(row_of(m, 2)->function, "a");
	done(m);
}

/* The net of all rows, with the time outside and the rows that -n omits, is the run time. */
static void net_of_all_rows_is_the_run_time(void)
{
	struct made *m = device();
	const struct row_set *t;
	size_t net = 0, share = 0;
	int64_t sum;
	double shares;

	m->summary->elapsed += 4000;
	m->summary->outside = 4000;
	m->options.request.lines = 2;
	t = report(m)->table;
	CHECK_EQ(t->order.count, 5);
	CHECK_EQ(t->shown, 2);
	net = (size_t)(column_named(t->source, "net") - t->source->columns.items);
	share = (size_t)(column_named(t->source, "share") - t->source->columns.items);
	sum = t->rest[net].i;
	shares = t->rest[share].d;
	for (size_t i = 0; i < t->shown; i++) {
		sum += (int64_t)row_of(m, i)->net;
		shares += tag_share(row_of(m, i)->net, m->report->run);
	}
	CHECK_EQ(sum, m->report->run);
	CHECK_EQ(sum, 497272 + 4000 - 5024);
	CHECK_EQ(t->total[net].i, sum);
	CHECK(shares > 0.9999 && shares < 1.0001);
	CHECK_EQ(t->rest[column_named(t->source, "calls") - t->source->columns.items].i, 9003);
	text(m);
	CHECK(strstr(buf_text(&m->out), "  [3 more]\n") != NULL);
	m->options.request.lines = 0;
	text(m);
	CHECK(strstr(buf_text(&m->out), "(outside)\n") != NULL);
	CHECK(strstr(buf_text(&m->out), "more]") == NULL);
	done(m);
}

static void small_rows_are_summed_up_below_a_limit(void)
{
	static const char *const order = "name";
	struct made *m = device();

	m->options.request.limit = 0.2;
	m->options.request.by = &order;
	m->options.request.by_count = 1;
	report(m);
	CHECK_EQ(m->report->table->shown, 2);
	CHECK_STR(row_of(m, 0)->function, "bcopy");
	CHECK_STR(row_of(m, 1)->function, "in_cksum");
	text(m);
	CHECK(strstr(m->out.data, "159905   9003                  32.16  32.48  [<20%: 2 more]\n"));
	CHECK(strstr(json(m), "\"net_ns\": 159905000") != NULL);
	done(m);
}

static void shares_are_rounded_and_averages_cut_off(void)
{
	struct tag_range range = {.calls = 889, .net.sum = 165343};

	CHECK_EQ(tag_range_average(&range, &range.net), 185); /* 185.99 */
	range.calls = 0;
	CHECK_EQ(tag_range_average(&range, &range.net), 0);
	CHECK_EQ(tag_hundredths(492248, 497272), 9899);
	CHECK_EQ(tag_hundredths(1, 3), 3333);
	CHECK_EQ(tag_hundredths(2, 3), 6667);
	CHECK_EQ(tag_hundredths(1, 20000), 1); /* half of a hundredth is rounded up */
	CHECK_EQ(tag_hundredths(1, 20001), 0);
	CHECK_EQ(tag_hundredths(5, 0), 0);
	/* no overflow: 500 years of ns */
	CHECK_EQ(tag_hundredths(UINT64_MAX / 2, UINT64_MAX), 5000);
}

static void threads_have_their_waiting_and_their_span(void)
{
	struct made *m = threads();

	CHECK_STR(text(m),
	          "Elapsed time          10,000,000 ns  (4,004 tags)\n"
	          "Accumulated run time   8,000,000 ns  (80.00 %)\n"
	          "Idle time              2,000,000 ns  (20.00 %)\n"
	          "  blocked              1,500,000 ns  (15.00 %)\n"
	          "  preempted              500,000 ns  ( 5.00 %)\n"
	          "Profiled functions             3     (7 triggers)\n"
	          "Span                   9,000,000 ns  (elapsed is the sum over 2 threads)\n"
	          "\n"
	          "  Elapsed        Net  Calls  (max/avg/min)                    % real  % net  "
	          "Function\n"
	          "4,000,000  4,000,000  2,000  (9,000/2,000/1,500)               40.00  50.00  "
	          "foo::bar(int)\n"
	          "3,000,000  3,000,000      1  (3,000,000/3,000,000/3,000,000)   30.00  37.50  "
	          "main [as]\n"
	          "5,000,000  1,000,000      1  (1,000,000/1,000,000/1,000,000)   10.00  12.50  "
	          "main [cc1]\n"
	          "\n"
	          "Times  Inline tag\n"
	          "   12  PASS\n"
	          "\n"
	          "- 2 threads, 2 processes\n");
	done(m);
}

static void times_are_in_the_unit_asked_for(void)
{
	struct made *m = threads();

	m->options.unit = tag_time_unit_parse("us");
	m->summary->elapsed += 500; /* rounded: up */
	text(m);
	CHECK(strstr(m->out.data, "Elapsed time          10,001 us  (4,004 tags)\n") != NULL);
	/* 9000, 2000 and 1500 ns: truncated */
	CHECK(strstr(m->out.data, "(9/2/1)") != NULL);
	m->options.unit = tag_time_unit_parse("ms");
	text(m);
	CHECK(strstr(m->out.data, "Elapsed time          10 ms  (4,004 tags)\n") != NULL);
	CHECK_EQ(tag_time_unit_parse("s"), TAG_UNIT_FITTING);
	CHECK_EQ(tag_time_unit_parse(NULL), TAG_UNIT_FITTING);
	done(m);
}

/* If calls take more than 10 us, ns are not needed. */
static void the_unit_fits_the_calls(void)
{
	struct made *m = make(1000000000);
	uint32_t names = program(m, "x", false);

	timed(m, names, 2, "slow", 90000000, 90000000, 90, 2000000, 500000);
	m->summary->elapsed = 90000000;
	CHECK_EQ(report(m)->scale.time.ns, 1000);
	m->summary->functions.items[0].certain.calls = 2;
	CHECK_EQ(report(m)->scale.time.ns, 1000000);
	m->summary->functions.items[0].certain.calls = 90000;
	CHECK_EQ(report(m)->scale.time.ns, 1);
	/* A clock of microseconds has no ns. */
	m->recording.clock.hz = 1000000;
	CHECK_EQ(report(m)->scale.time.ns, 1000);
	CHECK(!report(m)->scale.time.plain); /* of no device */
	done(m);
}

/* A program that ran twice has one row per function, with the sums of its streams. */
static void processes_of_one_program_share_their_rows(void)
{
	struct made *m = make(1000000000);
	uint32_t first = program(m, "cc1", false), second = program(m, "cc1", false);

	timed(m, first, 2, "main", 100, 60, 2, 40, 20);
	timed(m, second, 8, "main", 50, 30, 1, 30, 30);
	timed(m, second, 10, "parse", 20, 20, 1, 20, 20);
	m->summary->elapsed = 110;
	report(m);
	CHECK_EQ(m->report->table->order.count, 2);
	CHECK_EQ(row_of(m, 0)->net, 90);
	CHECK_EQ(row_of(m, 0)->elapsed, 150);
	CHECK_EQ(row_of(m, 0)->calls, 3);
	CHECK_EQ(tag_row_range(row_of(m, 0))->net.max, 40);
	CHECK_EQ(tag_row_range(row_of(m, 0))->net.min, 20);
	CHECK(!row_of(m, 0)->several);
	CHECK(tag_report_is_of(m->report, 0, row_of(m, 0)));
	CHECK(tag_report_is_of(m->report, 1, row_of(m, 0)));
	CHECK(!tag_report_is_of(m->report, 2, row_of(m, 0)));
	done(m);
}

static void static_functions_of_two_files_are_two_rows(void)
{
	struct made *m = make(1000000000);
	uint32_t names = program(m, "x", false);

	timed(m, names, 2, "parse@a.c", 60, 60, 1, 60, 60);
	timed(m, names, 4, "parse@b.c", 40, 40, 1, 40, 40);
	m->summary->elapsed = 100;
	report(m);
	CHECK_EQ(m->report->table->order.count, 2);
	CHECK(strcmp(row_of(m, 0)->function, row_of(m, 1)->function) != 0);
	CHECK(!row_of(m, 0)->several);
	done(m);
}

static void tags_without_a_name_are_rows_too(void)
{
	struct made *m = make(1000000000);
	uint32_t names = program(m, "x", false);

	timed(m, names, 4000, NULL, 60, 60, 1, 60, 60);
	timed(m, UINT32_MAX, 4002, NULL, 40, 40, 1, 40, 40);
	m->summary->elapsed = 100;
	m->summary->damage.unknown_tags = 4;
	text(m);
	CHECK_STR(row_of(m, 0)->function, "tag 4000");
	CHECK_STR(row_of(m, 1)->function, "tag 4002");
	CHECK(strstr(m->out.data, "- 4 events have tags that no names file has") != NULL);
	done(m);
}

/* Each kind of damage is reported with its count; without damage there is no note. */
static void losses_and_repairs_are_reported(void)
{
	static const struct {
		size_t at;
		const char *many, *one;
	} kinds[] = {
	        {offsetof(struct tag_damage, lost), "1,234 events were lost", "1 event was lost"},
	        {offsetof(struct tag_damage, gaps), "1,234 gaps", "1 gap"},
	        {offsetof(struct tag_damage, missing_exits), "1,234 calls ended without an exit",
	         "1 call ended without an exit"},
	        {offsetof(struct tag_damage, unmatched_exits), "1,234 exits have no entry",
	         "1 exit has no entry"},
	        {offsetof(struct tag_damage, inherited_exits), "1,234 exits are of a function",
	         "1 exit is of a function"},
	        {offsetof(struct tag_damage, unknown_tags), "1,234 events have tags",
	         "1 event has a tag"},
	        {offsetof(struct tag_damage, guesses), "1,234 switches could have been",
	         "1 switch could have been"},
	        {offsetof(struct tag_damage, backwards), "1,234 packets begin", "1 packet begins"},
	};
	struct made *m = threads();
	size_t before = strlen(text(m));

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint64_t *count = (uint64_t *)((char *)&m->summary->damage + kinds[i].at);

		*count = 1234;
		CHECK(strstr(text(m), kinds[i].many) != NULL);
		*count = 1;
		CHECK(strstr(text(m), kinds[i].one) != NULL);
		*count = 0;
		CHECK_EQ(strlen(text(m)), before);
	}
	done(m);
}

static void uncertain_and_open_calls_are_marked(void)
{
	struct made *m = threads();

	m->summary->functions.items[1].uncertain.calls = 3;
	m->summary->functions.items[0].open = 1;
	text(m);
	CHECK(strstr(m->out.data, "foo::bar(int)  ~3\n") != NULL);
	CHECK(strstr(m->out.data, "main [cc1]  open 1\n") != NULL);
	CHECK(strstr(m->out.data, "- 3 calls have uncertain times") != NULL);
	CHECK(strstr(m->out.data, "- 1 call had not ended") != NULL);
	done(m);
}

/*
 * Maximum, average and minimum are of the same calls: of certain ones, or of uncertain ones if
 * there are no others. Calls whose times are not complete are in none, but their time is in net.
 */
static void ranges_are_of_complete_calls(void)
{
	const struct tag_range some = {3, {165, 40, 70}, {300, 90, 110}};
	const struct tag_range others = {1, {1, 1, 1}, {2, 2, 2}};
	struct made *m = make(1000000);
	struct tag_function *f;

	timed(m, program(m, "x", true), 2, "f", 1000, 1000, 5, 70, 40);
	f = &m->summary->functions.items[0];
	f->certain = some;
	f->uncertain = others;
	f->open = 1;
	report(m);
	CHECK_EQ(tag_row_range(row_of(m, 0))->calls, 3);
	CHECK_EQ(tag_row_range(row_of(m, 0))->net.min, 40);
	CHECK(strstr(text(m), "(70/55/40)") != NULL);
	f->certain = TAG_RANGE_NONE;
	f->uncertain = some;
	CHECK(strstr(text(m), "(70/55/40)") != NULL);
	f->uncertain = TAG_RANGE_NONE;
	CHECK(strstr(text(m), "(70/") == NULL);
	CHECK_EQ(row_of(m, 0)->net, 1000);
	done(m);
	/* Two processes of one program share a row. */
	m = make(1000000);
	timed(m, program(m, "x", true), 2, "f", 110, 110, 2, 70, 40);
	*function(m, program(m, "x", true), 2, "f", TAG_FUNCTION) = (struct tag_function){
	        .tag = 2, .names = 1, .calls = 1, .certain = TAG_RANGE_NONE, .uncertain = others};
	report(m);
	CHECK_EQ(m->report->table->order.count, 1);
	CHECK_EQ(row_of(m, 0)->calls, 3);
	CHECK_EQ(tag_row_range(row_of(m, 0))->calls, 2);
	CHECK_EQ(tag_row_range(row_of(m, 0))->net.min, 40);
	done(m);
}

/*
 * Two functions with equal net: the short one is nearly all triggers. The bounds hold for any cost
 * of a trigger between the least and the most, and are not cut at 0.
 */
static void shares_without_triggers_have_bounds(void)
{
	struct made *m = make(1000000000);
	uint32_t names = program(m, "x", false);
	const struct tag_row *low, *high;

	m->summary->elapsed = 20000;
	timed(m, names, 2, "long", 10000, 10000, 10, 1000, 1000);
	timed(m, names, 4, "short", 10000, 10000, 700, 20, 10);
	m->summary->functions.items[0].events = 10;
	m->summary->functions.items[1].events = 700;
	m->summary->tags = 710;
	CHECK(strstr(text(m), "does not say how much time triggers add") != NULL);
	CHECK(strstr(json(m), "\"trigger_most_ns\": null") != NULL);
	m->recording.trigger = (struct tag_trigger_cost){5000, 15000};
	report(m);
	low = row_of(m, strcmp(row_of(m, 0)->function, "short") ? 1 : 0);
	high = row_of(m, strcmp(row_of(m, 0)->function, "short") ? 0 : 1);
	/* long: 9,850 to 9,950 ns; short: -500 to 6,500 ns, and 3,000 if a trigger is 10 ns */
	CHECK(fabs(high->work.low - 9850.0 / (9850 + 6500)) < 1e-9);
	CHECK(fabs(high->work.high - 1) < 1e-9);
	CHECK(fabs(high->work.share - 9950.0 / (9950 + 3000)) < 1e-9);
	CHECK(fabs(low->work.low + 500.0 / (9950 - 500)) < 1e-9);
	CHECK(fabs(low->work.high - 6500.0 / (6500 + 9850)) < 1e-9);
	CHECK(strstr(text(m), "-5.29 to 39.76") != NULL);
	CHECK(strstr(text(m), "a trigger adds 5.0 to 15.0 ns") != NULL);
	/* If all calls are long, shares of net are as good. */
	m->summary->functions.items[1].events = 10;
	CHECK(strstr(text(m), "% work") == NULL);
	done(m);
}

static void without_switches_the_report_says_that_waiting_is_included(void)
{
	struct made *m = threads();

	m->recording.switches = false;
	m->summary->idle = m->summary->blocked = m->summary->preempted = 0;
	text(m);
	CHECK(strstr(m->out.data, "waiting is not separated: times include it") != NULL);
	CHECK(strstr(m->out.data, "blocked") == NULL);
	json(m);
	CHECK(strstr(m->out.data, "\"blocked_ns\": null") != NULL);
	CHECK(strstr(m->out.data, "\"waiting_separated\": false") != NULL);
	done(m);
}

static void missing_switches_are_reported(void)
{
	struct made *m = threads();

	text(m);
	CHECK(strstr(m->out.data, "missing: some waiting") == NULL);
	m->recording.switches_lost = 1234;
	text(m);
	CHECK(strstr(m->out.data, "1,234 switches of threads are missing: some waiting") != NULL);
	json(m);
	CHECK(strstr(m->out.data, "\"switches_lost\": 1234") != NULL);
	done(m);
}

static void no_events_are_said_to_be_none(void)
{
	struct made *m = make(1000000000);

	text(m);
	CHECK(strstr(m->out.data, "Elapsed time") != NULL);
	CHECK(strstr(m->out.data, "there are no events") != NULL);
	CHECK(strstr(m->out.data, "Function") == NULL);
	done(m);
}

/* A recording in memory: one packet per stream. */
struct kept_reader {
	struct tag_reader reader;
	struct tag_packet packet;
	bool read;
};

static int kept_next(struct tag_reader *reader, struct tag_packet *packet, struct error *err)
{
	struct kept_reader *r = (struct kept_reader *)reader;

	*packet = r->packet;
	r->read = !r->read;
	return r->read;
}

static void kept_close(struct tag_reader *reader)
{
	free(reader);
}

static const struct {
	uint64_t us;
	uint32_t tag;
} capture[] = {{0, 2},    {10, 4},   {30, 6},  {70, 7},  {80, 11}, {100, 5}, {120, 8},
               {150, 12}, {160, 13}, {200, 9}, {210, 6}, {215, 7}, {230, 3}};
#define CAPTURED (sizeof(capture) / sizeof(*capture))

static int kept_open(struct tag_recording *r, uint32_t stream, struct tag_reader **reader,
                     struct error *err)
{
	static uint64_t words[CAPTURED];
	struct kept_reader *k = xcalloc(1, sizeof(*k));

	for (size_t i = 0; i < CAPTURED; i++)
		words[i] = (capture[i].us + 5) << 24 | capture[i].tag;
	k->reader = (struct tag_reader){kept_next, kept_close};
	k->packet = (struct tag_packet){
	        .begin = 5, .end = 5 + capture[CAPTURED - 1].us, .words = words, .count = CAPTURED};
	*reader = &k->reader;
	return 0;
}

static void read_capture(struct made *m, struct tag_histogram *h)
{
	struct tag_summary_options options = {.histogram = h};
	struct tag_summary *s = tag_summary_new(&options);

	CHECK_EQ(tag_summary_recording(s, &m->recording, NULL), 0);
	tag_summary_finish(s);
	vec_each (f, &s->functions)
		vec_push(&m->summary->functions, *f);
	s->functions.count = 0;
	vec_done(&s->functions);
	m->summary->tags = s->tags;
	m->summary->elapsed = s->elapsed;
	m->summary->idle = s->idle;
	m->summary->outside = s->outside;
	m->summary->switches = s->switches;
	m->summary->damage = s->damage;
	tag_summary_free(s);
}

/* From events to text: the figures follow from the capture by hand. */
static void a_capture_becomes_a_table(void)
{
	static const struct {
		uint32_t tag;
		enum tag_kind kind;
		const char *name;
	} names[] = {{2, TAG_FUNCTION, "main"}, {4, TAG_FUNCTION, "work"},
	             {6, TAG_FUNCTION, "leaf"}, {8, TAG_SWITCH, "swtch"},
	             {11, TAG_INLINE, "MGET"},  {12, TAG_FUNCTION, "intr"}};
	struct tag_histogram h = {.tag = 6, .total = true};
	struct made *m = make(1000000);
	struct tag_distribution *s;

	program(m, "", true);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		tag_names_add(m->recording.names.items[0], names[i].tag, names[i].kind,
		              names[i].name, strlen(names[i].name), NULL);
	m->recording.open = kept_open;
	read_capture(m, &h);
	CHECK_STR(text(m), "Elapsed time          230 us  (13 tags)\n"
	                   "Accumulated run time  160 us  (69.57 %)\n"
	                   "Idle time              70 us  (30.43 %)\n"
	                   "Switches                1     (swtch)\n"
	                   "Profiled functions      5     (11 triggers)\n"
	                   "\n"
	                   "Elapsed  Net  Calls  (max/avg/min)  % real  % net  Function\n"
	                   "    150   55      1  (55/55/55)      23.91  34.38  main\n"
	                   "     90   50      1  (50/50/50)      21.74  31.25  work\n"
	                   "     45   45      2  (40/22/5)       19.57  28.13  leaf\n"
	                   "     10   10      1  (10/10/10)       4.35   6.25  intr\n"
	                   "\n"
	                   "Times  Inline tag\n"
	                   "    1  MGET\n");
	s = tag_distribution_new(row_of(m, 2), &h);
	CHECK_EQ(s->count, 2);
	CHECK_EQ(h.count[step_of(40)], 1);
	CHECK_EQ(h.count[step_of(5)], 1);
	tag_distribution_free(s);
	done(m);
}

int main(void)
{
	RUN(a_capture_becomes_a_table);
	RUN(a_device_with_microseconds_has_whole_ones);
	RUN(rows_are_in_the_requested_order);
	RUN(a_second_order_parts_equals);
	RUN(net_of_all_rows_is_the_run_time);
	RUN(small_rows_are_summed_up_below_a_limit);
	RUN(shares_are_rounded_and_averages_cut_off);
	RUN(threads_have_their_waiting_and_their_span);
	RUN(times_are_in_the_unit_asked_for);
	RUN(the_unit_fits_the_calls);
	RUN(processes_of_one_program_share_their_rows);
	RUN(static_functions_of_two_files_are_two_rows);
	RUN(tags_without_a_name_are_rows_too);
	RUN(losses_and_repairs_are_reported);
	RUN(uncertain_and_open_calls_are_marked);
	RUN(without_switches_the_report_says_that_waiting_is_included);
	RUN(missing_switches_are_reported);
	RUN(no_events_are_said_to_be_none);
	RUN(ranges_are_of_complete_calls);
	RUN(shares_without_triggers_have_bounds);
	return check_end();
}
