/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_sink: gets the records of a simulated measurement; SQLite then checks the store. This file
 * implements the session's functions that the sink calls.
 */
#include "session/sinks/store_sink.h"

#include "base/clock.h"
#include "format/perf/perf_record.h"
#include "session/session.h"
#include "store_file_fixture.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <time.h>

#define WINDOW_NS UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define PID 50

/* ---- the session --------------------------------------------------------- */

struct session {
	VEC(char *) notes;
	uint64_t takes, restarts, reads, lost;
	bool gone;
};

void session_status_take(struct session *s, struct session_status *status)
{
	*status = (struct session_status){.observer_cpu_ns = ++s->takes * 1000, .period_ns = MS};
	vec_push(&status->cpus, (struct session_status_cpu){.cpu = 0,
	                                                    .ring_bytes = 4096,
	                                                    .ring_recent_max = 10 * s->takes,
	                                                    .ring_reads = s->takes,
	                                                    .ring_used_sum = 7 * s->takes,
	                                                    .lost = s->lost});
}

void session_status_done(struct session_status *s)
{
	vec_done(&s->cpus);
	cpu_stats_done(&s->stats);
}

char *const *session_notes(const struct session *s, size_t *count)
{
	*count = s->notes.count;
	return s->notes.items;
}

size_t session_note(struct session *s, size_t earlier, char *text)
{
	if (!earlier) {
		vec_push(&s->notes, text);
		return s->notes.count;
	}
	free(s->notes.items[earlier - 1]);
	s->notes.items[earlier - 1] = text;
	return earlier;
}

int session_output_check(const struct session *s, struct error *err)
{
	return s->gone ? error_set(err, ENOENT, "the store is gone") : 0;
}

void session_buffers_restart(struct session *s)
{
	s->restarts++;
}

int session_read(struct session *s, struct error *err)
{
	s->reads++;
	return 0;
}

void session_pause(struct session *s)
{
}

/* ---- a measurement ------------------------------------------------------- */

struct measured {
	struct session session;
	struct session_sink *sink;
	struct perf_event_attr clock, track;
	uint64_t clock_id, track_id;
	uint64_t begin_ns; /* of the first window, on the clock of records */
	struct recording described;
	struct buf out;
	struct error err;
};

static struct perf_event_attr attr_of(uint64_t config, uint64_t period)
{
	return (struct perf_event_attr){
	        .type = PERF_TYPE_SOFTWARE,
	        .size = sizeof(struct perf_event_attr),
	        .config = config,
	        .sample_period = period,
	        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	                       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TRANSACTION,
	        .sample_id_all = 1,
	        .use_clockid = 1,
	        .clockid = CLOCK_MONOTONIC};
}

static void describe(struct measured *m)
{
	struct recording_attr *a;

	recording_init(&m->described);
	m->described.hostname = xstrdup("here");
	m->described.clockid = CLOCK_MONOTONIC;
	a = vec_add(&m->described.attrs);
	*a = (struct recording_attr){.role = ATTR_CLOCK, .period_ns = MS};
	a->name = xstrdup("cpu-clock");
	a = vec_add(&m->described.attrs);
	*a = (struct recording_attr){.role = ATTR_TRACK};
	a->name = xstrdup("dummy");
}

/*
 * A multiple of a window's length on the wall clock. Both clocks are read again if this process
 * was interrupted between the two readings.
 */
static uint64_t boundary(void)
{
	uint64_t before_ns, wall_ns;

	do {
		before_ns = clock_ns(CLOCK_MONOTONIC);
		wall_ns = clock_ns(CLOCK_REALTIME);
	} while (clock_ns(CLOCK_MONOTONIC) - before_ns > MS / 10);
	return before_ns - wall_ns % WINDOW_NS;
}

static void start(struct measured *m)
{
	struct store_sink_options o = {.path = path, .window_ns = WINDOW_NS};
	struct perf_data_attr attrs[2];

	fresh();
	*m = (struct measured){.clock = attr_of(PERF_COUNT_SW_CPU_CLOCK, MS),
	                       .track = attr_of(PERF_COUNT_SW_DUMMY, 1),
	                       .clock_id = 11,
	                       .track_id = 21};
	m->begin_ns = boundary();
	m->track.mmap2 = m->track.comm = m->track.task = 1;
	describe(m);
	attrs[0] = (struct perf_data_attr){m->clock, "cpu-clock", &m->clock_id, 1};
	attrs[1] = (struct perf_data_attr){m->track, "dummy", &m->track_id, 1};
	m->sink = store_sink_new(&o);
	m->sink->session = &m->session;
	CHECK(m->sink->ordered && m->sink->grows);
	CHECK_EQ(m->sink->flush_ns, WINDOW_NS);
	CHECK_EQ(m->sink->ops->open(m->sink, attrs, 2, &m->described, &m->err), 0);
	CHECK_STR(m->err.text, "");
	m->sink->ops->begun(m->sink, m->begin_ns);
}

static void put(struct measured *m, struct event e, int32_t pid, uint64_t ms)
{
	bool sample = e.kind == EVENT_SAMPLE;

	e.mode = CPU_MODE_USER;
	e.pid = e.tid = pid;
	e.time_ns = m->begin_ns + ms * MS;
	CHECK_EQ(perf_record_encode(&m->out, sample ? &m->clock : &m->track,
	                            sample ? m->clock_id : m->track_id, &e, &m->err),
	         0);
}

static int append(struct measured *m)
{
	int rc = m->sink->ops->append(m->sink, m->out.data, m->out.size, &m->err);

	buf_clear(&m->out);
	return rc;
}

/* `count` samples, one a millisecond from there on. */
static void sample(struct measured *m, uint64_t from_ms, int count)
{
	static const uint64_t chain[] = {CHAIN_CONTEXT_USER, 0x400123};

	for (int i = 0; i < count; i++)
		put(m,
		    (struct event){.kind = EVENT_SAMPLE,
		                   .sample = {.ip = 0x400123,
		                              .period = MS,
		                              .chain = chain,
		                              .chain_count = 2,
		                              .stack_end = STACK_WHOLE}},
		    PID, from_ms + (uint64_t)i);
	CHECK_EQ(append(m), 0);
}

static void name_process(struct measured *m)
{
	put(m, (struct event){.kind = EVENT_COMM, .comm = {.name = "cc", .exec = true}}, PID, 1);
	CHECK_EQ(append(m), 0);
}

static int flush(struct measured *m, uint64_t settled_ms)
{
	struct session_status now = {.settled_ns = m->begin_ns + settled_ms * MS};

	return m->sink->ops->flush(m->sink, &now, &m->err);
}

static void finish(struct measured *m)
{
	vec_each (note, &m->session.notes)
		free(*note);
	vec_done(&m->session.notes);
	recording_done(&m->described);
	buf_done(&m->out);
}

static void stop(struct measured *m, uint64_t end_ms)
{
	struct session_status last = {.now_wall_ns = clock_ns(CLOCK_REALTIME)};

	m->described.account.present = true;
	m->described.account.start_ns = m->begin_ns;
	m->described.account.end_ns = m->begin_ns + end_ms * MS;
	CHECK_EQ(m->sink->ops->close(m->sink, &m->described, &last, &m->err), 0);
	CHECK_STR(m->err.text, "");
	finish(m);
}

/* ---- tests --------------------------------------------------------------- */

static void a_window_is_written_when_it_is_over(void)
{
	struct measured m;

	start(&m);
	name_process(&m);
	sample(&m, 100, 10);
	CHECK_EQ(flush(&m, 900), 0);
	CHECK_STR(ask("SELECT count(*) FROM windows"), "0");
	m.session.lost = 3;
	CHECK_EQ(flush(&m, 1050), 0);
	CHECK_STR(ask("SELECT samples FROM windows"), "10");
	sample(&m, 1100, 7);
	m.session.lost = 8;
	/* The record of a later window ends this one, without a flush. */
	sample(&m, 2100, 2);
	CHECK_STR(ask("SELECT count(*) FROM windows"), "2");
	CHECK_EQ(m.session.restarts, 2);
	stop(&m, 2200);
	CHECK_STR(ask("SELECT samples FROM windows ORDER BY id"), "10;7;2");
	CHECK_STR(ask("SELECT p.name, sum(s.samples) FROM samples s JOIN processes p ON p.id ="
	              " s.process"),
	          "cc|19");
	/* Each window has the counts since the previous one. */
	CHECK_STR(ask("SELECT observer_cpu_ns FROM window ORDER BY id"), "1000;1000;1000");
	CHECK_STR(ask("SELECT lost_records, used_max, used_average FROM buffers ORDER BY window"),
	          "3|20|7;5|30|7;0|40|7");
	CHECK_STR(ask("SELECT ended FROM sessions"), "stopped");
	CHECK_STR(ask("SELECT count(*) FROM gaps"), "0");
}

static void notes_are_written_with_the_next_window(void)
{
	struct measured m;

	start(&m);
	session_note(&m.session, 0, xstrdup("first"));
	sample(&m, 100, 1);
	CHECK_EQ(flush(&m, 1050), 0);
	CHECK_STR(ask("SELECT note FROM notes"), "first");
	session_note(&m.session, 1, xstrdup("changed"));
	session_note(&m.session, 0, xstrdup("second"));
	sample(&m, 1100, 1);
	CHECK_STR(ask("SELECT note FROM notes"), "first");
	CHECK_EQ(flush(&m, 2050), 0);
	CHECK_STR(ask("SELECT note FROM notes ORDER BY note"), "changed;second");
	session_note(&m.session, 0, xstrdup("third"));
	stop(&m, 2100);
	CHECK_STR(ask("SELECT note FROM notes ORDER BY note"), "changed;second;third");
}

/* More mappings of one process than the table of processes has room for. */
static void dropped_mappings_are_noted(void)
{
	struct event e = {.kind = EVENT_MMAP,
	                  .mmap = {.size = 4096, .executable = true, .filename = "/bin/many"}};
	struct measured m;

	start(&m);
	name_process(&m);
	for (unsigned i = 0; i < PROCESS_MAPPINGS_MAX + 1; i++) {
		e.mmap.addr = 0x10000000 + i * UINT64_C(8192);
		put(&m, e, PID, 2);
	}
	CHECK_EQ(append(&m), 0);
	CHECK_EQ(m.session.notes.count, 0);
	CHECK_EQ(flush(&m, 1050), 0);
	CHECK_EQ(m.session.notes.count, 1);
	stop(&m, 1100);
	CHECK_STR(ask("SELECT note FROM notes"),
	          "8193 mappings of processes with too many of them were dropped: code in them has "
	          "no names.");
}

static void damaged_records_are_an_error(void)
{
	struct measured m;

	start(&m);
	sample(&m, 100, 1);
	put(&m, (struct event){.kind = EVENT_COMM, .comm = {.name = "cc"}}, PID, 200);
	m.out.size -= 8;
	CHECK_EQ(append(&m), -EINVAL);
	CHECK(strstr(m.err.text, "a record from the ring has") != NULL);
	m.sink->ops->abandon(m.sink, true);
	finish(&m);
	CHECK_STR(ask("SELECT ended FROM sessions"), "failed");
}

static void a_store_that_is_gone_ends_the_session(void)
{
	struct measured m;

	start(&m);
	sample(&m, 100, 1);
	m.session.gone = true;
	CHECK_EQ(flush(&m, 1050), -ENOENT);
	CHECK_STR(m.err.text, "the store is gone");
	m.sink->ops->abandon(m.sink, true);
	finish(&m);
	CHECK_STR(ask("SELECT count(*) FROM windows"), "0");
}

/* The copy contains all records up to that moment, and the session continues to read its rings. */
static void a_snapshot_is_a_copy(void)
{
	char copy[sizeof(path) + 8];
	struct session_status now = {0};
	struct measured m;

	start(&m);
	sample(&m, 100, 4);
	snprintf(copy, sizeof(copy), "%s.copy", path);
	now.settled_ns = m.begin_ns + 500 * MS;
	CHECK_EQ(m.sink->ops->snapshot(m.sink, copy, &m.described, &now, &m.err), 0);
	CHECK(m.session.reads > 0);
	sample(&m, 600, 5);
	stop(&m, 700);
	CHECK_STR(sqlite_text(copy, "SELECT samples FROM windows"), "4");
	CHECK_STR(ask("SELECT samples FROM windows ORDER BY id"), "4;5");
	unlink(copy);
}

int main(void)
{
	place_make();
	RUN(a_window_is_written_when_it_is_over);
	RUN(notes_are_written_with_the_next_window);
	RUN(dropped_mappings_are_noted);
	RUN(damaged_records_are_an_error);
	RUN(a_store_that_is_gone_ends_the_session);
	RUN(a_snapshot_is_a_copy);
	place_take_away();
	return check_end();
}
