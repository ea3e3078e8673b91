/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_recorder_fixture: a simulated machine that a flight recorder records. Its figures are
 * known by arithmetic.
 */
#ifndef ASSAY_TESTS_RING_SINK_FIXTURE_H
#define ASSAY_TESTS_RING_SINK_FIXTURE_H

#include "base/memory/buf.h"
#include "check.h"
#include "event/recording.h"
#include "fixture.h"
#include "format/perf/perf_data.h"
#include "session/sinks/flight_recorder.h"

#include <linux/perf_event.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define START (1000000 * MS)
#define CPUS 2
#define LATE 5000      /* ns from a tick to its sample */
#define SETTLED 100000 /* ns before a millisecond: no record has this time yet */

/*
 * Each CPU has a tick each millisecond; CPU 1 omits every 97th. In each 5 ms a CPU is busy in the
 * first 3, and idle in the others.
 */
struct machine {
	struct session_sink *sink;
	struct perf_event_attr clock, track;
	uint64_t clock_ids[CPUS], track_ids[CPUS];
	struct buf out;
	struct recording whole;
	uint64_t now_ms;
	uint64_t lost; /* reported so far */
	uint32_t outer;
	unsigned errors;
};

static inline uint64_t time_of(uint64_t ms, uint32_t cpu)
{
	return START + ms * MS + cpu * 100000;
}

static inline bool is_busy(uint64_t ms)
{
	return ms % 5 < 3;
}

static inline bool is_missing(uint64_t ms, uint32_t cpu)
{
	return cpu == 1 && ms % 97 == 50;
}

/* The busy pid: 50 is a sequence of programs, 60 existed before the recording. */
static inline int32_t runs(uint64_t ms, uint32_t cpu)
{
	return !is_busy(ms) ? 0 : cpu ? 60 : 50;
}

static inline struct perf_event_attr attr_of(uint64_t config, uint64_t period)
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
	        .clockid = CLOCK_MONOTONIC,
	};
}

static inline void machine_init(struct machine *m, const struct flight_recorder_options *options)
{
	struct perf_data_attr attrs[2];
	struct error err = {0};

	*m = (struct machine){.clock = attr_of(PERF_COUNT_SW_CPU_CLOCK, MS),
	                      .track = attr_of(PERF_COUNT_SW_DUMMY, 1),
	                      .clock_ids = {11, 12},
	                      .track_ids = {21, 22}};
	m->track.context_switch = m->track.mmap2 = m->track.comm = m->track.task = 1;
	attrs[0] = (struct perf_data_attr){m->clock, "cpu-clock", m->clock_ids, CPUS};
	attrs[1] = (struct perf_data_attr){m->track, "dummy", m->track_ids, CPUS};
	recording_init(&m->whole);
	m->whole.clockid = CLOCK_MONOTONIC;
	CHECK_EQ(flight_recorder_new(&m->sink, options, &err), 0);
	CHECK(m->sink->ordered);
	CHECK_EQ(m->sink->ops->open(m->sink, attrs, 2, &m->whole, &err), 0);
}

static inline void put(struct machine *m, struct event e, uint32_t cpu)
{
	bool sample = e.kind == EVENT_SAMPLE;
	struct error err = {0};

	e.cpu = cpu;
	m->errors +=
	        perf_record_encode(&m->out, sample ? &m->clock : &m->track,
	                           sample ? m->clock_ids[cpu] : m->track_ids[cpu], &e, &err) != 0;
}

static inline struct event event_of(enum event_kind kind, int32_t pid, uint64_t time_ns)
{
	return (struct event){
	        .kind = kind, .mode = CPU_MODE_USER, .pid = pid, .tid = pid, .time_ns = time_ns};
}

static inline void put_comm(struct machine *m, int32_t pid, const char *name, bool exec,
                            uint64_t time_ns)
{
	struct event e = event_of(EVENT_COMM, pid, time_ns);

	e.comm.name = name;
	e.comm.exec = exec;
	put(m, e, 0);
}

static inline void put_map(struct machine *m, int32_t pid, const char *name, uint64_t time_ns)
{
	struct event e = event_of(EVENT_MMAP, pid, time_ns);

	e.mode = pid < 0 ? CPU_MODE_KERNEL : CPU_MODE_USER;
	e.mmap.addr = pid < 0 ? 0xffffffff80000000 : 0x400000;
	e.mmap.pgoff = pid < 0 ? e.mmap.addr : 0;
	e.mmap.size = 0x100000;
	e.mmap.executable = true;
	e.mmap.filename = name;
	put(m, e, 0);
}

static inline void put_task(struct machine *m, enum event_kind kind, int32_t pid, int32_t parent,
                            uint64_t time_ns)
{
	struct event e = event_of(kind, pid, time_ns);

	e.fork.parent_pid = e.fork.parent_tid = parent;
	put(m, e, 0);
}

static inline void put_outer(struct machine *m, uint32_t id, uint64_t time_ns)
{
	static const uint64_t callers[] = {0x400111, 0x400222};
	struct event e = event_of(EVENT_OUTER_STACK, 60, time_ns);

	e.outer_stack = (struct event_outer_stack){
	        .id = id, .addresses = callers, .count = 2, .thread_name = "daemon"};
	put(m, e, 1);
}

static inline void put_switch(struct machine *m, uint64_t ms, uint32_t cpu)
{
	int32_t from = runs(ms - 1, cpu), to = runs(ms, cpu);
	struct event e = event_of(EVENT_SWITCH, from, time_of(ms, cpu) - 50000);

	if (from == to)
		return;
	e.sched = (struct event_switch){
	        .out = true, .machine_wide = true, .next_prev_pid = to, .next_prev_tid = to};
	put(m, e, cpu);
	e.pid = e.tid = to;
	e.sched = (struct event_switch){
	        .machine_wide = true, .next_prev_pid = from, .next_prev_tid = from};
	put(m, e, cpu);
}

static inline void put_tick(struct machine *m, uint64_t ms, uint32_t cpu)
{
	static const uint64_t chain[] = {CHAIN_CONTEXT_USER, 0x400123, 0x400456};
	struct event e = event_of(EVENT_SAMPLE, runs(ms, cpu), time_of(ms, cpu) + LATE);

	if (is_missing(ms, cpu))
		return;
	e.sample = (struct event_sample){.ip = 0x400123,
	                                 .period = MS,
	                                 .chain = chain,
	                                 .chain_count = 3,
	                                 .stack_end = STACK_WHOLE};
	if (!e.pid) {
		e.mode = CPU_MODE_KERNEL;
		e.sample.ip = 0xffffffff80001000;
		e.sample.chain_count = 0;
	}
	if (e.pid == 60)
		e.sample.outer = m->outer;
	put(m, e, cpu);
}

/* The ring of CPU 1 was full: three lost records, every 500 ms. */
static inline void put_lost(struct machine *m, uint64_t ms)
{
	struct event e = event_of(EVENT_LOST, 60, time_of(ms, 1) + 200000);

	e.lost.count = 3;
	put(m, e, 1);
	m->lost += 3;
}

/* Processes that existed before, and forks that the recorder later evicts. */
static inline void put_first(struct machine *m)
{
	put_map(m, -1, "[kernel.kallsyms]_text", 0);
	put_comm(m, 60, "daemon", false, 0);
	put_map(m, 60, "/bin/daemon", 0);
	put_comm(m, 50, "before", false, 0);
	put_map(m, 50, "/bin/before", 0);
	put_outer(m, 7, START);
	m->outer = 7;
}

static inline void put_births(struct machine *m, uint64_t ms)
{
	uint64_t now = time_of(ms, 0) + 300000;

	if (ms == 1000) {
		put_task(m, EVENT_EXIT, 50, 60, now);
	} else if (ms == 1004) {
		/* The same pid for a new process, which then executes a program. */
		put_task(m, EVENT_FORK, 50, 60, now);
		put_comm(m, 50, "first", true, now + 1000);
		put_map(m, 50, "/bin/first", now + 2000);
	} else if (ms == 2001) {
		put_comm(m, 50, "second", true, now);
		put_map(m, 50, "/bin/second", now + 1000);
	}
}

static inline void append(struct machine *m)
{
	struct error err = {0};

	m->errors += m->sink->ops->append(m->sink, m->out.data, m->out.size, &err) != 0;
	buf_clear(&m->out);
}

/* In every third second, CPU 0 has 30 ms of steal time and the recorder uses 6 ms; else none. */
static inline uint64_t in_thirds(uint64_t ns)
{
	uint64_t third = ns / (3000 * MS) * 1000 * MS, rest = ns % (3000 * MS);

	return third + (rest > 2000 * MS ? rest - 2000 * MS : 0);
}

static inline uint64_t stolen_ns(uint64_t ns)
{
	return in_thirds(ns) * 3 / 100;
}

static inline uint64_t own_ns(uint64_t ns)
{
	return in_thirds(ns) * 6 / 1000;
}

static inline void take_status(const struct machine *m, struct session_status *s)
{
	uint64_t ran = m->now_ms * MS;

	*s = (struct session_status){.now_ns = START + ran + MS / 2,
	                             .settled_ns = START + ran - SETTLED,
	                             .now_wall_ns = 5 * START + ran + MS / 2,
	                             .start_ns = START,
	                             .observer_cpu_ns = own_ns(ran),
	                             .observer_wakeups = m->now_ms / 100};
	vec_push(&s->stats.cpus, (struct cpu_stat){.cpu = 0, .steal_ns = 77 * MS + stolen_ns(ran)});
	vec_push(&s->stats.cpus, (struct cpu_stat){.cpu = 1});
}

static inline void flush(struct machine *m)
{
	struct session_status now;
	struct error err = {0};

	take_status(m, &now);
	m->errors += m->sink->ops->flush(m->sink, &now, &err) != 0;
	session_status_done(&now);
}

static inline void run_to(struct machine *m, uint64_t ms)
{
	for (; m->now_ms < ms; m->now_ms++) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			if (m->now_ms)
				put_switch(m, m->now_ms, cpu);
			put_tick(m, m->now_ms, cpu);
		}
		if (m->now_ms % 500 == 250)
			put_lost(m, m->now_ms);
		put_births(m, m->now_ms);
		if (m->now_ms % 100 == 99)
			append(m);
		if (m->now_ms % 1000 == 999)
			flush(m);
	}
	append(m);
}

/* Starts a machine and its recorder. */
static inline void machine_start(struct machine *m, const struct flight_recorder_options *options,
                                 uint64_t ms)
{
	machine_init(m, options);
	put_first(m);
	run_to(m, ms);
}

/* Fills in the account of the whole time, as a session does. */
static inline void account_whole(struct machine *m)
{
	struct account *a = &m->whole.account;

	a->present = a->machine_wide = true;
	a->start_ns = START;
	a->end_ns = START + m->now_ms * MS + MS;
	a->exit_status = -1;
	a->observer_cpu_ns = own_ns(m->now_ms * MS);
	a->cpus.count = 0;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		vec_push(&a->cpus,
		         (struct account_cpu){.cpu = cpu,
		                              .start_ns = a->start_ns,
		                              .end_ns = a->end_ns,
		                              .stat_steal_ns = cpu ? 0 : stolen_ns(m->now_ms * MS),
		                              .lost_records = cpu ? m->lost : 0});
}

static inline int snapshot(struct machine *m, const char *name)
{
	struct session_status now;
	struct error err = {0};
	int status;

	take_status(m, &now);
	account_whole(m);
	status = m->sink->ops->snapshot(m->sink, fixture_path(name), &m->whole, &now, &err);
	if (status)
		printf("# %s\n", err.text);
	session_status_done(&now);
	return status;
}

static inline int finish(struct machine *m)
{
	struct session_status now;
	struct error err = {0};
	int status;

	take_status(m, &now);
	account_whole(m);
	m->whole.account.end_ns = now.settled_ns;
	status = m->sink->ops->close(m->sink, &m->whole, &now, &err);
	session_status_done(&now);
	CHECK_EQ(m->errors, 0);
	buf_done(&m->out);
	recording_done(&m->whole);
	return status;
}

#endif
