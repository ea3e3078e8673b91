/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_windows: for any events, the sums over all windows are equal to one profile of all
 * events: rows, the time and ticks of each CPU, the time of each process; and each window adds up.
 * Reference: profile_builder with the same events. A history (profile_history.h) of the windows has
 * the same sums, and those of the last windows.
 */
#include "check.h"
#include "profile/profile_history.h"
#include "profile/profile_windows.h"

#include <stdlib.h>
#include <string.h>

#define CPUS 2
#define PERIOD UINT64_C(1000000)
#define START UINT64_C(5000000000)
#define PIDS 40
#define LOST 40

struct random {
	uint64_t state;
};

static uint64_t next_random(struct random *r)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return r->state >> 33;
}

struct sums {
	uint64_t samples, weight, wall, busy, idle, unknown, switches, due, seen, lost;
	uint64_t oncpu, runnable, blocked, thread_wall, windows, last_end, bad, processes_max;
	uint64_t serial_max, off_runnable, off_blocked, lost_told;
	struct profile_history *history; /* NULL: none */
	uint64_t last_samples[2];        /* of the last windows */
	uint64_t last_start[2];
	struct recording *recording; /* of the history */
	uint64_t off_cpu_ns;         /* of waits, in the selections of each window alone */
	bool waits;
};

static void add_profile(struct sums *s, const struct profile *p)
{
	vec_each (row, &p->rows) {
		s->samples += row->samples;
		s->weight += row->weight;
		s->off_runnable += row->runnable_ns;
		s->off_blocked += row->blocked_ns;
	}
	vec_each (cpu, &p->ledger.cpus) {
		s->wall += cpu->wall_ns;
		s->busy += cpu->busy_ns;
		s->idle += cpu->idle_ns;
		s->unknown += cpu->unknown_ns;
		s->switches += cpu->switches;
		s->due += cpu->ticks_due_busy + cpu->ticks_due_idle;
		s->seen += cpu->ticks_seen_busy + cpu->ticks_seen_idle;
		s->lost += cpu->ticks_lost;
	}
	vec_each (l, &p->ledger.processes) {
		s->oncpu += l->oncpu_ns;
		s->runnable += l->runnable_ns;
		s->blocked += l->blocked_ns;
		s->thread_wall += l->wall_ns;
	}
}

/* A selection has the parts of waits that are in its time. */
static void add_waits(struct sums *s, const struct profile *p, const struct profile_window *w)
{
	const struct wait_log *l = &p->waits;

	s->bad += l->start_ns != w->start_ns || l->end_ns != w->end_ns || l->beyond;
	vec_each (sum, &l->sums) {
		s->off_cpu_ns += sum->blocked_ns + sum->runnable_ns;
		s->bad += !sum->count || sum->max_ns > w->end_ns - w->start_ns;
	}
	vec_each (wait, &l->waits)
		s->bad += wait->out_ns < w->start_ns || wait->in_ns > w->end_ns ||
		          wait->out_ns > wait->in_ns || wait->sum >= l->sums.count;
}

struct wait_sums {
	uint64_t count, blocked, runnable, singles, max;
};

static struct wait_sums waits_of(const struct wait_log *l)
{
	struct wait_sums sums = {.singles = l->waits.count + l->beyond};

	vec_each (sum, &l->sums) {
		sums.count += sum->count;
		sums.blocked += sum->blocked_ns;
		sums.runnable += sum->runnable_ns;
		sums.max = sum->max_ns > sums.max ? sum->max_ns : sums.max;
	}
	return sums;
}

/* Since the start, the history has the waits of one profile of all events. */
static void check_waits(const struct sums *windows, const struct profile *all,
                        const struct profile *reference)
{
	struct wait_sums a = waits_of(&all->waits), b = waits_of(&reference->waits);

	CHECK(b.count > 1000);
	CHECK_EQ(a.count, b.count);
	CHECK_EQ(a.singles, a.count);
	/* Windows know of lost records at the end, which may hide wake-ups: such waits are blocked.
	 */
	CHECK_EQ(a.blocked + a.runnable, b.blocked + b.runnable);
	CHECK(a.blocked >= b.blocked && a.blocked < b.blocked + b.blocked / 50);
	CHECK_EQ(a.max, b.max);
	CHECK_EQ(windows->off_cpu_ns, b.blocked + b.runnable);
}

static int on_window(void *ctx, const struct profile *p, const struct profile_window *w,
                     struct error *err)
{
	struct sums *s = ctx;
	uint64_t processes = process_table_process_count(p->processes);

	if (w->number && w->start_ns != s->last_end)
		s->bad++;
	s->last_end = w->end_ns;
	s->lost_told += w->lost_records;
	s->windows++;
	vec_each (cpu, &p->ledger.cpus) {
		s->bad += cpu->wall_ns != w->end_ns - w->start_ns;
		/* Before the first switch only samples are known, with the precision of a tick. */
		s->bad += cpu->has_switches &&
		          cpu->busy_ns + cpu->idle_ns + cpu->unknown_ns != cpu->wall_ns;
	}
	if (processes > s->processes_max)
		s->processes_max = processes;
	for (uint32_t i = 0; i < processes; i++)
		if (process_table_process(p->processes, i)->serial > s->serial_max)
			s->serial_max = process_table_process(p->processes, i)->serial;
	add_profile(s, p);
	s->last_samples[0] = s->last_samples[1];
	s->last_start[0] = s->last_start[1];
	s->last_samples[1] = 0;
	s->last_start[1] = w->start_ns;
	vec_each (row, &p->rows)
		s->last_samples[1] += row->samples;
	if (s->history)
		profile_history_add(s->history, p, w->start_ns, w->end_ns);
	if (s->waits)
		add_waits(s, profile_history_select(s->history, 1, s->recording), w);
	return 0;
}

/* Does not depend on ids and serial numbers. */
static uint64_t fingerprint(const struct profile *p)
{
	uint64_t sum = 0;

	vec_each (row, &p->rows) {
		const struct thread *t = process_table_thread_at(p->processes, row->thread);
		const struct process *of = process_table_process(p->processes, t->process);
		const char *name = process_table_name(p->processes, of->name);
		const struct profile_frame *f = &p->frames.items[p->paths.items[row->path].frame];
		uint64_t key = hash_pair(hash_bytes(name, strlen(name)), of->start_ns);

		key = hash_pair(key, hash_pair((uint64_t)t->tid << 16 | row->cpu, row->event));
		sum += hash_pair(key, f->frame.offset) * row->samples;
	}
	return sum;
}

static uint64_t entries(const struct time_axis *a)
{
	struct time_cursor c;
	struct time_entry e;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a->tracks.count; i++) {
		time_axis_seek(&c, a, i, 0);
		while (time_axis_next(&c, &e))
			sum += hash_pair(e.time_ns, a->tracks.items[i].cpu) * e.samples;
	}
	return sum;
}

/* The history of all windows against one profile of all events, and of the last two windows. */
static void check_history(const struct sums *windows, const struct sums *whole,
                          const struct profile *reference, struct recording *r)
{
	for (int again = 0; again < 2; again++) {
		struct profile *p = profile_history_select(windows->history, 0, r);
		struct sums all = {0}, last = {0};

		add_profile(&all, p);
		CHECK_EQ(all.samples, whole->samples);
		CHECK_EQ(all.wall, windows->wall);
		CHECK_EQ(all.busy, whole->busy);
		CHECK_EQ(all.idle, windows->idle);
		CHECK_EQ(all.seen, whole->seen);
		CHECK_EQ(all.due, windows->due);
		CHECK_EQ(all.lost, whole->lost);
		CHECK_EQ(all.oncpu, whole->oncpu);
		CHECK_EQ(all.off_blocked, whole->off_blocked);
		CHECK_EQ(p->events.items[0].samples, reference->events.items[0].samples);
		CHECK_EQ(fingerprint(p), fingerprint(reference));
		CHECK_EQ(entries(&p->axis), entries(&reference->axis));
		CHECK_EQ(profile_history_start(windows->history, 1), windows->last_start[1]);
		check_waits(windows, p, reference);
		p = profile_history_select(windows->history,
		                           windows->last_end - windows->last_start[0], r);
		add_profile(&last, p);
		CHECK_EQ(last.samples, windows->last_samples[0] + windows->last_samples[1]);
		CHECK_EQ(p->recordings.count, 1);
	}
}

/* A machine of two CPUs: processes run, fork and exit; ticks on the grid, some lost, some late. */
struct machine {
	struct random random;
	uint64_t now[CPUS], tick[CPUS];
	int32_t running[CPUS];
	bool alive[PIDS];
	int32_t next_pid;
	int32_t pid_of[PIDS];
	bool ticks; /* false: no timer */
	uint64_t lost, served, ended;
	struct event_sink sinks[2];
};

static void give(struct machine *m, const struct event *e)
{
	struct error err = {0};

	for (int i = 0; i < 2; i++)
		CHECK_EQ(m->sinks[i].event(m->sinks[i].ctx, e, &err), 0);
}

static struct event event_of(enum event_kind kind, uint32_t cpu, int32_t pid, uint64_t time_ns)
{
	return (struct event){.kind = kind,
	                      .cpu = cpu,
	                      .pid = pid,
	                      .tid = pid,
	                      .time_ns = time_ns,
	                      .mode = CPU_MODE_USER,
	                      .attr = EVENT_NO_ATTR};
}

static void fork_one(struct machine *m, uint32_t cpu, uint64_t time_ns, size_t slot)
{
	int32_t pid = m->next_pid++;
	struct event e = event_of(EVENT_FORK, cpu, pid, time_ns);

	e.fork.parent_pid = e.fork.parent_tid = 1;
	give(m, &e);
	e = event_of(EVENT_COMM, cpu, pid, time_ns);
	e.comm.name = slot % 2 ? "odd" : "even";
	give(m, &e);
	m->pid_of[slot] = pid;
	m->alive[slot] = true;
}

/* The pid becomes another instance. */
static void exec_one(struct machine *m, uint32_t cpu, uint64_t time_ns)
{
	struct event e = event_of(EVENT_COMM, cpu, m->running[cpu], time_ns);

	e.comm.name = "other";
	e.comm.exec = true;
	give(m, &e);
}

static void end_one(struct machine *m, uint32_t cpu, uint64_t time_ns, size_t slot)
{
	struct event e = event_of(EVENT_EXIT, cpu, m->pid_of[slot], time_ns);

	e.fork.parent_pid = e.fork.parent_tid = 1;
	give(m, &e);
	m->alive[slot] = false;
	m->ended++;
}

static void sample(struct machine *m, uint32_t cpu, uint64_t time_ns, uint16_t attr)
{
	struct event e = event_of(EVENT_SAMPLE, cpu, m->running[cpu], time_ns);

	e.attr = attr;
	e.mode = m->running[cpu] ? CPU_MODE_USER : CPU_MODE_KERNEL;
	e.sample.ip = 0x1000 + next_random(&m->random) % 50;
	e.sample.period = attr ? 1 : PERIOD;
	give(m, &e);
}

static void switch_to(struct machine *m, uint32_t cpu, uint64_t time_ns, int32_t pid)
{
	int32_t old = m->running[cpu];
	struct event e = event_of(EVENT_SWITCH, cpu, old, time_ns);

	if (old == pid)
		return;
	if (old && next_random(&m->random) % 5)
		sample(m, cpu, time_ns, 1);
	e.sched = (struct event_switch){.out = true,
	                                .preempted = next_random(&m->random) % 4 == 0,
	                                .machine_wide = true,
	                                .next_prev_pid = pid,
	                                .next_prev_tid = pid};
	give(m, &e);
	e = event_of(EVENT_SWITCH, cpu, pid, time_ns);
	e.sched = (struct event_switch){
	        .machine_wide = true, .next_prev_pid = old, .next_prev_tid = old};
	give(m, &e);
	m->running[cpu] = pid;
}

/* Simulates the scheduler of that CPU. A process that execs or exits is running. */
static void schedule(struct machine *m, uint32_t cpu, uint64_t time_ns)
{
	size_t slot = next_random(&m->random) % PIDS, dice = next_random(&m->random) % 6;

	if (!m->alive[slot]) {
		fork_one(m, cpu, time_ns, slot);
	} else if (m->pid_of[slot] != m->running[1 - cpu]) {
		switch_to(m, cpu, time_ns, m->pid_of[slot]);
		if (dice == 0)
			end_one(m, cpu, time_ns, slot);
		else if (dice == 1)
			exec_one(m, cpu, time_ns);
		if (dice < 3)
			switch_to(m, cpu, time_ns, 0);
	}
}

/* A tick is served some microseconds late, and one in ten is lost. */
static void serve_tick(struct machine *m, uint32_t cpu)
{
	if (!m->ticks || next_random(&m->random) % 10 == 0)
		m->lost += m->ticks;
	else
		sample(m, cpu, m->tick[cpu], 0);
	m->served += m->ticks;
	m->tick[cpu] += PERIOD;
}

static void simulate(struct machine *m, uint64_t until_ns)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		m->now[cpu] = START + 1000 + cpu * 333000;
		m->tick[cpu] = START + PERIOD + cpu * 77000 + 5000;
	}
	for (;;) {
		uint64_t next[CPUS];
		uint32_t cpu;

		for (cpu = 0; cpu < CPUS; cpu++)
			next[cpu] = m->now[cpu] < m->tick[cpu] ? m->now[cpu] : m->tick[cpu];
		cpu = next[0] <= next[1] ? 0 : 1;
		if (next[cpu] >= until_ns)
			break;
		if (next[cpu] == m->tick[cpu]) {
			serve_tick(m, cpu);
		} else {
			schedule(m, cpu, next[cpu]);
			m->now[cpu] += 20000 + next_random(&m->random) % 700000;
		}
	}
}

static void describe(struct recording *r, uint64_t end_ns)
{
	struct recording_attr *a;

	recording_init(r);
	a = vec_add(&r->attrs);
	a->name = xstrdup("cpu-clock");
	a->role = ATTR_CLOCK;
	a->period = a->period_ns = PERIOD;
	a = vec_add(&r->attrs);
	a->name = xstrdup("context-switches");
	a->role = ATTR_SWITCH;
	a->period = 1;
	r->account.present = true;
	r->account.machine_wide = true;
	r->account.start_ns = START;
	r->account.end_ns = end_ns;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct account_cpu *c = vec_add(&r->account.cpus);

		c->cpu = cpu;
		c->start_ns = START;
		c->end_ns = end_ns;
		c->lost_records = LOST + cpu;
	}
}

/* Some lost records of one CPU are reported by events; the others are only counted. */
static void tell_lost(struct machine *m)
{
	struct event e = event_of(EVENT_LOST, 0, 0, START + 500);

	e.lost.count = LOST / 2;
	give(m, &e);
}

static void check_sums(const struct sums *windows, const struct sums *whole,
                       const struct machine *m, uint64_t length_ns)
{
	CHECK_EQ(windows->bad, 0);
	CHECK(windows->windows >= 1200 * PERIOD / length_ns);
	CHECK_EQ(windows->samples, whole->samples);
	CHECK_EQ(windows->weight, whole->weight);
	CHECK_EQ(windows->wall, whole->wall);
	CHECK_EQ(windows->busy, whole->busy);
	/*
	 * One profile of all events learns the state before a CPU's first record; a window does
	 * not.
	 */
	CHECK(llabs((long long)(windows->idle + windows->unknown - whole->idle)) <
	      10 * (long long)PERIOD);
	CHECK_EQ(windows->switches, whole->switches);
	CHECK_EQ(windows->seen, whole->seen);
	CHECK_EQ(whole->lost, CPUS * LOST + CPUS * (CPUS - 1) / 2);
	CHECK_EQ(windows->lost, whole->lost);
	CHECK_EQ(windows->lost_told, whole->lost);
	/* Without a tick the number of due ticks is estimated: a window may differ by one. */
	CHECK(llabs((long long)(windows->due - whole->due)) <=
	      (m->ticks ? 1 : (long long)windows->windows) * CPUS);
	CHECK(!m->ticks || llabs((long long)(whole->due - m->served)) <= CPUS);
	CHECK(!m->ticks || whole->seen + m->lost == m->served);
	CHECK_EQ(windows->oncpu, whole->oncpu);
	CHECK_EQ(windows->oncpu, windows->busy);
	CHECK(m->ended > 100);
	CHECK_EQ(windows->runnable, whole->runnable);
	CHECK_EQ(windows->blocked, whole->blocked);
	CHECK_EQ(windows->off_runnable, whole->off_runnable);
	CHECK_EQ(windows->off_blocked, whole->off_blocked);
	CHECK(whole->off_blocked > 100 * PERIOD);
	CHECK_EQ(windows->thread_wall, whole->thread_wall);
}

static void compare(uint64_t seed, uint64_t length_ns, uint32_t processes_max, bool ticks)
{
	uint64_t end_ns = START + 1200 * PERIOD;
	struct machine m = {.random = {seed}, .next_pid = 100, .ticks = ticks};
	struct sums windows = {0}, whole = {0};
	struct profile_windows_options o = {.window_ns = length_ns,
	                                    .wall_offset_ns = 12345678,
	                                    .start_ns = START,
	                                    .processes_max = processes_max,
	                                    .builder = {.time_axis = true, .waits = true},
	                                    .window = on_window,
	                                    .ctx = &windows};
	const struct profile_builder_options with_axis = {.time_axis = true, .waits = true};
	struct profile_windows *w = profile_windows_new(&o);
	struct profile *p = profile_new();
	struct profile_builder *b = profile_builder_new(p, &with_axis);
	struct recording r;
	struct error err = {0};

	windows.history = profile_history_new();
	windows.recording = &r;
	windows.waits = true;
	describe(&r, end_ns);
	m.sinks[0] = profile_windows_sink(w);
	m.sinks[1] = profile_builder_sink(b);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(m.sinks[i].begin(m.sinks[i].ctx, &r, &err), 0);
	tell_lost(&m);
	simulate(&m, end_ns - PERIOD);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(m.sinks[i].end(m.sinks[i].ctx, &r, &err), 0);
	add_profile(&whole, p);
	check_sums(&windows, &whole, &m, length_ns);
	/* The idle process of windows without a tick is in the whole, too. */
	profile_mark_unseen_idle(p);
	CHECK_EQ(windows.serial_max, process_table_process_count(p->processes));
	check_history(&windows, &whole, p, &r);
	profile_history_free(windows.history);
	if (processes_max)
		CHECK(windows.processes_max < process_table_process_count(p->processes) / 2);
	profile_windows_free(w);
	profile_builder_free(b);
	profile_free(p);
	recording_done(&r);
}

static void windows_add_up_to_the_whole(void)
{
	for (uint64_t seed = 1; seed <= CHECK_CASES(20); seed++)
		compare(seed, 50 * PERIOD, 0, true);
}

static void short_windows_too(void)
{
	for (uint64_t seed = 1; seed <= CHECK_CASES(10); seed++)
		compare(seed, 3 * PERIOD + 1234, 0, true);
}

static void the_dead_are_forgotten(void)
{
	for (uint64_t seed = 1; seed <= CHECK_CASES(20); seed++)
		compare(seed, 20 * PERIOD, 60, true);
}

static void without_a_tick(void)
{
	for (uint64_t seed = 1; seed <= 5; seed++)
		compare(seed, 50 * PERIOD, 0, false);
}

struct most {
	size_t threads, paths, images;
};

static void at_most(size_t *most, size_t now)
{
	*most = now > *most ? now : *most;
}

static int on_sizes(void *ctx, const struct profile *p, const struct profile_window *w,
                    struct error *err)
{
	struct most *most = ctx;

	at_most(&most->threads, process_table_thread_count(p->processes));
	at_most(&most->paths, p->paths.count);
	at_most(&most->images, p->images.images.count);
	return 0;
}

/*
 * In each millisecond a thread of one process starts and exits, and a new file is mapped and
 * sampled.
 */
static struct most sizes_of_a_long_process(struct profile_windows_options o)
{
	struct most most = {0};
	struct profile_windows *w;
	struct event_sink sink;
	struct recording r;
	struct error err = {0};

	o.window_ns = 100 * PERIOD;
	o.start_ns = START;
	o.window = on_sizes;
	o.ctx = &most;
	w = profile_windows_new(&o);
	sink = profile_windows_sink(w);
	describe(&r, START + 4000 * PERIOD);
	CHECK_EQ(sink.begin(sink.ctx, &r, &err), 0);
	for (int32_t n = 0; n < 3000; n++) {
		uint64_t now = START + (uint64_t)n * PERIOD;
		uint64_t address = 0x10000 + (uint64_t)n * 0x1000;
		struct event e = event_of(EVENT_FORK, 0, 100, now);
		char name[32];

		e.tid = 1000 + n;
		e.fork.parent_pid = e.fork.parent_tid = 100;
		CHECK_EQ(sink.event(sink.ctx, &e, &err), 0);
		e = event_of(EVENT_EXIT, 0, 100, now + 10);
		e.tid = 1000 + n;
		CHECK_EQ(sink.event(sink.ctx, &e, &err), 0);
		snprintf(name, sizeof(name), "/lib/%d", n);
		e = event_of(EVENT_MMAP, 0, 100, now + 20);
		e.mode = CPU_MODE_USER;
		e.mmap = (struct event_mmap){.addr = n % 2 ? address : 0x10000,
		                             .size = 0x1000,
		                             .pgoff = (uint64_t)n * 0x1000,
		                             .executable = true,
		                             .filename = n % 2 ? "/lib/one" : name};
		CHECK_EQ(sink.event(sink.ctx, &e, &err), 0);
		e = event_of(EVENT_SAMPLE, 0, 100, now + 30);
		e.mode = CPU_MODE_USER;
		e.sample = (struct event_sample){.ip = address, .period = PERIOD};
		CHECK_EQ(sink.event(sink.ctx, &e, &err), 0);
	}
	CHECK_EQ(sink.end(sink.ctx, &r, &err), 0);
	profile_windows_free(w);
	recording_done(&r);
	return most;
}

/* If a table exceeds its limit by one window's entries, only dead entries are removed. */
static void each_bound_is_kept(void)
{
	struct profile_windows_options none = {0}, o = none;

	CHECK(sizes_of_a_long_process(none).threads > 2900);
	CHECK(sizes_of_a_long_process(none).paths > 2900);
	CHECK(sizes_of_a_long_process(none).images > 1400);
	o.processes_max = 100;
	CHECK(sizes_of_a_long_process(o).threads < 600);
	o = none;
	o.paths_max = 200;
	CHECK(sizes_of_a_long_process(o).paths < 600);
	o = none;
	o.images_max = 100;
	CHECK(sizes_of_a_long_process(o).images < 600);
}

int main(void)
{
	RUN(windows_add_up_to_the_whole);
	RUN(short_windows_too);
	RUN(the_dead_are_forgotten);
	RUN(without_a_tick);
	RUN(each_bound_is_kept);
	return check_end();
}
