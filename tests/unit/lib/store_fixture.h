/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_fixture: a simulated machine with two CPUs whose events are measured into a store. The
 * programs of a mill start and exit, and a server with several threads stays. The same seed gives
 * the same events.
 */
#ifndef ASSAY_TESTS_STORE_FIXTURE_H
#define ASSAY_TESTS_STORE_FIXTURE_H

#include "profile/profile_windows.h"
#include "store/store.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)
#define MILL_CPUS 2
/* 2026-01-01 0:00 UTC; the clock started one day before. */
#define MILL_WALL (UINT64_C(1767225600) * SECOND)
#define MILL_CLOCK (DAY + 12345)

struct mill_cpu {
	int32_t pid, tid; /* the running thread; 0: idle */
	uint64_t next_ns; /* time of the next switch */
	uint64_t tick_ns;
	int program;
};

struct mill {
	/* set before mill_begin() */
	uint64_t period_ns, window_ns, seed;
	uint64_t run_ns, rest_ns; /* averages: lifetime of a program, idle time between two */
	uint32_t programs;        /* number of different programs */
	uint32_t functions;       /* of each */
	bool leaves;              /* no callers */
	const char *path;         /* of the store; NULL: only a profile, `whole` */
	struct store_options options;
	bool keep;              /* store_retention() after each window */
	struct store_rate rate; /* of each window; period_ns may change between two */
	struct store_budget budget;
	const char *hostname;

	uint64_t now_ns, wall_offset_ns;
	int32_t last_pid;
	struct mill_cpu cpus[MILL_CPUS];
	struct recording recording;
	struct store *store;
	struct profile_windows *windows;
	struct profile *whole; /* the same events without windows, as reference */
	struct profile_builder *builder;
	struct event_sink sinks[2];
	size_t sink_count;
	uint64_t windows_written, samples, processes;
	uint64_t keep_most_ns; /* CPU time of the longest call of store_retention() */
	struct error err;
};

static uint64_t mill_random(struct mill *m)
{
	return hash_u64(++m->seed);
}

/*
 * An approximation of an exponential distribution: from a tenth of the average to about twice it.
 */
static uint64_t mill_span(struct mill *m, uint64_t average)
{
	return average / 10 + mill_random(m) % (average * 9 / 5 + 1);
}

static void mill_event(struct mill *m, struct event *e)
{
	for (size_t i = 0; i < m->sink_count; i++)
		if (m->sinks[i].event(m->sinks[i].ctx, e, &m->err)) {
			fprintf(stderr, "%s\n", m->err.text);
			abort();
		}
}

static struct event mill_new(struct mill *m, enum event_kind kind, int32_t pid, int32_t tid)
{
	return (struct event){
	        .kind = kind, .mode = CPU_MODE_USER, .pid = pid, .tid = tid, .time_ns = m->now_ns};
}

static void mill_map(struct mill *m, int32_t pid, const char *path, uint8_t id)
{
	struct event e = mill_new(m, EVENT_MMAP, pid, pid);

	e.mmap.addr = 0x400000;
	e.mmap.size = 0x1000000;
	e.mmap.filename = path;
	e.mmap.executable = true;
	e.mmap.inode = id;
	e.mmap.build_id = (struct build_id){20, {id, 1, 2, 3}};
	if (pid < 0) {
		e.mode = CPU_MODE_KERNEL;
		e.mmap.addr = e.mmap.pgoff = UINT64_C(0xffffffff9a000000);
		e.mmap.size = 0x2000000;
	}
	mill_event(m, &e);
}

static void mill_comm(struct mill *m, int32_t pid, int32_t tid, const char *name, bool exec)
{
	struct event e = mill_new(m, EVENT_COMM, pid, tid);

	e.comm.name = name;
	e.comm.exec = exec;
	mill_event(m, &e);
}

static void mill_fork(struct mill *m, int32_t pid, int32_t tid, int32_t parent)
{
	struct event e = mill_new(m, EVENT_FORK, pid, tid);

	e.fork.parent_pid = e.fork.parent_tid = parent;
	mill_event(m, &e);
}

static void mill_switch(struct mill *m, uint32_t cpu, int32_t from, int32_t to)
{
	struct event out = mill_new(m, EVENT_SWITCH, from, from);
	struct event in = mill_new(m, EVENT_SWITCH, to, to);

	out.cpu = in.cpu = cpu;
	out.sched = (struct event_switch){.out = true, .machine_wide = true, .next_prev_pid = to};
	in.sched = (struct event_switch){.machine_wide = true, .next_prev_pid = from};
	mill_event(m, &out);
	mill_event(m, &in);
}

static void mill_start(struct mill *m, uint32_t cpu)
{
	struct mill_cpu *c = &m->cpus[cpu];
	char name[32], path[48];

	c->program = (int)(mill_random(m) % m->programs);
	/* Every eighth time the server runs. */
	if (mill_random(m) % 8) {
		c->pid = m->last_pid = m->last_pid % 4000000 + 2;
		snprintf(name, sizeof(name), "prog%d", c->program);
		snprintf(path, sizeof(path), "/usr/bin/prog%d", c->program);
		mill_fork(m, c->pid, c->pid, 1);
		mill_comm(m, c->pid, c->pid, name, true);
		mill_map(m, c->pid, path, (uint8_t)(c->program + 10));
		m->processes++;
	} else {
		c->pid = 1 + 2 * (int32_t)cpu;
		c->program = 0;
	}
	mill_switch(m, cpu, 0, c->pid);
	c->next_ns += mill_span(m, m->run_ns);
}

static void mill_stop(struct mill *m, uint32_t cpu)
{
	struct mill_cpu *c = &m->cpus[cpu];
	struct event e = mill_new(m, EVENT_EXIT, c->pid, c->pid);

	mill_switch(m, cpu, c->pid, 0);
	e.fork.parent_pid = e.fork.parent_tid = 1;
	if (c->pid > 9)
		mill_event(m, &e);
	c->pid = 0;
	c->next_ns += mill_span(m, m->rest_ns);
}

/* Functions with higher numbers are used less often; the same is true for deep paths. */
static uint32_t mill_pick(struct mill *m, uint32_t count)
{
	uint64_t r = mill_random(m);
	uint32_t most = count >> __builtin_ctzll(r | 1 << 12);

	return most ? (uint32_t)(r >> 16) % most : 0;
}

static void mill_tick(struct mill *m, uint32_t cpu)
{
	struct mill_cpu *c = &m->cpus[cpu];
	struct event e = mill_new(m, EVENT_SAMPLE, c->pid, c->pid);
	uint64_t chain[24], kernel = UINT64_C(0xffffffff9a000000);
	uint32_t count = 0, depth = m->leaves ? 1 : 1 + mill_pick(m, 12), function = 0;

	e.cpu = cpu;
	e.sample.period = m->period_ns;
	if (!c->pid || mill_random(m) % 4 == 0) {
		e.mode = CPU_MODE_KERNEL;
		chain[count++] = CHAIN_CONTEXT_KERNEL;
		for (uint32_t i = 0; i < (c->pid && !m->leaves ? depth % 4 + 1 : 2 - m->leaves);
		     i++)
			chain[count++] =
			        kernel + 0x1000 + 0x100 * (c->pid ? mill_pick(m, 500) : i + 500);
	}
	if (c->pid) {
		chain[count++] = CHAIN_CONTEXT_USER;
		/* Each function calls four others, one of them in most cases. */
		for (uint32_t i = depth; i-- > 0;) {
			chain[count + i] =
			        0x401000 + 0x100 * (uint64_t)function + mill_random(m) % 3 * 16;
			function = (uint32_t)(hash_pair(function,
			                                mill_pick(m, 4) + (uint64_t)c->program) %
			                      m->functions);
		}
		count += depth;
	}
	e.sample.ip = chain[1];
	e.sample.chain = chain;
	e.sample.chain_count = count;
	m->samples++;
	mill_event(m, &e);
}

static int mill_window(void *ctx, const struct profile *p, const struct profile_window *w,
                       struct error *err)
{
	struct mill *m = ctx;
	struct store_buffer buffers[MILL_CPUS] = {0};
	struct store_window sw = {.start_ns = w->start_ns + m->wall_offset_ns,
	                          .end_ns = w->end_ns + m->wall_offset_ns,
	                          .samples = w->samples,
	                          .lost_records = w->lost_records,
	                          .observer_cpu_ns = 1000000,
	                          .period_ns = m->period_ns,
	                          .rate = m->rate,
	                          .budget = m->budget,
	                          .wall_offset_ns = (int64_t)m->wall_offset_ns,
	                          .buffers = buffers,
	                          .buffer_count = MILL_CPUS};
	struct timespec a, b;
	uint64_t took;
	int status;

	for (uint32_t i = 0; i < MILL_CPUS; i++)
		buffers[i] = (struct store_buffer){.cpu = i,
		                                   .ring_bytes = 4096,
		                                   .used_max = 100 + w->number % 7,
		                                   .used_average = 50,
		                                   .has_steal = true,
		                                   .steal_ns = 1000};
	m->windows_written++;
	status = store_add_window(m->store, p, &sw, err);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	if (!status && m->keep)
		status = store_retention(m->store, sw.end_ns, err);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	took = (uint64_t)(b.tv_sec - a.tv_sec) * SECOND + (uint64_t)b.tv_nsec - (uint64_t)a.tv_nsec;
	m->keep_most_ns = took > m->keep_most_ns ? took : m->keep_most_ns;
	return status;
}

static void mill_describe(struct mill *m)
{
	struct recording *r = &m->recording;
	struct recording_attr *a;

	recording_init(r);
	r->hostname = xstrdup(m->hostname ? m->hostname : "mill");
	r->os_release = xstrdup("6.1.0-mill");
	r->arch = xstrdup("x86_64");
	r->version = xstrdup("assay test");
	r->cmdline = xstrdup("assay start");
	r->cpus_online = MILL_CPUS;
	r->clockid = CLOCK_MONOTONIC;
	r->clock_start_ns = m->now_ns;
	r->clock_wall_ns = m->now_ns + m->wall_offset_ns;
	a = vec_add(&r->attrs);
	a->name = xstrdup("cpu-clock");
	a->role = ATTR_CLOCK;
	a->type = PERF_TYPE_SOFTWARE;
	a->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	a->period = a->period_ns = m->period_ns;
	a->callchain = a->user_callchain = a->context_switch = true;
}

static void mill_people(struct mill *m)
{
	m->last_pid = 1000;
	mill_map(m, -1, "[kernel.kallsyms]_stext", 9);
	for (int32_t pid = 1; pid <= 3; pid += 2) {
		mill_comm(m, pid, pid, pid == 1 ? "init" : "server", true);
		mill_map(m, pid, pid == 1 ? "/sbin/init" : "/usr/sbin/server", (uint8_t)pid);
	}
}

/* now_ns 0: starts at time zero; else the mill continues from there in a new measurement. */
static void mill_begin(struct mill *m)
{
	struct profile_windows_options wo = {
	        .window_ns = m->window_ns, .window = mill_window, .ctx = m};

	if (!m->now_ns)
		m->now_ns = MILL_CLOCK;
	m->wall_offset_ns = MILL_WALL - MILL_CLOCK;
	wo.wall_offset_ns = m->wall_offset_ns;
	wo.start_ns = m->now_ns;
	mill_describe(m);
	m->sink_count = 0;
	if (m->path) {
		if (store_open(&m->store, m->path, &m->options, &m->err) ||
		    store_begin(m->store, &m->recording, m->now_ns + m->wall_offset_ns, &m->err)) {
			fprintf(stderr, "%s\n", m->err.text);
			abort();
		}
		m->windows = profile_windows_new(&wo);
		m->sinks[m->sink_count++] = profile_windows_sink(m->windows);
	}
	if (m->whole) {
		struct recording *r = xcalloc(1, sizeof(*r));

		*r = m->recording;
		m->recording = (struct recording){0};
		mill_describe(m);
		vec_push(&m->whole->recordings, r);
		m->builder = profile_builder_new(m->whole, NULL);
		m->sinks[m->sink_count] = profile_builder_sink(m->builder);
		r->account.present = r->account.machine_wide = true;
		r->account.start_ns = m->now_ns;
		m->sinks[m->sink_count].begin(m->sinks[m->sink_count].ctx, r, &m->err);
		m->sink_count++;
	}
	if (m->path)
		m->sinks[0].begin(m->sinks[0].ctx, &m->recording, &m->err);
	mill_people(m);
	for (uint32_t i = 0; i < MILL_CPUS; i++)
		m->cpus[i] = (struct mill_cpu){.next_ns = m->now_ns + mill_span(m, m->rest_ns),
		                               .tick_ns = m->now_ns + m->period_ns / (i + 2)};
	for (uint32_t i = 0; i < MILL_CPUS; i++)
		mill_switch(m, i, 1, 0);
}

static void mill_run(struct mill *m, uint64_t length_ns)
{
	uint64_t end_ns = m->now_ns + length_ns;

	for (;;) {
		struct mill_cpu *next = &m->cpus[0];
		uint32_t cpu = 0;

		for (uint32_t i = 1; i < MILL_CPUS; i++)
			if ((m->cpus[i].next_ns < m->cpus[i].tick_ns ? m->cpus[i].next_ns
			                                             : m->cpus[i].tick_ns) <
			    (next->next_ns < next->tick_ns ? next->next_ns : next->tick_ns)) {
				next = &m->cpus[i];
				cpu = i;
			}
		m->now_ns = next->next_ns < next->tick_ns ? next->next_ns : next->tick_ns;
		if (m->now_ns >= end_ns)
			break;
		if (next->tick_ns <= next->next_ns) {
			mill_tick(m, cpu);
			next->tick_ns += m->period_ns;
		} else if (next->pid) {
			mill_stop(m, cpu);
		} else {
			mill_start(m, cpu);
		}
	}
	m->now_ns = end_ns;
	if (m->path)
		profile_windows_until(m->windows, end_ns, &m->err);
}

static void mill_account(struct mill *m, struct recording *r)
{
	r->account.present = r->account.machine_wide = true;
	r->account.start_ns = r->clock_start_ns;
	r->account.end_ns = m->now_ns;
	r->first_sample_ns = r->clock_start_ns;
	r->last_sample_ns = m->now_ns;
	for (uint32_t i = 0; i < MILL_CPUS; i++)
		vec_push(&r->account.cpus, (struct account_cpu){.cpu = i,
		                                                .start_ns = r->clock_start_ns,
		                                                .end_ns = m->now_ns});
}

/* The measurement ends; the mill can continue. */
static void mill_end(struct mill *m, const char *why)
{
	mill_account(m, &m->recording);
	if (m->path) {
		m->sinks[0].end(m->sinks[0].ctx, &m->recording, &m->err);
		if (why && store_end(m->store, m->now_ns + m->wall_offset_ns, why, &m->err))
			fprintf(stderr, "%s\n", m->err.text);
		store_close(m->store);
		profile_windows_free(m->windows);
		m->store = NULL;
	}
	if (m->whole) {
		struct recording *r = m->whole->recordings.items[0];

		mill_account(m, r);
		m->sinks[m->sink_count - 1].end(m->sinks[m->sink_count - 1].ctx, r, &m->err);
		profile_builder_free(m->builder);
	}
	recording_done(&m->recording);
}

/* A complete measurement of a new mill. */
static void mill_measure(struct mill *m, uint64_t length_ns)
{
	mill_begin(m);
	mill_run(m, length_ns);
	mill_end(m, "stopped");
}

/* A path in a directory of the test; store_fixture_remove() removes its files. */
static void store_fixture_path(char path[64])
{
	/* In memory if possible: otherwise each window waits for its disk. */
	snprintf(path, 64, "%s/assay-store-%d", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
	         (int)getpid());
	mkdir(path, 0700);
	snprintf(path + strlen(path), 64 - strlen(path), "/a.db");
}

static void store_fixture_remove(const char *path)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-lock", "-journal"};
	char name[96];

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
}

/* Called at the end of the test. */
static void store_fixture_end(const char *path)
{
	char name[96];

	snprintf(name, sizeof(name), "%.*s", (int)(strrchr(path, '/') - path), path);
	rmdir(name);
}

#endif
