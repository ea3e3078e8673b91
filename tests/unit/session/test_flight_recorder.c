/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flight recorder with a simulated machine: a snapshot reports what the machine did in its time
 * range, and names processes whose start was evicted.
 */
#include "profile/profile_builder.h"

#include <malloc.h>

#include "flight_recorder_fixture.h"

/* Reads a file as a report does. */
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

/* Arrived and missing ticks of those due between two times. */
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
	/* Counts grow linearly between checks, one second apart: exact except for rounding. */
	CHECK(is_near(a->cpus.items[0].stat_steal_ns, stolen_ns(to) - stolen_ns(from), MS / 20));
	CHECK_EQ(a->cpus.items[1].stat_steal_ns, 0);
	CHECK(is_near(a->observer_cpu_ns, own_ns(to) - own_ns(from), MS / 20));
	/* The wall clock at the start of the range. */
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

/* Each busy sample has the name of the running program and all its callers. */
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
	struct flight_recorder_options options = {.bytes = UINT64_C(1) << 20,
	                                          .path = fixture_path("last")};
	struct flight_recorder_state state;
	struct recording *early, *late;
	struct machine m;
	struct profile *p;

	machine_start(&m, &options, 20000);
	flight_recorder_state(m.sink, &state);
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

static void nothing_left_is_a_recording_like_any_other(void)
{
	struct flight_recorder_options options = {.path = fixture_path("all")};
	struct recording *r;
	struct machine m;
	struct profile *p;

	machine_start(&m, &options, 1000);
	CHECK_EQ(snapshot(&m, "first"), 0);
	p = load("first", &r);
	CHECK_EQ(r->account.start_ns, START);
	CHECK_EQ(r->account.end_ns, START + 1000 * MS - SETTLED);
	CHECK(has_note(r, "The first 1.0 s of a recording that continued."));
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

static void a_span_limits_the_buffered_records(void)
{
	struct flight_recorder_options options = {.span_ns = 2000 * MS,
	                                          .path = fixture_path("span")};
	struct recording *r;
	struct machine m;
	struct profile *p;

	machine_start(&m, &options, 9000);
	CHECK_EQ(snapshot(&m, "span"), 0);
	p = load("span", &r);
	CHECK(r->account.start_ns <= START + 7000 * MS);
	/* Chunks end when the session checks, here once a second. */
	CHECK(r->account.start_ns >= START + 5900 * MS);
	CHECK(!has_note(r, "less than"));
	check_account(p, r);
	profile_free(p);
	CHECK_EQ(finish(&m), 0);
}

static void a_span_beyond_the_memory_is_reported(void)
{
	struct flight_recorder_options options = {
	        .bytes = 1 << 20, .span_ns = 60000 * MS, .path = fixture_path("short")};
	struct recording *r;
	struct machine m;
	struct profile *p;

	machine_start(&m, &options, 15000);
	CHECK_EQ(finish(&m), 0);
	p = load("short", &r);
	CHECK(has_note(r, "less than the requested 60 s: 1 MB"));
	profile_free(p);
}

static void a_snapshot_that_cannot_be_written_leaves_the_recorder_as_it_was(void)
{
	struct flight_recorder_options options = {.path = fixture_path("good")};
	struct session_status now;
	struct error err = {0};
	struct recording *r;
	struct machine m;
	struct profile *p;

	machine_start(&m, &options, 1000);
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

/* An unusable output is reported at the start, not at the end. */
static void where_nothing_could_be_written_nothing_is_begun(void)
{
	struct flight_recorder_options options = {.path = fixture_path("no/such/file")};
	struct perf_event_attr attr = attr_of(PERF_COUNT_SW_CPU_CLOCK, MS);
	uint64_t id = 1;
	struct perf_data_attr given = {attr, "cpu-clock", &id, 1};
	struct recording r;
	struct session_sink *sink;
	struct error err = {0};

	recording_init(&r);
	CHECK_EQ(flight_recorder_new(&sink, &options, &err), 0);
	CHECK(sink->ops->open(sink, &given, 1, &r, &err) < 0);
	CHECK(strstr(err.text, "no/such/file cannot be written") != NULL);
	sink->ops->abandon(sink, false);
	recording_done(&r);
}

/* The session failed: its records are still in a file. */
static void an_abandoned_file_is_kept_without_an_account(void)
{
	struct flight_recorder_options options = {.path = fixture_path("broken")};
	struct recording r;
	struct event_sink nowhere = {0};
	struct error err = {0};
	struct machine m;

	machine_start(&m, &options, 1000);
	m.sink->ops->abandon(m.sink, true);
	recording_init(&r);
	CHECK_EQ(perf_data_read(fixture_path("broken"), NULL, &r, &nowhere, &err), 0);
	CHECK_EQ(r.samples, 1990); /* 2000 ticks minus the excluded ones */
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

/* Exited processes use no memory, and the names of living ones stay correct. */
static void a_storm_of_processes_does_not_fill_the_memory(void)
{
	struct flight_recorder_options options = {.bytes = 1 << 20, .path = fixture_path("storm")};
	struct flight_recorder_state state;
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
	flight_recorder_state(m.sink, &state);
	CHECK(state.left_records > 50000);
	CHECK(state.processes < 10000);
	CHECK_EQ(finish(&m), 0);
	p = load("storm", &r);
	CHECK_EQ(r->out_of_order, 0);
	check_account(p, r);
	profile_free(p);
}

/* A thread that renames itself, and a process that maps files and deletes them. */
static void names_and_mappings_do_not_fill_the_memory(void)
{
	struct flight_recorder_options options = {.bytes = 1 << 20, .path = fixture_path("names")};
	struct machine m;
	struct recording *r;
	struct profile *p;
	size_t most = 0;
	char name[64];

	machine_init(&m, &options);
	put_first(&m);
	for (uint64_t ms = 0; ms < 1000; ms++) {
		struct mallinfo2 info;

		run_to(&m, ms + 1);
		for (uint64_t i = 0; i < 1000; i++) {
			uint64_t now = time_of(ms, 0) + 400000 + i * 100;
			struct event e;

			snprintf(name, sizeof(name), "%u", (unsigned)(ms * 1000 + i));
			e = event_of(EVENT_COMM, 60, now);
			e.tid = 61;
			e.comm.name = name;
			put(&m, e, 0);
			snprintf(name, sizeof(name), "/tmp/%u/which-is-deleted-at-once",
			         (unsigned)(ms * 1000 + i));
			put_map(&m, 60, name, now + 50);
		}
		info = mallinfo2();
		most = info.uordblks + info.hblkhd > most ? info.uordblks + info.hblkhd : most;
	}
	printf("# %zu KB\n", most >> 10);
	CHECK(most < (size_t)80 << 20);
	run_to(&m, 1500);
	CHECK_EQ(finish(&m), 0);
	p = load("names", &r);
	check_account(p, r);
	profile_free(p);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(the_books_of_a_stretch_close_and_its_names_are_right);
	RUN(nothing_left_is_a_recording_like_any_other);
	RUN(a_span_limits_the_buffered_records);
	RUN(a_span_beyond_the_memory_is_reported);
	RUN(a_snapshot_that_cannot_be_written_leaves_the_recorder_as_it_was);
	RUN(where_nothing_could_be_written_nothing_is_begun);
	RUN(an_abandoned_file_is_kept_without_an_account);
	RUN(a_storm_of_processes_does_not_fill_the_memory);
	RUN(names_and_mappings_do_not_fill_the_memory);
	fixture_end();
	return check_end();
}
