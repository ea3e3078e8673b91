/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * day_fixture: a simulated machine with two CPUs and a timer. On each CPU a shell starts one
 * process after the other. The fixture records the true figures and sends the events to a sink in
 * time order. The test compares the figures of windows with them.
 */
#ifndef ASSAY_TESTS_DAY_FIXTURE_H
#define ASSAY_TESTS_DAY_FIXTURE_H

#include "profile/profile_windows.h"
#include "store/store.h"

#include <linux/perf_event.h>
#include <stdio.h>

#define SECOND UINT64_C(1000000000)
#define WINDOW_NS (10 * SECOND)
#define WALL_LESS_NS (1795000000 * SECOND)
#define START_NS (1000 * SECOND)
#define PERIOD_NS (SECOND / 97)
#define CPUS 2
#define PIDS 30000
#define IMAGES 50
#define TEXT 0x400000u

struct options {
	uint64_t seconds;
	double instances; /* for each second */
	uint32_t names;
	uint32_t processes_max;
	bool edges; /* ticks are dropped up to the end of windows */
};

/* The true figures of a window, or of the whole simulation. */
struct truth {
	uint64_t due, seen, dropped, missing, busy_ns, lost_events;
};

enum step { STEP_WAKE, STEP_FORK, STEP_SWITCH, STEP_EXEC, STEP_END };

struct cpu {
	uint64_t at, tick; /* time of its next step and its next tick */
	enum step step;
	int32_t pid; /* the running process */
	int32_t child;
	uint32_t name;
	uint64_t busy_since, job_began;
};

struct day {
	struct options o;
	struct event_sink sink;
	struct recording recording;
	struct store *store;
	struct cpu cpus[CPUS];
	struct truth now, all;
	uint64_t window_end_ns, end_ns;
	uint64_t windows, generated, seed;
	uint32_t *of_name; /* number of executed processes of each name */
	int32_t next_pid;
	int status;
	struct error err;
	/* Figures of the windows, and differences. */
	struct truth ledger;
	uint64_t wrong_windows, wrong_busy, wrong_samples, half_bytes, bytes;
	size_t early_heap, late_heap;
	long early_rss, late_rss;
};

static inline uint32_t dice(struct day *d, uint32_t sides)
{
	d->seed = d->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(d->seed >> 33) % sides;
}

static inline void deliver(struct day *d, struct event *e)
{
	if (!d->status)
		d->status = d->sink.event(d->sink.ctx, e, &d->err);
}

static inline void tell_switch(struct day *d, uint32_t cpu, uint64_t time, int32_t from, int32_t to)
{
	struct event e = {.kind = EVENT_SWITCH, .attr = 1, .cpu = cpu, .time_ns = time};

	e.pid = e.tid = from;
	e.sched = (struct event_switch){
	        .out = true, .machine_wide = true, .next_prev_pid = to, .next_prev_tid = to};
	deliver(d, &e);
	e.pid = e.tid = to;
	e.sched.out = false;
	e.sched.next_prev_pid = e.sched.next_prev_tid = from;
	deliver(d, &e);
	if (!from)
		d->cpus[cpu].busy_since = time;
	if (!to)
		d->now.busy_ns += time - d->cpus[cpu].busy_since;
	d->cpus[cpu].pid = to;
}

static inline void tell_task(struct day *d, enum event_kind kind, uint32_t cpu, uint64_t time,
                             int32_t pid, int32_t parent)
{
	struct event e = {.kind = kind, .attr = 1, .cpu = cpu, .time_ns = time};

	e.pid = e.tid = pid;
	e.fork.parent_pid = e.fork.parent_tid = parent;
	deliver(d, &e);
}

static inline void tell_exec(struct day *d, uint32_t cpu, uint64_t time, int32_t pid, uint32_t name)
{
	struct event e = {.kind = EVENT_COMM, .attr = 1, .cpu = cpu, .time_ns = time};
	char text[32];

	snprintf(text, sizeof(text), "job-%u", name);
	e.pid = e.tid = pid;
	e.comm.name = text;
	e.comm.exec = true;
	deliver(d, &e);
	for (uint32_t i = 0; i < 3; i++) {
		struct event m = {.kind = EVENT_MMAP,
		                  .mode = CPU_MODE_USER,
		                  .attr = 1,
		                  .cpu = cpu,
		                  .time_ns = time + 1 + i};
		char path[64];

		snprintf(path, sizeof(path), i ? "/lib/lib%u.so" : "/bin/tool-%u",
		         i ? i : name % IMAGES);
		m.pid = m.tid = pid;
		m.mmap.addr = TEXT + i * 0x100000u;
		m.mmap.size = 0x80000;
		m.mmap.executable = true;
		m.mmap.inode = i ? i : 100 + name % IMAGES;
		m.mmap.filename = path;
		deliver(d, &m);
	}
}

static inline void tell_sample(struct day *d, uint32_t cpu, uint64_t time)
{
	const struct cpu *c = &d->cpus[cpu];
	struct event e = {.kind = EVENT_SAMPLE, .mode = CPU_MODE_USER, .cpu = cpu};
	uint64_t chain[] = {CHAIN_CONTEXT_USER, TEXT + 16 * (uint64_t)dice(d, 20),
	                    TEXT + 0x100000 + 32 * (uint64_t)dice(d, 5), TEXT + 0x200000};

	e.time_ns = time;
	e.pid = e.tid = c->pid;
	if (!c->pid)
		e.mode = CPU_MODE_KERNEL;
	e.sample.period = PERIOD_NS;
	e.sample.ip = c->pid ? chain[1] : 0xffffffff81000100;
	e.sample.chain = chain;
	e.sample.chain_count = c->pid ? 4 : 0;
	deliver(d, &e);
}

/* A tick of the timer causes a sample, a lost sample, or nothing. */
static inline void tick(struct day *d, uint32_t cpu)
{
	struct cpu *c = &d->cpus[cpu];
	uint64_t time = c->tick, late = 4000 + dice(d, 3000);
	/* A missing tick is detected half a period later, which may be in the next window. */
	bool edge = time + PERIOD_NS > d->window_end_ns && !d->o.edges;
	uint32_t fate = dice(d, 1000);
	struct event lost = {.kind = EVENT_LOST, .attr = 1, .cpu = cpu, .time_ns = time + late};

	c->tick += PERIOD_NS;
	d->now.due++;
	lost.lost.count = 1;
	lost.pid = lost.tid = c->pid;
	if (edge || fate >= 7) {
		tell_sample(d, cpu, time + late);
		d->now.seen++;
	} else if (fate < 4) {
		deliver(d, &lost);
		d->now.dropped++;
		d->now.lost_events++;
	} else {
		d->now.missing++;
	}
}

/* The shell of the CPU forks; the child may execute another program, and exits. */
static inline void step(struct day *d, uint32_t cpu)
{
	struct cpu *c = &d->cpus[cpu];
	int32_t shell = 100 + (int32_t)cpu;
	uint64_t time = c->at;
	double cycle_ns = 1.75 * CPUS * (double)SECOND / d->o.instances;
	bool runs;

	switch (c->step) {
	case STEP_WAKE:
		c->job_began = time;
		tell_switch(d, cpu, time, 0, shell);
		c->at = time + 50000;
		c->step = STEP_FORK;
		break;
	case STEP_FORK:
		d->next_pid = d->next_pid == 1000 + PIDS ? 1000 : d->next_pid + 1;
		c->child = d->next_pid;
		tell_task(d, EVENT_FORK, cpu, time, c->child, shell);
		d->generated++;
		c->at = time + 20000;
		c->step = STEP_SWITCH;
		break;
	case STEP_SWITCH:
		tell_switch(d, cpu, time, shell, c->child);
		runs = dice(d, 4);
		c->at = time + (runs ? 30000 : 400000);
		c->step = runs ? STEP_EXEC : STEP_END;
		break;
	case STEP_EXEC:
		c->name = dice(d, d->o.names);
		tell_exec(d, cpu, time, c->child, c->name);
		d->generated++;
		d->of_name[c->name]++;
		c->at = time + 100000 + dice(d, (uint32_t)(cycle_ns / 3));
		c->step = STEP_END;
		break;
	case STEP_END:
		tell_task(d, EVENT_EXIT, cpu, time, c->child, shell);
		tell_switch(d, cpu, time + 10000, c->child, 0);
		c->at = c->job_began + (uint64_t)cycle_ns / 2 + dice(d, (uint32_t)cycle_ns);
		if (c->at < time + 20000)
			c->at = time + 20000;
		c->step = STEP_WAKE;
		break;
	}
}

/* At a boundary: stores the true figures of the window. */
static inline void end_window(struct day *d)
{
	for (uint32_t i = 0; i < CPUS; i++)
		if (d->cpus[i].pid) {
			d->now.busy_ns += d->window_end_ns - d->cpus[i].busy_since;
			d->cpus[i].busy_since = d->window_end_ns;
		}
}

static inline void next_window(struct day *d)
{
	d->all.due += d->now.due;
	d->all.seen += d->now.seen;
	d->all.dropped += d->now.dropped;
	d->all.missing += d->now.missing;
	d->all.busy_ns += d->now.busy_ns;
	d->now = (struct truth){0};
	d->window_end_ns += WINDOW_NS;
}

static inline void describe(struct recording *r)
{
	struct recording_attr clock = {.name = xstrdup("cpu-clock"),
	                               .role = ATTR_CLOCK,
	                               .type = PERF_TYPE_SOFTWARE,
	                               .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CPU,
	                               .frequency_hz = 97,
	                               .period_ns = PERIOD_NS,
	                               .callchain = true,
	                               .user_callchain = true};
	struct recording_attr track = {.name = xstrdup("dummy"), .role = ATTR_TRACK};

	recording_init(r);
	r->hostname = xstrdup("simulated");
	r->cpus_online = r->cpus_available = CPUS;
	r->clockid = 1;
	r->clock_start_ns = START_NS;
	r->clock_wall_ns = START_NS + WALL_LESS_NS;
	vec_push(&r->attrs, clock);
	vec_push(&r->attrs, track);
}

static inline void begin_day(struct day *d)
{
	for (uint32_t i = 0; i < CPUS; i++) {
		struct event e = {.kind = EVENT_COMM, .attr = 1, .cpu = EVENT_NO_CPU};

		d->cpus[i] = (struct cpu){.at = START_NS + 3000000 * (i + 1),
		                          .tick = START_NS + 6000000 + 1000000 * i};
		e.pid = e.tid = 100 + (int32_t)i;
		e.comm.name = "sh";
		deliver(d, &e);
	}
	d->generated = CPUS + 1; /* including the idle process */
	d->next_pid = 1000;
	d->window_end_ns = START_NS + WINDOW_NS;
	d->end_ns = START_NS + d->o.seconds * SECOND;
}

/* Generates the next events of both CPUs in time order. */
static inline void live(struct day *d, struct profile_windows *w)
{
	while (!d->status) {
		uint64_t next = UINT64_MAX;
		bool is_tick = false;
		uint32_t cpu = 0;

		for (uint32_t i = 0; i < CPUS; i++) {
			const struct cpu *c = &d->cpus[i];
			/* A step takes some time; ticks within it come after it. */
			uint64_t at = c->at < c->tick + 20000 ? c->at : c->tick;

			if (at < next) {
				next = at;
				cpu = i;
				is_tick = c->at >= c->tick + 20000;
			}
		}
		if (next + 50000 >= d->window_end_ns) {
			/* A boundary is never within a step. */
			for (uint32_t i = 0; i < CPUS; i++)
				if (d->cpus[i].at < d->window_end_ns + 1000)
					d->cpus[i].at = d->window_end_ns + 1000 + 40000 * i;
			end_window(d);
			d->status = profile_windows_until(w, d->window_end_ns, &d->err);
			next_window(d);
			if (d->window_end_ns > d->end_ns)
				return;
		} else if (is_tick) {
			tick(d, cpu);
		} else {
			step(d, cpu);
		}
	}
}

#endif
