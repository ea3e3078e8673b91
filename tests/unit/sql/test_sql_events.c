/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as a table, and tags as calls: every row is known, and only the necessary part of a file
 * is read.
 */
#include "check.h"
#include "ctf_fixture.h"
#include "sql_fixture.h"

#include "format/perf/perf_data.h"
#include "sql/tables/event_tables.h"

#include <sys/resource.h>

static int rows_of(struct sql *s, const char *columns, const char *column, int64_t from,
                   struct buf *rows)
{
	char query[512];

	snprintf(query, sizeof(query),
	         "SELECT %s FROM events WHERE %s >= %" PRId64 " AND %s < %" PRId64
	         " UNION ALL SELECT 'before', %s FROM events WHERE %s < %" PRId64
	         " UNION ALL SELECT 'at', %s FROM events WHERE %s = %" PRId64,
	         columns, column, from, column, from < INT64_MAX - 9 ? from + 9 : from, columns + 7,
	         column, from, columns + 7, column, from);
	return sql_run(s, query, add_row, rows, NULL);
}

/*
 * Conditions that are passed to the reader select the same rows as SQLite alone would (+time_ns).
 */
static void bounds_leave_the_same_rows(struct sql *s, int64_t from)
{
	static const char columns[] = "'from', seq, time_ns, tid, kind, name, value";
	struct buf pushed = {0}, looked = {0};

	CHECK(!rows_of(s, columns, "time_ns", from, &pushed));
	CHECK(!rows_of(s, columns, "+time_ns", from, &looked));
	CHECK_STR(buf_text(&pushed), buf_text(&looked));
	buf_clear(&pushed);
	buf_clear(&looked);
	CHECK(!rows_of(s, columns, "seq", from % 20, &pushed));
	CHECK(!rows_of(s, columns, "+seq", from % 20, &looked));
	CHECK_STR(buf_text(&pushed), buf_text(&looked));
	buf_done(&pushed);
	buf_done(&looked);
}

/* Two threads in turn: f calls g; the second thread has lost events. */
static char *tags_written(void)
{
	static const char *const functions[] = {"f", "g"};
	struct tag_names *names = tag_names_new();
	struct ctf_writer_facts facts = {.clock = {1000000000, 1700000000000000000}};
	char *path = place("trace");
	struct ctf_writer *w;

	for (uint32_t i = 0; i < 2; i++)
		CHECK(!tag_names_add(names, 2 + 2 * i, TAG_FUNCTION, functions[i], 1, NULL));
	CHECK(!ctf_writer_new(&w, path, NULL));
	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t words[] = {WORD(100 + i, 2),
		                          WORD(110 + i, 4),
		                          WORD(120 + i, 5),
		                          WORD(125 + i, ASSAY_TAG_VOID),
		                          WORD(130 + i, ASSAY_TAG_SWITCH_BLOCKED),
		                          WORD(150 + i, ASSAY_TAG_SWITCH_IN),
		                          WORD(160 + i, 3)};
		struct tag_packet p = {.begin = 100 + i,
		                       .end = 160 + i,
		                       .words = words,
		                       .count = 7,
		                       .pid = 9,
		                       .tid = 10 + (int32_t)i,
		                       .thread = "t",
		                       .process = "p"};
		uint32_t stream;

		CHECK(!ctf_writer_stream(w, ctf_writer_names(w, names), false, &stream, NULL));
		CHECK(!ctf_writer_packet(w, stream, &p, NULL));
		p.begin = p.end = 200;
		p.lost = 5 * i;
		p.gap = i;
		p.count = 1;
		p.words = (const uint64_t[]){WORD(200, 6)};
		CHECK(!ctf_writer_packet(w, stream, &p, NULL));
	}
	CHECK(!ctf_writer_finish(w, &facts, NULL));
	ctf_writer_free(w);
	tag_names_free(names);
	return path;
}

static void tags_are_rows(void)
{
	struct sql *s = opened();
	struct error err = {0};
	char *path;

	path = tags_written();
	CHECK(!sql_add_tags(s, path, &err));
	CHECK_STR(err.text, "");
	answer(s,
	       "SELECT time_ns - 1700000000000000000, tid, kind, name, value, detail FROM events "
	       "WHERE time_ns <= 1700000000000000111",
	       "100|10|entry|f|2|t\n101|11|entry|f|2|t\n110|10|entry|g|4|t\n111|11|entry|g|4|t\n");
	answer(s, "SELECT kind, count(*), sum(value) FROM events GROUP BY 1",
	       "entry|6|24\nexit|4|16\nlost|1|5\nswitch|4|67108808\n");
	answer(s, "SELECT name, tid FROM events WHERE kind = 'lost'", "events|11\n");
	answer(s, "SELECT name FROM events WHERE seq > 12", "tag 6\nevents\ntag 6\n");
	answer(s, "SELECT min(seq), max(seq), count(*) FROM events", "1|15|15\n");
	answer(s, "SELECT seq, name FROM events LIMIT 2", "1|f\n2|f\n");
	for (int64_t t = 98; t < 205; t++)
		bounds_leave_the_same_rows(s, 1700000000000000000 + t);
	bounds_leave_the_same_rows(s, INT64_MIN);
	bounds_leave_the_same_rows(s, INT64_MAX);
	answer(s,
	       "SELECT t.tid, path, calls, net_ns, total_ns, blocked_ns FROM calls c JOIN threads "
	       "t "
	       "ON t.id = c.thread WHERE path LIKE 'f%' ORDER BY 1, 2",
	       "10|f|1|30|40|20\n10|f;g|1|10|10|0\n11|f|1|30|40|20\n11|f;g|1|10|10|0\n");
	answer(s, "SELECT path, min_ns, max_ns FROM calls WHERE thread = 0 AND calls = 1",
	       "f|30|30\nf;g|10|10\ntag 6||\n");
	hold_together(s);
	sql_close(s);
	free(path);
}

/* Samples of one thread, with a round after each 1000; sample `late` has a much earlier time. */
static char *samples_written(uint64_t count, uint64_t late)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof(attr),
	                               .config = PERF_COUNT_SW_CPU_CLOCK,
	                               .sample_period = 1000000,
	                               .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
	                                              PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	                                              PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	                               .sample_id_all = 1,
	                               .use_clockid = 1,
	                               .clockid = 1};
	struct perf_data_attr described = {
	        .attr = attr, .name = "cpu-clock", .ids = (const uint64_t[]){7}, .id_count = 1};
	struct event e = {.kind = EVENT_SAMPLE, .cpu = 1, .pid = 3, .tid = 4};
	char *path = place("samples.data");
	struct perf_data_writer *w;
	struct recording r;
	struct buf out = {0};

	e.mode = CPU_MODE_USER;
	e.sample.ip = 0x1234;
	e.sample.period = 1000000;
	CHECK(!perf_data_writer_open(&w, path, &described, 1, NULL));
	for (uint64_t i = 0; i < count; i++) {
		e.time_ns = i + 1 == late ? 1001 : 1000 + i;
		CHECK(!perf_record_encode(&out, &attr, 7, &e, NULL));
		if (i % 1000 == 999 || i == count - 1) {
			perf_record_finished_round(&out);
			CHECK(!perf_data_writer_append(w, out.data, out.size, NULL));
			buf_clear(&out);
		}
	}
	recording_init(&r);
	r.clockid = 1;
	r.clock_wall_ns = 1700000000000000000;
	r.clock_start_ns = 1000;
	CHECK(!perf_data_writer_close(w, &r, NULL));
	recording_done(&r);
	buf_done(&out);
	return path;
}

static void events_of_samples_are_rows(void)
{
	struct sql *s = opened();
	struct error err = {0};
	char *path;

	path = samples_written(3500, 0);
	CHECK(!sql_add_events(s, path, true, NULL));
	answer(s,
	       "SELECT count(*), min(seq), max(seq), sum(value), min(time_ns), max(time_ns) FROM "
	       "events",
	       "3500|1|3500|3500000000|1700000000000000000|1700000000000003499\n");
	answer(s, "SELECT seq, cpu, pid, tid, kind, name, value, detail FROM events LIMIT 1",
	       "1|1|3|4|sample|cpu-clock|1000000|user ip=0x1234 chain=0\n");
	answer(s, "SELECT count(*) FROM events a, events b WHERE a.seq < 3 AND b.seq > 3498",
	       "4\n");
	for (int64_t t = 995; t < 4600; t += 113)
		bounds_leave_the_same_rows(s, 1700000000000000000 + t - 1000);
	bounds_leave_the_same_rows(s, INT64_MIN);
	bounds_leave_the_same_rows(s, INT64_MAX);
	sql_close(s);
	unlink(path);
	s = opened();
	CHECK(!sql_add_events(s, path, true, NULL));
	CHECK(sql_run(s, "SELECT * FROM events", NULL, NULL, &err));
	CHECK(strstr(err.text, path));
	sql_close(s);
	free(path);
}

static void late_events_are_found(void)
{
	char *path = samples_written(5500, 5001);
	struct sql *s = opened();

	CHECK(!sql_add_events(s, path, false, NULL));
	answer(s,
	       "SELECT count(*), max(seq) > 3000 FROM events WHERE time_ns <= 1700000000000000001",
	       "3|1\n");
	bounds_leave_the_same_rows(s, 1700000000000000000);
	sql_close(s);
	unlink(path);
	free(path);
}

static long faults(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_minflt + use.ru_majflt;
}

static long faults_of(struct sql *s, const char *query, const char *want)
{
	long before = faults();

	answer(s, query, want);
	return faults() - before;
}

/* The pages of the file that are resident show how far it was read. */
static void a_limit_stops_the_reading(void)
{
	struct sql *s = opened();
	long all, few;
	char *path;

	path = samples_written(600000, 0); /* 34 MB */
	CHECK(!sql_add_recording(s, path, NULL));
	answer(s, "SELECT seq FROM events LIMIT 1", "1\n"); /* made once for all tests */
	few = faults_of(s, "SELECT seq FROM events LIMIT 2", "1\n2\n");
	all = faults_of(s, "SELECT count(*) FROM events", "600000\n");
	if (all < 3 * few)
		printf("# faults: %ld of all, %ld of the first\n", all, few);
	CHECK(all >= 3 * few);
	/* The query has read all records, so their order is known. */
	few = faults_of(s, "SELECT count(*) FROM events WHERE time_ns < 1700000000000000099",
	                "99\n");
	CHECK(all >= 3 * few);
	few = faults_of(s, "SELECT count(*) FROM events WHERE seq < 100", "99\n");
	CHECK(all >= 3 * few);
	for (int i = 0; i < 50; i++)
		answer(s, "SELECT seq FROM events LIMIT 1 OFFSET 2000", "2001\n");
	sql_close(s);
	unlink(path);
	free(path);
}

int main(void)
{
	CHECK(fixture_begin());
	RUN(tags_are_rows);
	RUN(events_of_samples_are_rows);
	RUN(late_events_are_found);
	RUN(a_limit_stops_the_reading);
	fixture_end();
	return check_end();
}
