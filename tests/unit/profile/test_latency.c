/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated machine of four CPUs switches threads of three processes, and samples each CPU at
 * each tick: the sum of a process must be the time in which at least one of its threads ran.
 */
#include "base/memory/xalloc.h"
#include "check.h"
#include "profile/profile_builder.h"

#include <string.h>

#define MS 1000000ull
#define START (1000 * MS)
#define CPUS 4
#define PROCESSES 3
#define THREADS 5 /* of each process */

struct machine {
	struct profile *profile;
	struct recording *recording;
	struct profile_builder *builder;
	struct event_sink sink;
	int running[CPUS]; /* thread, -1: idle */
	uint64_t time_ns, random;
};

static void put(struct machine *m, struct event e, unsigned cpu, int thread)
{
	e.cpu = cpu;
	e.pid = thread < 0 ? 0 : 100 * (1 + thread / THREADS);
	e.tid = thread < 0 ? 0 : e.pid + thread % THREADS;
	e.time_ns = m->time_ns;
	m->sink.event(m->sink.ctx, &e, NULL);
}

static void begin(struct machine *m, enum latency_mode mode)
{
	struct profile_builder_options options = {.latency = mode, .time_axis = true};
	struct recording_attr clock = {
	        .name = xstrdup("cpu-clock"), .role = ATTR_CLOCK, .period_ns = MS};

	*m = (struct machine){.time_ns = START, .random = 88172645463325252u};
	m->profile = profile_new();
	m->recording = xcalloc(1, sizeof(*m->recording));
	recording_init(m->recording);
	m->recording->account.present = m->recording->account.machine_wide = true;
	m->recording->account.start_ns = START;
	vec_push(&m->profile->recordings, m->recording);
	vec_push(&m->recording->attrs, clock);
	for (unsigned i = 0; i < CPUS; i++)
		m->running[i] = -1;
	m->builder = profile_builder_new(m->profile, &options);
	m->sink = profile_builder_sink(m->builder);
	m->sink.begin(m->sink.ctx, m->recording, NULL);
}

static void end(struct machine *m)
{
	m->recording->account.end_ns = m->time_ns;
	m->sink.end(m->sink.ctx, m->recording, NULL);
	profile_builder_free(m->builder);
}

static void switch_to(struct machine *m, unsigned cpu, int thread)
{
	struct event e = {.kind = EVENT_SWITCH, .sched = {.out = true, .machine_wide = true}};

	put(m, e, cpu, m->running[cpu]);
	e.sched.out = false;
	put(m, e, cpu, thread);
	m->running[cpu] = thread;
}

static bool runs(const struct machine *m, int thread)
{
	for (unsigned i = 0; i < CPUS; i++)
		if (m->running[i] == thread)
			return true;
	return false;
}

static void tick(struct machine *m)
{
	for (unsigned i = 0; i < CPUS; i++)
		put(m,
		    (struct event){.kind = EVENT_SAMPLE,
		                   .mode = m->running[i] < 0 ? CPU_MODE_KERNEL : CPU_MODE_USER,
		                   .sample = {.ip = 10, .period = MS}},
		    i, m->running[i]);
}

static unsigned below(struct machine *m, unsigned limit)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (unsigned)(m->random % limit);
}

/* The weight of the event of latency, of a process or of all (-1). */
static uint64_t latency_of(const struct machine *m, int process)
{
	const struct profile *p = m->profile;
	uint64_t sum = 0;

	vec_each (row, &p->rows) {
		uint32_t id = process_table_thread_at(p->processes, row->thread)->process;
		int32_t pid = process_table_process(p->processes, id)->pid;

		if (!strcmp(p->events.items[row->event].name, PROFILE_LATENCY_EVENT) &&
		    (process < 0 || pid == 100 * (1 + process)))
			sum += row->weight;
	}
	return sum;
}

/* Switches at random between ticks; busy[process], and [PROCESSES] for the machine: ticks. */
static void simulate(struct machine *m, enum latency_mode mode, uint64_t *busy)
{
	begin(m, mode);
	for (int i = 0; i < 3000; i++) {
		bool any[PROCESSES + 1] = {0};

		for (unsigned n = below(m, 3); n; n--) {
			unsigned cpu = below(m, CPUS);
			int thread = (int)below(m, PROCESSES * THREADS + 4) - 4;

			thread = thread < 0 ? -1 : thread;
			m->time_ns += MS / 10;
			if (thread < 0 || !runs(m, thread))
				switch_to(m, cpu, thread);
		}
		m->time_ns += MS / 2;
		for (unsigned cpu = 0; cpu < CPUS; cpu++)
			if (m->running[cpu] >= 0)
				any[m->running[cpu] / THREADS] = any[PROCESSES] = true;
		for (unsigned j = 0; j <= PROCESSES; j++)
			busy[j] += any[j];
		tick(m);
	}
	end(m);
}

/* A divisor of 3 leaves a rest below one ns. */
static void check_near(uint64_t got, uint64_t ticks)
{
	CHECK(ticks > 1000);
	CHECK(got <= ticks * MS && got + CPUS > ticks * MS);
}

static void sums_are_the_time_of_the_process(void)
{
	uint64_t busy[PROCESSES + 1] = {0};
	struct machine m;

	simulate(&m, LATENCY_OF_PROCESS, busy);
	for (int i = 0; i < PROCESSES; i++)
		check_near(latency_of(&m, i), busy[i]);
	profile_free(m.profile);
}

static void sums_are_the_time_of_the_machine(void)
{
	uint64_t busy[PROCESSES + 1] = {0};
	struct machine m;

	simulate(&m, LATENCY_OF_MACHINE, busy);
	check_near(latency_of(&m, -1), busy[PROCESSES]);
	profile_free(m.profile);
}

/* The other event, and the account, are as without the option. */
static void the_clock_is_unchanged(void)
{
	uint64_t busy[PROCESSES + 1] = {0}, weight = 0, axis = 0;
	struct machine m;
	struct time_cursor c;
	struct time_entry e;
	uint8_t event;

	simulate(&m, LATENCY_OF_PROCESS, busy);
	CHECK_EQ(profile_main_event(m.profile), 0);
	CHECK_EQ(m.profile->events.items[0].samples, 3000 * CPUS);
	CHECK_EQ(m.profile->events.items[0].weight, 3000 * CPUS * MS);
	vec_each (cpu, &m.profile->ledger.cpus)
		weight += cpu->weight_busy + cpu->weight_idle;
	CHECK_EQ(weight, 3000 * CPUS * MS);
	CHECK_EQ(profile_find_event(m.profile, PROFILE_LATENCY_EVENT, &event, NULL), 0);
	vec_each (track, &m.profile->axis.tracks) {
		if (track->event != event)
			continue;
		time_axis_seek(&c, &m.profile->axis,
		               (uint32_t)(track - m.profile->axis.tracks.items), 0);
		while (time_axis_next(&c, &e))
			axis += e.weight;
	}
	CHECK_EQ(axis, latency_of(&m, -1));
	profile_free(m.profile);
}

/* An exec and lost switches do not leave a thread running for ever. */
static void threads_stop_running(void)
{
	struct event exec = {.kind = EVENT_COMM, .comm = {.name = "new", .exec = true}};
	struct event in = {.kind = EVENT_SWITCH, .sched = {.machine_wide = true}};
	struct machine m;

	begin(&m, LATENCY_OF_PROCESS);
	switch_to(&m, 0, 0);
	put(&m, exec, 0, 0);
	m.time_ns += MS;
	tick(&m);
	put(&m, in, 0, THREADS); /* the switch out of thread 0 was lost */
	m.running[0] = THREADS;
	switch_to(&m, 1, 0);
	m.time_ns += MS;
	tick(&m);
	end(&m);
	CHECK_EQ(latency_of(&m, 0), 2 * MS);
	CHECK_EQ(latency_of(&m, 1), MS);
	profile_free(m.profile);
}

static void no_samples_without_switch_records(void)
{
	struct machine m;

	begin(&m, LATENCY_OF_PROCESS);
	m.running[0] = 1;
	tick(&m);
	end(&m);
	CHECK_EQ(latency_of(&m, -1), 0);
	CHECK_EQ(m.profile->ledger.processes.count, 0);
	profile_free(m.profile);
}

int main(void)
{
	RUN(sums_are_the_time_of_the_process);
	RUN(sums_are_the_time_of_the_machine);
	RUN(the_clock_is_unchanged);
	RUN(threads_stop_running);
	RUN(no_samples_without_switch_records);
	return check_end();
}
