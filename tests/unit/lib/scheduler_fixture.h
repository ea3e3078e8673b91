/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduler_fixture: a simulated scheduler, whose events go to a profile_builder, and which keeps
 * the truth about each wait.
 *
 * A path has one frame: its address. Threads of the simulation have ids from 1000 on; each is a
 * process of its own. SIM_* bits choose which records the recording has.
 */
#ifndef ASSAY_TESTS_SCHEDULER_FIXTURE_H
#define ASSAY_TESTS_SCHEDULER_FIXTURE_H

#include "base/memory/xalloc.h"
#include "check.h"
#include "profile/profile_builder.h"
#include "profile/waits/critical_path.h"

#include <linux/perf_event.h>

enum {
	SIM_RECORDS = 1 << 0,       /* switch records */
	SIM_SAMPLES = 1 << 1,       /* samples of sched_switch */
	SIM_SAMPLES_AFTER = 1 << 2, /* after the record of the switch out, else before it */
	SIM_FOREIGN = 1 << 3,       /* fields have ids of another pid namespace */
};

#define SIM_THREADS 64
#define SIM_FIRST 1000
#define SIM_START 1000000ull
#define SIM_CLOCK 0
#define SIM_SWITCH 1
#define SIM_WAKE 2
#define SIM_NO_PATH 0

enum sim_state { SIM_NONE, SIM_RUNNING, SIM_READY, SIM_ASLEEP, SIM_DEAD };

struct sim_thread {
	enum sim_state state;
	bool preempted, is_new, since_start, uninterruptible;
	bool is_known; /* the kernel's id is known: a sample of the thread was recorded */
	uint64_t out_ns, woken_ns;
	uint64_t path, waker_path, argument; /* addresses */
	uint32_t waker;                      /* simulated thread; ID_NONE */
	uint8_t woken;
	uint32_t node; /* its critical path, + 1; up to since_ns */
	uint64_t since_ns;
};

/* The last segment of a critical path, which ends here; the nodes before it are shared. */
struct sim_node {
	uint32_t before; /* index, + 1 */
	uint32_t thread;
	uint8_t kind; /* enum critical_kind */
	uint64_t start_ns, end_ns;
};

/* The truth about one wait. */
struct sim_wait {
	uint32_t thread, waker;
	uint64_t path, waker_path, argument;
	uint64_t out_ns, woken_ns, in_ns;
	uint8_t woken;
	bool since_start, uninterruptible;
};

struct sim {
	unsigned what, cpus;
	uint64_t random, time_ns, from_ns, to_ns;
	uint32_t running[8]; /* by CPU: thread, ID_NONE: idle */
	struct sim_thread threads[SIM_THREADS];
	uint32_t count;
	VEC(struct sim_wait) waits;
	VEC(struct sim_node) nodes;
	uint64_t wakings;
	struct profile *profile;
	struct recording *recording;
	struct profile_builder *builder;
	struct event_sink sink;
};

static inline uint64_t sim_below(struct sim *s, uint64_t limit)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random % limit;
}

static inline int32_t sim_tid(uint32_t thread)
{
	return thread == ID_NONE ? 0 : SIM_FIRST + (int32_t)thread;
}

static inline int32_t sim_kernel_tid(const struct sim *s, uint32_t thread)
{
	return thread == ID_NONE ? 0 : sim_tid(thread) + (s->what & SIM_FOREIGN ? 70000 : 0);
}

/* Extends the critical path of a thread up to now. */
static inline void sim_extend(struct sim *s, uint32_t thread, enum critical_kind kind)
{
	struct sim_thread *t = &s->threads[thread];

	if (s->time_ns > t->since_ns) {
		vec_push(&s->nodes, (struct sim_node){t->node, thread, (uint8_t)kind, t->since_ns,
		                                      s->time_ns});
		t->node = (uint32_t)s->nodes.count;
	}
	t->since_ns = s->time_ns;
}

static inline void sim_put(struct sim *s, struct event e, uint32_t cpu, uint32_t thread)
{
	e.cpu = cpu;
	e.pid = e.tid = sim_tid(thread);
	e.time_ns = s->time_ns;
	s->sink.event(s->sink.ctx, &e, NULL);
}

static inline void sim_add_attr(struct sim *s, const char *name, enum attr_role role, uint64_t id)
{
	struct recording_attr a = {.name = xstrdup(name), .role = role, .period = 1};
	struct tracepoint t = {.id = id};

	a.sample_type = PERF_SAMPLE_CPU | (id ? PERF_SAMPLE_RAW : 0);
	a.type = id ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE;
	a.config = id;
	a.context_switch = !id && s->what & SIM_RECORDS;
	a.period_ns = role == ATTR_CLOCK ? 1000000 : 0;
	vec_push(&s->recording->attrs, a);
	if (id)
		vec_push(&s->recording->tracepoints, t);
}

static inline void sim_begin(struct sim *s, unsigned what, uint64_t seed,
                             const struct profile_builder_options *options)
{
	*s = (struct sim){.what = what, .cpus = 3, .random = seed * 88172645463325252u + 1};
	s->time_ns = SIM_START;
	s->profile = profile_new();
	s->recording = xcalloc(1, sizeof(*s->recording));
	recording_init(s->recording);
	s->recording->account.present = s->recording->account.machine_wide = true;
	s->recording->account.start_ns = SIM_START;
	vec_push(&s->profile->recordings, s->recording);
	sim_add_attr(s, "cpu-clock", ATTR_CLOCK, 0);
	sim_add_attr(s, "sched:sched_switch", ATTR_SWITCH, 7);
	sim_add_attr(s, "sched:sched_waking", ATTR_WAKE, 8);
	for (unsigned i = 0; i < s->cpus; i++)
		s->running[i] = ID_NONE;
	s->builder = profile_builder_new(s->profile, options);
	s->sink = profile_builder_sink(s->builder);
}

/* After the part of the time was chosen in s->recording. */
static inline void sim_start(struct sim *s, uint32_t threads)
{
	s->sink.begin(s->sink.ctx, s->recording, NULL);
	for (uint32_t i = 0; i < threads; i++) {
		struct event comm = {.kind = EVENT_COMM, .comm = {.name = "sim"}};

		comm.pid = comm.tid = sim_tid(i);
		s->sink.event(s->sink.ctx, &comm, NULL);
		s->threads[i] =
		        (struct sim_thread){.state = sim_below(s, 2) ? SIM_READY : SIM_ASLEEP,
		                            .since_start = true,
		                            .out_ns = SIM_START,
		                            .since_ns = SIM_START,
		                            .waker = ID_NONE};
	}
	s->count = threads;
}

static inline void sim_sample(struct sim *s, uint32_t cpu, uint32_t thread, uint16_t attr,
                              uint64_t path, struct event_scheduling fields)
{
	struct event e = {.kind = EVENT_SAMPLE, .mode = CPU_MODE_USER, .attr = attr};
	uint64_t regs[2] = {(uint64_t)-38, 0};

	e.sample.ip = path;
	e.sample.period = 1;
	e.sample.scheduling = fields;
	e.sample.scheduling.known = true;
	e.sample.scheduling.own_tid = sim_kernel_tid(s, thread);
	if (thread != ID_NONE)
		s->threads[thread].is_known = true;
	if (attr == SIM_SWITCH && thread != ID_NONE) {
		regs[1] = s->threads[thread].argument;
		e.sample.regs = regs;
		e.sample.regs_mask = 1 | 1 << 5;
	}
	sim_put(s, e, cpu, thread);
}

/* Adds the wait of a thread up to now to the truth. */
static inline void sim_end_wait(struct sim *s, uint32_t thread, bool is_open)
{
	const struct sim_thread *t = &s->threads[thread];
	bool samples = s->what & SIM_SAMPLES && !t->since_start && !t->is_new;
	struct sim_wait w = {.thread = thread,
	                     .waker = t->waker,
	                     .path = samples ? t->path : SIM_NO_PATH,
	                     .waker_path = t->waker_path,
	                     .out_ns = t->out_ns,
	                     .woken_ns = t->woken_ns,
	                     .in_ns = s->time_ns,
	                     .woken = t->woken,
	                     .since_start = t->since_start,
	                     .argument = samples && !t->preempted ? t->argument : 0,
	                     .uninterruptible = samples && !t->preempted && t->uninterruptible};

	/* A thread that was runnable since before the start looks as if it was blocked. */
	if (!w.woken && (t->preempted || (t->is_new && !t->since_start))) {
		w.woken = WAIT_PREEMPTED;
		w.woken_ns = w.out_ns;
	}
	if (w.woken == WAIT_PREEMPTED || w.woken == WAIT_BY_INTERRUPT || !w.woken || is_open)
		w.waker = ID_NONE;
	if (is_open)
		w.woken = WAIT_OPEN;
	if (w.woken < WAIT_BY_THREAD || w.woken == WAIT_OPEN)
		w.waker_path = SIM_NO_PATH;
	vec_push(&s->waits, w);
}

/* The CPU goes from one thread to another (ID_NONE: idle), whose wait ends. */
static inline void sim_switch(struct sim *s, uint32_t cpu, uint32_t next, bool preempted)
{
	uint32_t prev = s->running[cpu];
	struct sim_thread *from = prev == ID_NONE ? NULL : &s->threads[prev];
	struct event_scheduling fields = {.tid = sim_kernel_tid(s, next),
	                                  .state = !from || preempted      ? 0
	                                           : from->uninterruptible ? 2
	                                                                   : 1};
	struct event out = {.kind = EVENT_SWITCH,
	                    .sched = {.out = true,
	                              .preempted = !from || preempted,
	                              .machine_wide = true,
	                              .next_prev_pid = sim_tid(next),
	                              .next_prev_tid = sim_tid(next)}};
	struct event in = {.kind = EVENT_SWITCH,
	                   .sched = {.machine_wide = true, .next_prev_pid = sim_tid(prev)}};

	if (s->what & SIM_SAMPLES && !(s->what & SIM_SAMPLES_AFTER))
		sim_sample(s, cpu, prev, SIM_SWITCH, from ? from->path : 1, fields);
	if (s->what & SIM_RECORDS)
		sim_put(s, out, cpu, prev);
	if (s->what & SIM_SAMPLES && s->what & SIM_SAMPLES_AFTER)
		sim_sample(s, cpu, prev, SIM_SWITCH, from ? from->path : 1, fields);
	if (s->what & SIM_RECORDS)
		sim_put(s, in, cpu, next);
	s->running[cpu] = next;
	if (from) {
		from->out_ns = s->time_ns;
		if (from->state != SIM_DEAD)
			sim_extend(s, prev, CRITICAL_ON_CPU);
	}
	if (next != ID_NONE) {
		struct sim_thread *to = &s->threads[next];

		if (s->time_ns > to->out_ns || !to->since_start)
			sim_end_wait(s, next, false);
		/* Without a wake-up it looks blocked before its first record. */
		sim_extend(s, next,
		           to->since_start && !to->woken ? CRITICAL_BLOCKED : CRITICAL_RUNNABLE);
		*to = (struct sim_thread){.state = SIM_RUNNING,
		                          .waker = ID_NONE,
		                          .is_known = to->is_known,
		                          .node = to->node,
		                          .since_ns = to->since_ns};
	}
}

static inline void sim_wake(struct sim *s, uint32_t cpu, uint32_t thread, uint8_t by, bool is_new)
{
	uint32_t waker = s->running[cpu];
	struct sim_thread *t = &s->threads[thread];
	struct event_scheduling fields = {.tid = sim_kernel_tid(s, thread),
	                                  .is_new = is_new,
	                                  .context = by == WAIT_BY_INTERRUPT ? EVENT_IN_INTERRUPT
	                                             : by == WAIT_BY_SOFTIRQ ? EVENT_IN_SOFTIRQ
	                                                                     : 0};
	uint64_t path = 100 + sim_below(s, 3);

	sim_sample(s, cpu, waker, SIM_WAKE, path, fields);
	s->wakings++;
	if (s->what & SIM_FOREIGN && !t->is_known)
		return;
	/* The idle task wakes threads only for interrupts. */
	if (waker == ID_NONE && by == WAIT_BY_THREAD)
		by = WAIT_BY_INTERRUPT;
	if (t->state != SIM_RUNNING)
		sim_extend(s, thread, CRITICAL_BLOCKED);
	/* The path of the waker replaces that of the thread. */
	if (t->state != SIM_RUNNING && by == WAIT_BY_THREAD) {
		vec_push(&s->nodes,
		         (struct sim_node){s->threads[waker].node, waker, CRITICAL_ON_CPU,
		                           s->threads[waker].since_ns, s->time_ns});
		t->node = (uint32_t)s->nodes.count;
	}
	t->woken = by;
	t->woken_ns = s->time_ns;
	t->waker = waker;
	t->waker_path = path;
}

static inline void sim_fork(struct sim *s, uint32_t cpu)
{
	uint32_t parent = s->running[cpu], child = s->count;
	struct event fork = {
	        .kind = EVENT_FORK,
	        .fork = {.parent_pid = sim_tid(parent), .parent_tid = sim_tid(parent)}};

	if (parent == ID_NONE || child == SIM_THREADS)
		return;
	s->count++;
	s->threads[child] = (struct sim_thread){.state = SIM_READY,
	                                        .is_new = true,
	                                        .out_ns = s->time_ns,
	                                        .since_ns = s->time_ns,
	                                        .waker = ID_NONE};
	sim_put(s, fork, cpu, child);
	s->time_ns += sim_below(s, 3);
	sim_wake(s, cpu, child, WAIT_BY_THREAD, true);
}

static inline uint32_t sim_pick(struct sim *s, enum sim_state state)
{
	uint32_t at = (uint32_t)sim_below(s, s->count);

	for (uint32_t i = 0; i < s->count; i++)
		if (s->threads[(at + i) % s->count].state == state)
			return (at + i) % s->count;
	return ID_NONE;
}

/* The CPU's thread stops running, and another one runs. */
static inline void sim_schedule(struct sim *s, uint32_t cpu)
{
	uint32_t thread = s->running[cpu], next = sim_pick(s, SIM_READY);
	bool preempted = sim_below(s, 4) == 0;
	struct sim_thread *t;

	if (thread == ID_NONE) {
		if (next != ID_NONE)
			sim_switch(s, cpu, next, false);
		return;
	}
	t = &s->threads[thread];
	t->path = 10 + sim_below(s, 5);
	t->argument = 1 + sim_below(s, 3);
	t->uninterruptible = sim_below(s, 5) == 0;
	t->preempted = preempted;
	/* Woken by another CPU after it set its state: it is runnable at once. */
	if (!preempted && sim_below(s, 8) == 0) {
		sim_wake(s, (cpu + 1) % s->cpus, thread, WAIT_BY_THREAD, false);
		s->time_ns += sim_below(s, 4);
		if (t->woken)
			t->woken_ns = s->time_ns;
		t->state = SIM_READY;
	} else {
		t->state = preempted ? SIM_READY : SIM_ASLEEP;
	}
	sim_switch(s, cpu, next, preempted);
}

static inline void sim_exit(struct sim *s, uint32_t cpu)
{
	uint32_t thread = s->running[cpu];

	if (thread == ID_NONE)
		return;
	sim_put(s, (struct event){.kind = EVENT_EXIT}, cpu, thread);
	s->threads[thread].path = 99;
	s->threads[thread].argument = 1;
	sim_extend(s, thread, CRITICAL_ON_CPU);
	s->time_ns += 1;
	s->threads[thread].state = SIM_DEAD;
	sim_switch(s, cpu, ID_NONE, false);
}

static inline void sim_step(struct sim *s)
{
	static const uint8_t by[] = {WAIT_BY_THREAD, WAIT_BY_THREAD, WAIT_BY_INTERRUPT,
	                             WAIT_BY_SOFTIRQ};
	uint32_t cpu = (uint32_t)sim_below(s, s->cpus), asleep;
	uint64_t what = sim_below(s, 200);
	uint8_t how = by[sim_below(s, 4)];

	s->time_ns += 1 + sim_below(s, 1000);
	if (what < 2) {
		sim_exit(s, cpu);
	} else if (what < 5) {
		sim_fork(s, cpu);
	} else if (what < 90) {
		sim_schedule(s, cpu);
	} else {
		asleep = sim_pick(s, SIM_ASLEEP);
		if (asleep == ID_NONE)
			return;
		sim_wake(s, cpu, asleep, how, false);
		s->threads[asleep].state = SIM_READY;
	}
}

/* Ends the recording; threads without any record are not part of the truth. */
static inline void sim_end(struct sim *s)
{
	s->time_ns += 500;
	for (uint32_t i = 0; i < s->count; i++)
		if ((s->threads[i].state == SIM_READY || s->threads[i].state == SIM_ASLEEP) &&
		    !s->threads[i].since_start)
			sim_end_wait(s, i, true);
	s->recording->account.end_ns = s->time_ns;
	s->sink.end(s->sink.ctx, s->recording, NULL);
	profile_builder_free(s->builder);
}

static inline void sim_done(struct sim *s)
{
	vec_done(&s->waits);
	vec_done(&s->nodes);
	profile_free(s->profile);
}

/* The address of a path with one frame; SIM_NO_PATH: unknown or none. */
static inline uint64_t sim_address(const struct sim *s, uint32_t path)
{
	if (path == ID_NONE || path == s->profile->waits.unknown_path)
		return SIM_NO_PATH;
	return s->profile->frames.items[s->profile->paths.items[path].frame].frame.offset;
}

static inline uint32_t sim_thread_of(const struct sim *s, uint32_t thread)
{
	return thread == ID_NONE
	               ? ID_NONE
	               : (uint32_t)(process_table_thread_at(s->profile->processes, thread)->tid -
	                            SIM_FIRST);
}

#endif
