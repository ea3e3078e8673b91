/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flight recorder over a machine that is made up: what its snapshots say of the stretch they
 * hold is what the machine did in it, and who ran in it is told though their births left.
 */
#include "check.h"
#include "event/recording.h"
#include "fixture.h"
#include "format/perf_data.h"
#include "profile/profile_builder.h"
#include "session/ring_account.h"
#include "session/ring_sink.h"

#include <linux/perf_event.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define START (1000000 * MS)
#define CPUS 2
#define LATE 5000      /* ns from a tick to its sample */
#define SETTLED 100000 /* ns before a millisecond: no record of it is there yet */

/*
 * A tick a millisecond and CPU, of which CPU 1 leaves out every 97th. In each 5 ms a CPU is
 * busy in the first 3, idle in the others.
 */
struct machine {
	struct session_sink *sink;
	struct perf_event_attr clock, track;
	uint64_t clock_ids[CPUS], track_ids[CPUS];
	struct buf out;
	struct recording whole;
	uint64_t now_ms;
	uint64_t lost; /* told so far */
	uint32_t outer;
	unsigned errors;
};

static uint64_t time_of(uint64_t ms, uint32_t cpu)
{
	return START + ms * MS + cpu * 100000;
}

static bool is_busy(uint64_t ms)
{
	return ms % 5 < 3;
}

static bool is_missing(uint64_t ms, uint32_t cpu)
{
	return cpu == 1 && ms % 97 == 50;
}

/* Which pid is busy: 50 is one program after the other, 60 was there before all. */
static int32_t runs(uint64_t ms, uint32_t cpu)
{
	return !is_busy(ms) ? 0 : cpu ? 60 : 50;
}

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
	        .clockid = CLOCK_MONOTONIC,
	};
}

static void machine_init(struct machine *m, const struct ring_sink_options *options)
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
	CHECK_EQ(ring_sink_new(&m->sink, options, &err), 0);
	CHECK(m->sink->ordered);
	CHECK_EQ(m->sink->ops->open(m->sink, attrs, 2, &m->whole, &err), 0);
}

static void put(struct machine *m, struct event e, uint32_t cpu)
{
	bool sample = e.kind == EVENT_SAMPLE;
	struct error err = {0};

	e.cpu = cpu;
	m->errors +=
	        perf_record_encode(&m->out, sample ? &m->clock : &m->track,
	                           sample ? m->clock_ids[cpu] : m->track_ids[cpu], &e, &err) != 0;
}

static struct event event_of(enum event_kind kind, int32_t pid, uint64_t time_ns)
{
	return (struct event){
	        .kind = kind, .mode = CPU_MODE_USER, .pid = pid, .tid = pid, .time_ns = time_ns};
}

static void put_comm(struct machine *m, int32_t pid, const char *name, bool exec, uint64_t time_ns)
{
	struct event e = event_of(EVENT_COMM, pid, time_ns);

	e.comm.name = name;
	e.comm.exec = exec;
	put(m, e, 0);
}

static void put_map(struct machine *m, int32_t pid, const char *name, uint64_t time_ns)
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

static void put_task(struct machine *m, enum event_kind kind, int32_t pid, int32_t parent,
                     uint64_t time_ns)
{
	struct event e = event_of(kind, pid, time_ns);

	e.fork.parent_pid = e.fork.parent_tid = parent;
	put(m, e, 0);
}

static void put_outer(struct machine *m, uint32_t id, uint64_t time_ns)
{
	static const uint64_t callers[] = {0x400111, 0x400222};
	struct event e = event_of(EVENT_OUTER_STACK, 60, time_ns);

	e.outer_stack = (struct event_outer_stack){
	        .id = id, .addresses = callers, .count = 2, .thread_name = "daemon"};
	put(m, e, 1);
}

static void put_switch(struct machine *m, uint64_t ms, uint32_t cpu)
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

static void put_tick(struct machine *m, uint64_t ms, uint32_t cpu)
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

/* CPU 1's ring was full: three records, every 500 ms. */
static void put_lost(struct machine *m, uint64_t ms)
{
	struct event e = event_of(EVENT_LOST, 60, time_of(ms, 1) + 200000);

	e.lost.count = 3;
	put(m, e, 1);
	m->lost += 3;
}

/* What ran before, and the births that are to leave the memory. */
static void put_first(struct machine *m)
{
	put_map(m, -1, "[kernel.kallsyms]_text", 0);
	put_comm(m, 60, "daemon", false, 0);
	put_map(m, 60, "/bin/daemon", 0);
	put_comm(m, 50, "before", false, 0);
	put_map(m, 50, "/bin/before", 0);
	put_outer(m, 7, START);
	m->outer = 7;
}

static void put_births(struct machine *m, uint64_t ms)
{
	uint64_t now = time_of(ms, 0) + 300000;

	if (ms == 1000) {
		put_task(m, EVENT_EXIT, 50, 60, now);
	} else if (ms == 1004) {
		/* The same pid, another process; then another program in it. */
		put_task(m, EVENT_FORK, 50, 60, now);
		put_comm(m, 50, "first", true, now + 1000);
		put_map(m, 50, "/bin/first", now + 2000);
	} else if (ms == 2001) {
		put_comm(m, 50, "second", true, now);
		put_map(m, 50, "/bin/second", now + 1000);
	}
}

static void append(struct machine *m)
{
	struct error err = {0};

	m->errors += m->sink->ops->append(m->sink, m->out.data, m->out.size, &err) != 0;
	buf_clear(&m->out);
}

/* In every third second CPU 0 has 30 ms stolen, and the recorder takes 6 ms; else none. */
static uint64_t in_thirds(uint64_t ns)
{
	uint64_t third = ns / (3000 * MS) * 1000 * MS, rest = ns % (3000 * MS);

	return third + (rest > 2000 * MS ? rest - 2000 * MS : 0);
}

static uint64_t stolen_ns(uint64_t ns)
{
	return in_thirds(ns) * 3 / 100;
}

static uint64_t own_ns(uint64_t ns)
{
	return in_thirds(ns) * 6 / 1000;
}

static void take_status(const struct machine *m, struct session_status *s)
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

static void flush(struct machine *m)
{
	struct session_status now;
	struct error err = {0};

	take_status(m, &now);
	m->errors += m->sink->ops->flush(m->sink, &now, &err) != 0;
	session_status_done(&now);
}

static void run_to(struct machine *m, uint64_t ms)
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

/* The account of it all, as a session gives it. */
static void account_whole(struct machine *m)
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

static int snapshot(struct machine *m, const char *name)
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

static int finish(struct machine *m)
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

/* A file as a report reads it. */
static struct profile *load(const char *name, struct recording **r)
{
	struct profile *p = profile_new();
	struct profile_builder *b = profile_builder_new(p, NULL);
	struct event_sink sink = profile_builder_sink(b);
	struct error err = {0};

	*r = xcalloc(1, sizeof(**r));
	recording_init(*r);
	vec_push(&p->recordings, *r);
	CHECK_EQ(perf_data_read(fixture_path(name), NULL, *r, &sink, &err), 0);
	profile_builder_free(b);
	CHECK(!(*r)->truncated);
	CHECK_EQ((*r)->warnings.count, 0);
	CHECK_EQ((*r)->unknown_records, 0);
	CHECK_EQ((*r)->out_of_order, 0);
	return p;
}

static uint64_t busy_ns(uint64_t from_ns, uint64_t to_ns, uint32_t cpu)
{
	uint64_t sum = 0;

	for (uint64_t ms = (from_ns - START) / MS - 1; time_of(ms, cpu) < to_ns + MS; ms++) {
		uint64_t begin = time_of(ms, cpu) - 50000, end = begin + MS;

		if (!is_busy(ms))
			continue;
		begin = begin < from_ns ? from_ns : begin;
		end = end > to_ns ? to_ns : end;
		sum += end > begin ? end - begin : 0;
	}
	return sum;
}

/* Ticks that came and that did not, of those due from one moment to another. */
static void count_ticks(uint64_t from_ns, uint64_t to_ns, uint32_t cpu, uint64_t *seen,
                        uint64_t *missing)
{
	*seen = *missing = 0;
	for (uint64_t ms = 0; time_of(ms, cpu) + LATE < to_ns; ms++)
		if (time_of(ms, cpu) + LATE >= from_ns)
			++*(is_missing(ms, cpu) ? missing : seen);
}

static void check_books(const struct profile *p, const struct recording *r, uint32_t cpu)
{
	const struct ledger_cpu *l = &p->ledger.cpus.items[cpu];
	uint64_t from = r->account.start_ns, to = r->account.end_ns, seen, missing;

	count_ticks(from, to, cpu, &seen, &missing);
	CHECK_EQ(l->cpu, cpu);
	CHECK_EQ(l->wall_ns, to - from);
	CHECK_EQ(l->busy_ns, busy_ns(from, to, cpu));
	CHECK_EQ(l->busy_ns + l->idle_ns + l->unknown_ns, l->wall_ns);
	CHECK_EQ(l->unknown_ns, 0);
	CHECK_EQ(l->ticks_seen_busy + l->ticks_seen_idle, seen);
	CHECK_EQ(l->ticks_due_busy + l->ticks_due_idle, seen + missing);
}

static uint64_t lost_in(uint64_t from_ns, uint64_t to_ns)
{
	uint64_t lost = 0;

	for (uint64_t ms = 250; time_of(ms, 1) < to_ns; ms += 500)
		lost += time_of(ms, 1) + 200000 >= from_ns ? 3 : 0;
	return lost;
}

static bool has_note(const struct recording *r, const char *words)
{
	vec_each (note, &r->account.notes)
		if (strstr(*note, words))
			return true;
	return false;
}

static bool is_near(uint64_t a, uint64_t b, uint64_t most)
{
	return a > b ? a - b <= most : b - a <= most;
}

static void check_account(const struct profile *p, const struct recording *r)
{
	const struct account *a = &r->account;
	uint64_t from = a->start_ns - START, to = a->end_ns - START;
	uint64_t lost = lost_in(a->start_ns, a->end_ns);

	CHECK(a->present);
	CHECK_EQ(a->cpus.count, CPUS);
	CHECK_EQ(p->ledger.cpus.count, CPUS);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		check_books(p, r, cpu);
		CHECK_EQ(a->cpus.items[cpu].start_ns, a->start_ns);
		CHECK_EQ(a->cpus.items[cpu].end_ns, a->end_ns);
	}
	CHECK_EQ(a->cpus.items[1].lost_records, lost);
	CHECK_EQ(recording_lost(r), lost);
	CHECK_EQ(p->ledger.cpus.items[1].ticks_lost, lost);
	/* Grown evenly from each look to the next, a second later: to the rounding. */
	CHECK(is_near(a->cpus.items[0].stat_steal_ns, stolen_ns(to) - stolen_ns(from), MS / 20));
	CHECK_EQ(a->cpus.items[1].stat_steal_ns, 0);
	CHECK(is_near(a->observer_cpu_ns, own_ns(to) - own_ns(from), MS / 20));
	/* The clock on the wall, at the stretch's begin. */
	CHECK_EQ(r->clock_wall_ns - r->clock_start_ns, 4 * START);
}

static const char *image_of(const struct profile *p, uint32_t path)
{
	uint32_t frame = p->paths.items[path].frame;

	return image_path(&p->images, p->frames.items[frame].frame.image);
}

static unsigned depth_of(const struct profile *p, uint32_t path)
{
	unsigned depth = 0;

	for (; path != PATH_ROOT; path = p->paths.items[path].parent)
		depth++;
	return depth;
}

/* Each busy sample is of the program that ran, by its name, with all its callers. */
static void check_names(const struct profile *p, const char *program, const char *file)
{
	uint64_t second = 0, daemon = 0, other = 0;

	vec_each (row, &p->rows) {
		const struct thread *t = process_table_thread_at(p->processes, row->thread);
		const struct process *process = process_table_process(p->processes, t->process);
		const char *name = process_table_name(p->processes, process->name);

		if (process->pid == 50 && !strcmp(name, program) &&
		    !strcmp(image_of(p, row->path), file) && depth_of(p, row->path) == 2)
			second += row->samples;
		else if (process->pid == 60 && !strcmp(name, "daemon") &&
		         !strcmp(image_of(p, row->path), "/bin/daemon") &&
		         depth_of(p, row->path) == 4)
			daemon += row->samples;
		else if (process->pid)
			other += row->samples;
	}
	CHECK(second > 500);
	CHECK(daemon > 500);
	CHECK_EQ(other, 0);
}

static void the_books_of_a_stretch_close_and_its_names_are_right(void)
{
	struct ring_sink_options options = {.bytes = UINT64_C(1) << 20,
	                                    .path = fixture_path("last")};
	struct ring_sink_state state;
	struct recording *early, *late;
	struct machine m;
	struct profile *p;

	machine_init(&m, &options);
	put_first(&m);
	run_to(&m, 20000);
	ring_sink_state(m.sink, &state);
	CHECK(state.left_records > state.records);
	CHECK(state.bytes <= state.bytes_max);
	CHECK_EQ(snapshot(&m, "early"), 0);
	p = load("early", &early);
	CHECK_EQ(early->account.end_ns, START + 20000 * MS - SETTLED);
	CHECK(early->account.start_ns > START + 2500 * MS);
	CHECK_EQ(early->samples, state.samples);
	CHECK(has_note(early, "under way for 20.0 s"));
	check_account(p, early);
	check_names(p, "second", "/bin/second");
	profile_free(p);

	run_to(&m, 23500);
	CHECK_EQ(finish(&m), 0);
	p = load("last", &late);
	CHECK(late->account.start_ns > START + 12000 * MS);
	CHECK(has_note(late, "of a recording of 23.5 s"));
	check_account(p, late);
	check_names(p, "second", "/bin/second");
	profile_free(p);
}

/* What held at its begin, and what changed in it; what is known of the whole alone is not told. */
static void rates_and_counts_of_a_stretch_are_its_own(void)
{
	struct ring_stretch stretch = {.start_ns = START + 10000 * MS};
	struct session_status now = {.now_ns = START + 20000 * MS};
	struct recording whole, part;
	struct ring_marks marks = {0};

	recording_init(&whole);
	whole.account = (struct account){.start_ns = START,
	                                 .end_ns = START + 20000 * MS,
	                                 .counted_oncpu_ns = 12345,
	                                 .unwind = {.samples = 777, .frames = 9}};
	vec_push(&whole.account.rates, (struct account_rate){START + 1000 * MS, 2 * MS});
	vec_push(&whole.account.rates, (struct account_rate){START + 3000 * MS, 4 * MS});
	vec_push(&whole.account.rates, (struct account_rate){START + 18000 * MS, MS});
	ring_account_stretch(&part, &whole, &marks, &stretch, &now);
	CHECK_EQ(part.account.rates.count, 2);
	CHECK_EQ(part.account.rates.items[0].time_ns, stretch.start_ns);
	CHECK_EQ(part.account.rates.items[0].period_ns, 4 * MS);
	CHECK_EQ(part.account.rates.items[1].time_ns, START + 18000 * MS);
	CHECK_EQ(part.account.counted_oncpu_ns, 0);
	CHECK_EQ(part.account.unwind.samples, 0);
	CHECK(has_note(&part, "777 samples"));
	ring_account_done(&part);
	/* Before the first change nothing held that needs telling. */
	stretch.start_ns = START + 500 * MS;
	ring_account_stretch(&part, &whole, &marks, &stretch, &now);
	CHECK_EQ(part.account.rates.count, 3);
	CHECK_EQ(part.account.rates.items[0].time_ns, START + 1000 * MS);
	ring_account_done(&part);
	CHECK_EQ(whole.account.rates.count, 3);
	CHECK_EQ(whole.account.unwind.samples, 777);
	recording_done(&whole);
}

static void nothing_left_is_a_recording_like_any_other(void)
{
	struct ring_sink_options options = {.path = fixture_path("all")};
	struct recording *r;
	struct machine m;
	struct profile *p;

	machine_init(&m, &options);
	put_first(&m);
	run_to(&m, 1000);
	CHECK_EQ(snapshot(&m, "first"), 0);
	p = load("first", &r);
	CHECK_EQ(r->account.start_ns, START);
	CHECK_EQ(r->account.end_ns, START + 1000 * MS - SETTLED);
	CHECK(has_note(r, "The first 1.0 s of a recording that went on."));
	check_names(p, "before", "/bin/before");
	profile_free(p);
	run_to(&m, 1500);
	CHECK_EQ(finish(&m), 0);
	p = load("all", &r);
	CHECK_EQ(r->account.start_ns, START);
	CHECK_EQ(r->account.notes.count, 0);
	CHECK_EQ(r->lost_records, 9);
	profile_free(p);
}

static void a_span_bounds_what_is_held(void)
{
	struct ring_sink_options options = {.span_ns = 2000 * MS, .path = fixture_path("span")};
	struct recording *r;
	struct machine m;
	struct profile *p;

	machine_init(&m, &options);
	put_first(&m);
	run_to(&m, 9000);
	CHECK_EQ(snapshot(&m, "span"), 0);
	p = load("span", &r);
	CHECK(r->account.start_ns <= START + 7000 * MS);
	/* Chunks end where the session looks, once a second here. */
	CHECK(r->account.start_ns >= START + 5900 * MS);
	CHECK(!has_note(r, "less than"));
	check_account(p, r);
	profile_free(p);
	CHECK_EQ(finish(&m), 0);
}

static void a_span_that_the_memory_does_not_hold_is_told(void)
{
	struct ring_sink_options options = {
	        .bytes = 1 << 20, .span_ns = 60000 * MS, .path = fixture_path("short")};
	struct recording *r;
	struct machine m;
	struct profile *p;

	machine_init(&m, &options);
	put_first(&m);
	run_to(&m, 15000);
	CHECK_EQ(finish(&m), 0);
	p = load("short", &r);
	CHECK(has_note(r, "less than the 60 s asked for: 1 MB"));
	profile_free(p);
}

static void a_snapshot_that_cannot_be_written_leaves_the_recorder_as_it_was(void)
{
	struct ring_sink_options options = {.path = fixture_path("good")};
	struct session_status now;
	struct error err = {0};
	struct recording *r;
	struct machine m;
	struct profile *p;

	machine_init(&m, &options);
	put_first(&m);
	run_to(&m, 1000);
	take_status(&m, &now);
	account_whole(&m);
	CHECK(m.sink->ops->snapshot(m.sink, "/proc/no/such", &m.whole, &now, &err) < 0);
	CHECK(strstr(err.text, "/proc/no/such") != NULL);
	session_status_done(&now);
	run_to(&m, 2000);
	CHECK_EQ(finish(&m), 0);
	p = load("good", &r);
	CHECK_EQ(r->account.start_ns, START);
	profile_free(p);
}

/* Not when there is something to lose, but before. */
static void where_nothing_could_be_written_nothing_is_begun(void)
{
	struct ring_sink_options options = {.path = fixture_path("no/such/file")};
	struct perf_event_attr attr = attr_of(PERF_COUNT_SW_CPU_CLOCK, MS);
	uint64_t id = 1;
	struct perf_data_attr given = {attr, "cpu-clock", &id, 1};
	struct recording r;
	struct session_sink *sink;
	struct error err = {0};

	recording_init(&r);
	CHECK_EQ(ring_sink_new(&sink, &options, &err), 0);
	CHECK(sink->ops->open(sink, &given, 1, &r, &err) < 0);
	CHECK(strstr(err.text, "no/such/file cannot be written") != NULL);
	sink->ops->abandon(sink, false);
	recording_done(&r);
}

/* The session broke off: the records are there for whoever looks. */
static void what_is_abandoned_is_kept_without_an_account(void)
{
	struct ring_sink_options options = {.path = fixture_path("broken")};
	struct recording r;
	struct event_sink nowhere = {0};
	struct error err = {0};
	struct machine m;

	machine_init(&m, &options);
	put_first(&m);
	run_to(&m, 1000);
	m.sink->ops->abandon(m.sink, true);
	recording_init(&r);
	CHECK_EQ(perf_data_read(fixture_path("broken"), NULL, &r, &nowhere, &err), 0);
	CHECK_EQ(r.samples, 1990); /* 2000 ticks less those left out */
	CHECK(!r.account.present);
	recording_done(&r);
	buf_done(&m.out);
	recording_done(&m.whole);

	options.path = fixture_path("never");
	machine_init(&m, &options);
	put_first(&m);
	append(&m);
	m.sink->ops->abandon(m.sink, false);
	CHECK(access(fixture_path("never"), F_OK) != 0);
	recording_done(&m.whole);
	buf_done(&m.out);
}

/* Who comes and goes leaves nothing behind: names of those that live stay right. */
static void a_storm_of_processes_does_not_fill_the_memory(void)
{
	struct ring_sink_options options = {.bytes = 1 << 20, .path = fixture_path("storm")};
	struct ring_sink_state state;
	struct machine m;
	struct recording *r;
	struct profile *p;

	machine_init(&m, &options);
	put_first(&m);
	for (uint64_t ms = 0; ms < 12000; ms++) {
		run_to(&m, ms + 1);
		for (int32_t i = 0; i < 4; i++) {
			uint64_t now = time_of(ms, 0) + 400000 + (uint64_t)i * 1000;
			int32_t pid = 1000 + (int32_t)(ms % 20) * 4 + i;

			put_task(&m, EVENT_FORK, pid, 60, now);
			put_comm(&m, pid, "child", true, now + 100);
			put_map(&m, pid, "/bin/child", now + 200);
			put_task(&m, EVENT_EXIT, pid, 60, now + 300);
		}
	}
	run_to(&m, 12500);
	ring_sink_state(m.sink, &state);
	CHECK(state.left_records > 50000);
	CHECK(state.processes < 10000);
	CHECK_EQ(finish(&m), 0);
	p = load("storm", &r);
	CHECK_EQ(r->out_of_order, 0);
	check_account(p, r);
	profile_free(p);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(the_books_of_a_stretch_close_and_its_names_are_right);
	RUN(rates_and_counts_of_a_stretch_are_its_own);
	RUN(nothing_left_is_a_recording_like_any_other);
	RUN(a_span_bounds_what_is_held);
	RUN(a_span_that_the_memory_does_not_hold_is_told);
	RUN(a_snapshot_that_cannot_be_written_leaves_the_recorder_as_it_was);
	RUN(where_nothing_could_be_written_nothing_is_begun);
	RUN(what_is_abandoned_is_kept_without_an_account);
	RUN(a_storm_of_processes_does_not_fill_the_memory);
	fixture_end();
	return check_end();
}
