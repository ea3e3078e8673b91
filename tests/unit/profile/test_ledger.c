/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger is compared with known figures: a CPU with a schedule of busy and idle times, a timer
 * on a grid, ticks omitted at known places.
 */
#include "check.h"
#include "profile/ledger/ledger_cpu.h"
#include "profile/ledger/ledger_thread.h"
#include "profile/profile_builder.h"

#include <linux/perf_event.h>

#define MS 1000000ull
#define START (1000 * MS)

static struct ledger_cpu_builder cpu_builder(uint64_t end)
{
	struct ledger_cpu_builder b;

	ledger_cpu_init(&b, MS, false, START, end);
	return b;
}

static void sample(struct ledger_cpu_builder *b, uint64_t tick, bool idle)
{
	ledger_cpu_sample(b, START + tick * MS + 6000, idle, MS);
}

/* 10 ms busy and 10 ms idle in turn; a tick each ms; two busy and three idle ticks are missing. */
static void missing_ticks_by_state(void)
{
	struct ledger_cpu_builder b = cpu_builder(START + 100 * MS);

	for (uint64_t tick = 0; tick < 100; tick++) {
		bool idle = tick / 10 % 2;

		if (tick % 10 == 0 && tick)
			ledger_cpu_switch(&b, START + tick * MS - 400000, idle ? 7 : 0, true,
			                  idle ? 0 : 7);
		/* The first tick is due one period after the start. */
		if (tick && tick != 5 && tick != 27 && tick != 33 && tick != 34 && tick != 35)
			sample(&b, tick, idle);
	}
	ledger_cpu_finish(&b, START + 100 * MS);
	CHECK_EQ(b.sums.ticks_due_busy - b.sums.ticks_seen_busy, 2);
	CHECK_EQ(b.sums.ticks_due_idle - b.sums.ticks_seen_idle, 3);
	CHECK_EQ(b.sums.ticks_seen_busy, 47);
	CHECK_EQ(b.sums.ticks_seen_idle, 47);
	CHECK_EQ(b.sums.weight_busy, 47 * MS);
	CHECK_EQ(b.sums.wall_ns, 100 * MS);
	CHECK_EQ(b.sums.busy_ns, 50 * MS - 400000);
	CHECK_EQ(b.sums.idle_ns, 50 * MS + 400000);
	CHECK_EQ(b.sums.unknown_ns, 0);
	CHECK_EQ(b.sums.switches, 9);
	ledger_cpu_done(&b);
}

/* The gap contains a switch: each missing tick is charged to the state when it was due. */
static void gap_over_switches(void)
{
	struct ledger_cpu_builder b = cpu_builder(START + 60 * MS);

	for (uint64_t tick = 1; tick <= 10; tick++)
		sample(&b, tick, false);
	ledger_cpu_switch(&b, START + 15 * MS + 500000, 7, true, 0);
	ledger_cpu_switch(&b, START + 15 * MS + 500100, 0, false, 7);
	ledger_cpu_switch(&b, START + 22 * MS + 500000, 0, true, 8);
	for (uint64_t tick = 31; tick <= 40; tick++)
		sample(&b, tick, false);
	ledger_cpu_switch(&b, START + 40 * MS + 500000, 8, true, 0);
	ledger_cpu_finish(&b, START + 60 * MS);
	/* 11 to 15 busy, 16 to 22 idle, 23 to 30 busy; 41 to 59 idle up to the end */
	CHECK_EQ(b.sums.ticks_due_busy - b.sums.ticks_seen_busy, 13);
	CHECK_EQ(b.sums.ticks_due_idle, 7 + 19);
	CHECK_EQ(b.sums.switches, 3);
	ledger_cpu_done(&b);
}

static void ticks_before_the_first(void)
{
	struct ledger_cpu_builder b = cpu_builder(START + 50 * MS);

	ledger_cpu_switch(&b, START + 20 * MS + 500000, 0, true, 7);
	for (uint64_t tick = 31; tick < 50; tick++)
		sample(&b, tick, false);
	ledger_cpu_finish(&b, START + 50 * MS);
	CHECK_EQ(b.sums.ticks_due_idle, 20);
	CHECK_EQ(b.sums.ticks_due_busy, 29);
	CHECK_EQ(b.sums.ticks_seen_busy, 19);
	CHECK_EQ(b.sums.idle_ns, 20 * MS + 500000);
	ledger_cpu_done(&b);
}

static void no_sample_at_all(void)
{
	struct ledger_cpu_builder b = cpu_builder(START + 100 * MS), silent = b;

	ledger_cpu_init(&silent, MS, false, START, START + 100 * MS);
	ledger_cpu_switch(&b, START + 30 * MS, 7, true, 0);
	ledger_cpu_finish(&b, START + 100 * MS);
	CHECK_EQ(b.sums.ticks_due_busy, 30);
	CHECK_EQ(b.sums.ticks_due_idle, 70);
	ledger_cpu_finish(&silent, START + 100 * MS);
	CHECK_EQ(silent.sums.wall_ns, 100 * MS);
	CHECK_EQ(silent.sums.has_switches, false);
	ledger_cpu_done(&b);
	ledger_cpu_done(&silent);
}

/* An idle CPU is not sampled if the event excludes it. */
static void idle_excluded(void)
{
	struct ledger_cpu_builder b;

	ledger_cpu_init(&b, MS, true, START, START + 100 * MS);
	for (uint64_t tick = 1; tick <= 20; tick++)
		sample(&b, tick, false);
	ledger_cpu_switch(&b, START + 20 * MS + 500000, 7, true, 0);
	ledger_cpu_switch(&b, START + 80 * MS + 500000, 0, true, 7);
	for (uint64_t tick = 85; tick < 100; tick++)
		sample(&b, tick, false);
	ledger_cpu_finish(&b, START + 100 * MS);
	CHECK_EQ(b.sums.ticks_due_idle, 0);
	CHECK_EQ(b.sums.ticks_due_busy - b.sums.ticks_seen_busy, 4);
	ledger_cpu_done(&b);
}

/* More switches between two ticks than are stored: the counts are the same. */
static void many_switches_between_ticks(void)
{
	struct ledger_cpu_builder b = cpu_builder(START + 300 * MS);
	uint64_t at = START + 11 * MS;

	for (uint64_t tick = 1; tick <= 10; tick++)
		sample(&b, tick, false);
	for (int i = 0; i < 10000; i++, at += 19700)
		ledger_cpu_switch(&b, at, i % 2 ? 0 : 7, true, i % 2 ? 7 : 0);
	for (uint64_t tick = 250; tick < 300; tick++)
		sample(&b, tick, false);
	ledger_cpu_finish(&b, START + 300 * MS);
	CHECK_EQ(b.sums.ticks_due_busy + b.sums.ticks_due_idle, 299);
	CHECK(b.sums.ticks_due_idle > 60 && b.sums.ticks_due_idle < 140);
	CHECK(b.spans.count < 5000);
	ledger_cpu_done(&b);
}

/* Sends the events of a recording to a builder. */
struct play {
	struct profile *profile;
	struct recording *recording;
	struct profile_builder *builder;
	struct event_sink sink;
};

static void play_begin_with(struct play *p, bool account)
{
	struct recording_attr clock = {.role = ATTR_CLOCK, .period_ns = MS};
	struct recording_attr waits = {.role = ATTR_SWITCH};

	p->profile = profile_new();
	p->recording = xcalloc(1, sizeof(*p->recording));
	recording_init(p->recording);
	vec_push(&p->profile->recordings, p->recording);
	clock.name = xstrdup("cpu-clock");
	waits.name = xstrdup("context-switches");
	vec_push(&p->recording->attrs, clock);
	vec_push(&p->recording->attrs, waits);
	p->recording->account.present = account;
	p->recording->account.start_ns = account ? START : 0;
	p->recording->account.end_ns = account ? START + 1000 * MS : 0;
	p->builder = profile_builder_new(p->profile, NULL);
	p->sink = profile_builder_sink(p->builder);
	p->sink.begin(p->sink.ctx, p->recording, NULL);
}

static void play_begin(struct play *p)
{
	play_begin_with(p, true);
}

static void play_end(struct play *p)
{
	p->sink.end(p->sink.ctx, p->recording, NULL);
	profile_builder_free(p->builder);
}

static void put(struct play *p, struct event e, int32_t pid, int32_t tid, uint64_t ms)
{
	e.pid = pid;
	e.tid = tid;
	e.time_ns = START + ms * MS;
	p->sink.event(p->sink.ctx, &e, NULL);
}

static void put_switch(struct play *p, int32_t pid, int32_t tid, uint64_t ms, bool out,
                       bool preempt)
{
	put(p, (struct event){.kind = EVENT_SWITCH, .sched = {.out = out, .preempted = preempt}},
	    pid, tid, ms);
}

static void put_sample(struct play *p, int32_t pid, uint64_t ms, uint16_t attr, uint64_t ip)
{
	put(p,
	    (struct event){.kind = EVENT_SAMPLE,
	                   .mode = CPU_MODE_USER,
	                   .attr = attr,
	                   .sample = {.ip = ip, .period = attr ? 1 : MS}},
	    pid, pid, ms);
}

static const struct ledger_process *account_of(const struct play *p, const char *name)
{
	vec_each (account, &p->profile->ledger.processes) {
		const struct process *process =
		        process_table_process(p->profile->processes, account->process);

		if (!strcmp(process_table_name(p->profile->processes, process->name), name))
			return account;
	}
	return NULL;
}

static void comm(struct play *p, int32_t pid, const char *name, bool exec, uint64_t ms)
{
	put(p, (struct event){.kind = EVENT_COMM, .comm = {.name = name, .exec = exec}}, pid, pid,
	    ms);
}

static void threads_time(void)
{
	struct play p;
	const struct ledger_process *a;
	struct event fork = {.kind = EVENT_FORK, .fork = {.parent_pid = 10, .parent_tid = 10}};

	play_begin(&p);
	comm(&p, 10, "shell", false, 0);
	comm(&p, 12, "late", false, 0);
	comm(&p, 13, "silent", false, 0);
	put_switch(&p, 10, 10, 100, true, false); /* was on a CPU since the start */
	put(&p, fork, 11, 11, 100);
	put_switch(&p, 11, 11, 110, false, false);
	comm(&p, 11, "child", true, 150);
	put_switch(&p, 11, 11, 200, true, true);
	put_switch(&p, 11, 11, 230, false, false);
	put(&p, (struct event){.kind = EVENT_EXIT}, 11, 11, 300);
	put_switch(&p, 11, 11, 301, true, false); /* the last events of an exited thread */
	put_switch(&p, 10, 10, 302, false, false);
	put_switch(&p, 12, 12, 400, false, false); /* its earlier state is unknown */
	put_sample(&p, 10, 500, 0, 1);
	play_end(&p);

	a = account_of(&p, "shell");
	CHECK_EQ(a->oncpu_ns, 100 * MS + 698 * MS);
	CHECK_EQ(a->blocked_ns, 202 * MS);
	CHECK_EQ(a->wall_ns, 1000 * MS);
	CHECK_EQ(a->weight, MS);
	CHECK_EQ(a->switches, 2);
	CHECK_EQ(a->threads, 1);
	a = account_of(&p, "child");
	CHECK_EQ(a->oncpu_ns, 50 * MS + 70 * MS);
	CHECK_EQ(a->runnable_ns, 30 * MS);
	CHECK_EQ(a->blocked_ns, 0);
	CHECK_EQ(a->wall_ns, 150 * MS);
	a = account_of(&p, "late");
	CHECK_EQ(a->unknown_ns, 400 * MS);
	CHECK_EQ(a->oncpu_ns, 600 * MS);
	CHECK(account_of(&p, "silent") == NULL);
	CHECK_EQ(p.profile->ledger.machine_wide, false);
	profile_free(p.profile);
}

/* A thread that exits has the number -1 at its last switch and in its last samples. */
/* A thread from /proc without a record was off the CPU, or ran all the time if it has samples. */
static void found_threads_without_records(void)
{
	const struct ledger_process *waits, *runs;
	struct play p;

	play_begin(&p);
	p.recording->attrs.items[0].context_switch = true;
	for (int32_t pid = 10; pid <= 11; pid++)
		p.sink.event(p.sink.ctx,
		             &(struct event){.kind = EVENT_COMM,
		                             .pid = pid,
		                             .tid = pid,
		                             .comm = {.name = pid == 10 ? "waits" : "runs"}},
		             NULL);
	for (uint64_t ms = 1; ms < 1000; ms++)
		put_sample(&p, 11, ms, 0, 0x1000);
	play_end(&p);
	waits = account_of(&p, "waits");
	runs = account_of(&p, "runs");
	CHECK(waits && runs);
	CHECK_EQ(waits->threads, 1);
	CHECK_EQ(waits->blocked_ns, 1000 * MS);
	CHECK_EQ(waits->wall_ns, 1000 * MS);
	CHECK_EQ(runs->oncpu_ns, 1000 * MS);
	CHECK_EQ(runs->blocked_ns, 0);
	profile_free(p.profile);
}

static void exited_threads_have_no_number(void)
{
	struct play p;
	const struct ledger_process *a;

	play_begin(&p);
	comm(&p, 10, "program", false, 0);
	put_switch(&p, 10, 11, 100, false, false);
	put_switch(&p, 10, 10, 150, false, false);
	put(&p, (struct event){.kind = EVENT_EXIT}, 10, 11, 200);
	put(&p,
	    (struct event){.kind = EVENT_SAMPLE, .mode = CPU_MODE_USER, .sample = {.period = MS}},
	    10, -1, 200);
	put_switch(&p, 10, -1, 201, true, false);
	put_switch(&p, 10, 10, 250, true, false);
	/* A thread whose first record is its exit ran since the start. */
	comm(&p, 20, "first", false, 0);
	put(&p, (struct event){.kind = EVENT_EXIT}, 20, 20, 300);
	put_switch(&p, 20, 20, 301, true, false);
	play_end(&p);
	a = account_of(&p, "first");
	CHECK_EQ(a->oncpu_ns, 300 * MS);
	CHECK_EQ(a->blocked_ns + a->runnable_ns, 0);
	a = account_of(&p, "program");
	CHECK_EQ(a->threads, 2);
	CHECK_EQ(a->oncpu_ns, 100 * MS + 100 * MS);
	CHECK_EQ(a->blocked_ns, 750 * MS);
	CHECK_EQ(a->unknown_ns, 250 * MS);
	CHECK_EQ(a->weight, MS);
	CHECK_EQ(process_table_find_thread(p.profile->processes, 10, -1), ID_NONE);
	profile_free(p.profile);
}

/* Records from the time before sampling began set states, but no time is counted. */
static void time_before_the_start_is_not_counted(void)
{
	struct play p;
	const struct ledger_process *a;

	play_begin(&p);
	p.recording->account.start_ns = START;
	comm(&p, 10, "shell", false, 0);
	p.sink.event(p.sink.ctx,
	             &(struct event){.kind = EVENT_COMM,
	                             .comm = {.name = "program", .exec = true},
	                             .pid = 10,
	                             .tid = 10,
	                             .time_ns = START - 50 * MS},
	             NULL);
	p.sink.event(p.sink.ctx,
	             &(struct event){.kind = EVENT_SWITCH,
	                             .sched = {.out = true},
	                             .pid = 10,
	                             .tid = 10,
	                             .time_ns = START - 40 * MS},
	             NULL);
	put_switch(&p, 10, 10, 100, false, false);
	play_end(&p);
	a = account_of(&p, "program");
	CHECK_EQ(a->oncpu_ns, 900 * MS);
	CHECK_EQ(a->blocked_ns, 100 * MS);
	CHECK_EQ(a->wall_ns, 1000 * MS);
	profile_free(p.profile);
}

static const struct profile_row *row_at(const struct profile *p, uint64_t ip, uint8_t event)
{
	vec_each (row, &p->rows)
		if (row->event == event &&
		    p->frames.items[p->paths.items[row->path].frame].frame.offset == ip)
			return row;
	return NULL;
}

/* The stack may precede or follow the switch out. */
static void off_cpu_by_path(void)
{
	struct play p;
	const struct profile_row *row;

	play_begin(&p);
	put_sample(&p, 10, 100, 1, 0xa);
	put_switch(&p, 10, 10, 100, true, false);
	put_switch(&p, 10, 10, 150, false, false);
	put_switch(&p, 10, 10, 200, true, true);
	put_sample(&p, 10, 200, 1, 0xb);
	put_switch(&p, 10, 10, 230, false, false);
	put_sample(&p, 10, 300, 1, 0xa);
	put_switch(&p, 10, 10, 300, true, false);
	put_switch(&p, 10, 10, 307, false, false);
	put_switch(&p, 10, 10, 400, true, false); /* its stack was lost */
	put_switch(&p, 10, 10, 405, false, false);
	put_sample(&p, 10, 900, 1, 0xc);
	put_switch(&p, 10, 10, 900, true, false); /* asleep until the end */
	play_end(&p);

	row = row_at(p.profile, 0xa, 1);
	CHECK_EQ(row->blocked_ns, 57 * MS);
	CHECK_EQ(row->runnable_ns, 0);
	CHECK_EQ(row->samples, 2);
	row = row_at(p.profile, 0xb, 1);
	CHECK_EQ(row->blocked_ns, 0);
	CHECK_EQ(row->runnable_ns, 30 * MS);
	row = row_at(p.profile, 0xc, 1);
	CHECK_EQ(row->blocked_ns, 100 * MS);
	row = row_at(p.profile, 0, 1);
	CHECK_EQ(row->blocked_ns, 5 * MS);
	CHECK_EQ(row->samples, 0);
	profile_free(p.profile);
}

static void machine_wide_account(void)
{
	struct play p;
	struct account_cpu account = {.cpu = 3, .start_ns = START, .end_ns = START + 1000 * MS};
	struct event e = {.kind = EVENT_SWITCH, .cpu = 3};
	const struct ledger_cpu *cpu;

	play_begin(&p);
	account.stat_steal_ns = 5 * MS;
	vec_push(&p.recording->account.cpus, account);
	account.cpu = 5;
	vec_push(&p.recording->account.cpus, account);
	p.recording->account.machine_wide = true;
	e.sched.machine_wide = true;
	e.sched.next_prev_pid = 0;
	put(&p, e, 10, 10, 250); /* switch in, idle before */
	put(&p, (struct event){.kind = EVENT_LOST, .cpu = 3, .lost = {.count = 9}}, 0, 0, 300);
	play_end(&p);
	CHECK_EQ(p.profile->ledger.cpus.count, 2);
	cpu = &p.profile->ledger.cpus.items[0];
	CHECK_EQ(cpu->cpu, 3);
	CHECK_EQ(cpu->idle_ns, 250 * MS);
	CHECK_EQ(cpu->busy_ns, 750 * MS);
	CHECK_EQ(cpu->steal_ns, 5 * MS);
	CHECK_EQ(cpu->has_steal, true);
	CHECK_EQ(cpu->ticks_lost, 9);
	cpu++;
	CHECK_EQ(cpu->cpu, 5);
	CHECK_EQ(cpu->wall_ns, 1000 * MS);
	CHECK_EQ(p.profile->ledger.machine_wide, true);
	profile_free(p.profile);
}

/* A switch causes two records, out and in; if one is lost, the other is counted. */
static void a_switch_counts_once_whichever_record_is_lost(void)
{
	struct ledger_cpu_builder b = cpu_builder(START + 100 * MS);

	ledger_cpu_switch(&b, START + 10 * MS, 7, true, 8);
	ledger_cpu_switch(&b, START + 10 * MS, 8, false, 7);
	CHECK_EQ(b.sums.switches, 1);
	ledger_cpu_switch(&b, START + 20 * MS, 9, false, 8); /* the out record was lost */
	CHECK_EQ(b.sums.switches, 2);
	ledger_cpu_switch(&b, START + 30 * MS, 10, false, 9);
	CHECK_EQ(b.sums.switches, 3);
	ledger_cpu_switch(&b, START + 40 * MS, 10, true, 11); /* the in record was lost */
	ledger_cpu_switch(&b, START + 50 * MS, 11, true, 12);
	ledger_cpu_switch(&b, START + 50 * MS, 12, false, 11);
	CHECK_EQ(b.sums.switches, 5);
	ledger_cpu_done(&b);
}

static uint64_t missing_at_the_end(uint64_t end)
{
	struct ledger_cpu_builder b = cpu_builder(end);
	uint64_t missing;

	for (uint64_t tick = 1; tick < 100; tick++)
		sample(&b, tick, false);
	ledger_cpu_finish(&b, end);
	missing = b.sums.ticks_due_busy - b.sums.ticks_seen_busy;
	ledger_cpu_done(&b);
	return missing;
}

/* The tick after the last sample is due at 100 ms and 6 us: it may be served 50 us later. */
static void a_tick_due_just_before_the_end_is_not_missing(void)
{
	uint64_t due = START + 100 * MS + 6000;

	CHECK_EQ(missing_at_the_end(due), 0);
	CHECK_EQ(missing_at_the_end(due + 49000), 0);
	CHECK_EQ(missing_at_the_end(due + 51000), 1);
	CHECK_EQ(missing_at_the_end(due + MS + 49000), 1);
}

static struct ledger_process process_account(const struct ledger *ledger, uint32_t process)
{
	vec_each (p, &ledger->processes)
		if (p->process == process)
			return *p;
	CHECK(!"the process has an account");
	return (struct ledger_process){0};
}

/*
 * A thread that has only samples may have begun while sampling was set up, without the event of the
 * switches: it is not on a CPU until the end.
 */
static void samples_alone_are_no_time_on_a_cpu(void)
{
	struct play p;
	const struct ledger_process *a;

	play_begin(&p);
	comm(&p, 10, "rare", false, 0);
	comm(&p, 11, "busy", false, 0);
	comm(&p, 12, "switched", false, 0);
	for (uint64_t ms = 1; ms < 1000; ms++) {
		if (ms % 10 == 0)
			put_sample(&p, 10, ms, 0, 1);
		if (ms % 10)
			put_sample(&p, 11, ms, 0, 1);
		if (ms == 1)
			put_sample(&p, 12, ms, 0, 1);
	}
	put_switch(&p, 12, 12, 1000, true, false);
	play_end(&p);
	a = account_of(&p, "rare");
	CHECK_EQ(a->oncpu_ns, 99 * MS);
	CHECK_EQ(a->unknown_ns, 901 * MS);
	CHECK_EQ(account_of(&p, "busy")->oncpu_ns, 1000 * MS);
	CHECK_EQ(account_of(&p, "switched")->oncpu_ns, 1000 * MS);
	profile_free(p.profile);
}

/*
 * The kernel gives the number of the first thread to the thread that makes an exec, so this one has
 * no records any more, and no exit. All other threads have ended.
 */
static void an_exec_by_another_thread_ends_the_threads(void)
{
	struct play p;
	const struct ledger_process *a;
	struct event fork = {.kind = EVENT_FORK, .fork = {.parent_pid = 10, .parent_tid = 10}};

	play_begin(&p);
	comm(&p, 10, "server", false, 0);
	put_switch(&p, 10, 10, 50, true, false);
	put(&p, fork, 10, 11, 60);
	put(&p, fork, 10, 12, 60);
	put_switch(&p, 10, 11, 100, false, false);
	put_switch(&p, 10, 12, 100, false, false);
	put(&p, (struct event){.kind = EVENT_EXIT}, 10, 10, 200);
	put(&p, (struct event){.kind = EVENT_EXIT}, 10, 12, 200);
	comm(&p, 10, "next", true, 300);
	put_switch(&p, 10, 10, 400, true, false);
	play_end(&p);
	a = account_of(&p, "server");
	CHECK_EQ(a->oncpu_ns, (50 + 200 + 100) * MS);
	CHECK_EQ(a->wall_ns, (200 + 240 + 140) * MS);
	a = account_of(&p, "next");
	CHECK_EQ(a->oncpu_ns, 100 * MS);
	CHECK_EQ(a->blocked_ns, 600 * MS);
	profile_free(p.profile);
}

/* Between the exit of the first thread and the exec, its number is that of the other thread. */
static void the_last_thread_has_the_number_of_the_first(void)
{
	struct play p;
	const struct ledger_process *a;
	struct event fork = {.kind = EVENT_FORK, .fork = {.parent_pid = 10, .parent_tid = 10}};

	play_begin(&p);
	comm(&p, 10, "server", false, 0);
	put_switch(&p, 10, 10, 50, true, false);
	put(&p, fork, 10, 11, 60);
	put_switch(&p, 10, 11, 100, false, false);
	put_switch(&p, 10, 10, 150, false, false);
	put(&p, (struct event){.kind = EVENT_EXIT}, 10, 10, 200);
	put_switch(&p, 10, 10, 210, true, true); /* of thread 11 */
	put_switch(&p, 10, 10, 300, false, false);
	comm(&p, 10, "next", true, 400);
	put_switch(&p, 10, 10, 500, true, false);
	play_end(&p);
	a = account_of(&p, "server");
	CHECK_EQ(a->oncpu_ns, (50 + 50 + 110 + 100) * MS);
	CHECK_EQ(a->runnable_ns, (40 + 90) * MS);
	CHECK_EQ(account_of(&p, "next")->oncpu_ns, 100 * MS);
	profile_free(p.profile);
}

/* A thread may be preempted between the record of its exit and its last switch. */
static void switches_of_cpus_after_an_exit_are_its_own(void)
{
	struct ledger_threads l = {.start_ns = START, .of_cpus = true};
	const struct ledger_process *a;

	ledger_thread_fork(&l, 1, 0, START);
	ledger_thread_fork(&l, 2, 0, START);
	ledger_thread_switch(&l, 1, 0, START + 10 * MS, false, false);
	ledger_thread_exit(&l, 1, 0, START + 20 * MS);
	ledger_thread_switch(&l, 1, 0, START + 21 * MS, true, true);
	ledger_thread_switch(&l, 1, 0, START + 30 * MS, false, false);
	ledger_thread_switch(&l, 1, 0, START + 31 * MS, true, false);
	ledger_thread_switch(&l, 2, 0, START + 40 * MS, false, false);
	ledger_thread_exit(&l, 2, 0, START + 50 * MS);
	a = &l.processes.items[0];
	CHECK_EQ(a->oncpu_ns, 20 * MS);
	CHECK_EQ(a->runnable_ns + a->blocked_ns, 50 * MS);
	ledger_thread_done(&l);
}

/* Among the records of whole CPUs, too, a thread without any was off the CPU all the time. */
static void found_threads_without_records_are_silent(void)
{
	struct ledger_threads l = {.start_ns = START, .of_cpus = true, .tick_ns = MS};

	for (uint32_t thread = 1; thread <= 4; thread++)
		ledger_thread_found(&l, thread, 0);
	ledger_thread_sample(&l, 2, 0, MS);
	ledger_thread_switch(&l, 3, 0, START + 10 * MS, false, false);
	ledger_thread_exit(&l, 4, 0, START + 10 * MS);
	ledger_thread_fork(&l, 5, 0, START + 10 * MS);
	for (uint32_t thread = 0; thread <= 6; thread++)
		CHECK_EQ(ledger_thread_is_silent(&l, thread, START + 100 * MS), thread == 1);
	/* Too short for samples: it may have been on a CPU. */
	CHECK(!ledger_thread_is_silent(&l, 1, START + 15 * MS));
	ledger_thread_done(&l);
}

static void put_on_cpu(struct play *p, struct event e, uint16_t cpu, int32_t pid, uint64_t ms)
{
	e.cpu = cpu;
	if (e.kind == EVENT_SWITCH)
		e.sched.machine_wide = true;
	put(p, e, pid, pid, ms);
}

/*
 * In a recording of CPUs, a thread whose first record is its exit or its exec ran since the start
 * if its CPU had no switch until then. Otherwise its switch in is missing, and its time unknown.
 */
static void a_missing_switch_is_no_time_on_a_cpu_since_the_start(void)
{
	const struct event in = {.kind = EVENT_SWITCH}, exit = {.kind = EVENT_EXIT};
	struct play p;

	play_begin(&p);
	comm(&p, 10, "alone", false, 0);
	comm(&p, 11, "missed", false, 0);
	comm(&p, 12, "executor", false, 0);
	comm(&p, 13, "other", false, 0);
	put_on_cpu(&p, in, 1, 13, 100);
	put_on_cpu(&p, exit, 1, 11, 300);
	put_on_cpu(&p, (struct event){.kind = EVENT_COMM, .comm = {.name = "new", .exec = true}}, 1,
	           12, 400);
	put_on_cpu(&p, exit, 0, 10, 700);
	play_end(&p);
	CHECK_EQ(account_of(&p, "alone")->oncpu_ns, 700 * MS);
	CHECK_EQ(account_of(&p, "alone")->wall_ns, 700 * MS);
	CHECK_EQ(account_of(&p, "missed")->oncpu_ns, 0);
	CHECK_EQ(account_of(&p, "missed")->wall_ns, 0);
	CHECK_EQ(account_of(&p, "executor")->wall_ns, 0);
	CHECK_EQ(account_of(&p, "other")->unknown_ns, 100 * MS);
	profile_free(p.profile);
}

/* The recording begins while another thread makes an exec: the first one has exited before. */
static void an_exec_that_began_before_the_recording(void)
{
	struct play p;
	const struct ledger_process *a;

	play_begin(&p);
	comm(&p, 10, "server", false, 0);
	put_switch(&p, 10, 11, 300, false, false);
	comm(&p, 10, "next", true, 400);
	put_switch(&p, 10, 10, 500, true, false);
	play_end(&p);
	a = account_of(&p, "server");
	CHECK_EQ(a->oncpu_ns, 100 * MS);
	CHECK_EQ(a->unknown_ns, 300 * MS);
	CHECK_EQ(account_of(&p, "next")->oncpu_ns, 100 * MS);
	profile_free(p.profile);
}

/*
 * A thread runs while it execs. Without earlier records it ran since the start of the recording; if
 * the thread is known, its new instance begins at the exec.
 */
static void exec_says_that_a_thread_ran(void)
{
	struct ledger_threads l = {.start_ns = START};
	struct ledger ledger = {0};
	struct ledger_process p;

	ledger_thread_exec(&l, ID_NONE, ID_NONE, 0, 0, START + 30 * MS);
	ledger_thread_exec(&l, 1, 1, 2, 2, START + 40 * MS);
	ledger_thread_switch(&l, 3, 3, START + 10 * MS, false, false);
	ledger_thread_exec(&l, 3, 3, 4, 4, START + 60 * MS);
	ledger_thread_switch(&l, 0, 0, START + 80 * MS, true, false);
	ledger_thread_finish(&l, START + 100 * MS, &ledger);
	p = process_account(&ledger, 0);
	CHECK_EQ(p.oncpu_ns, 80 * MS);
	CHECK_EQ(p.blocked_ns, 20 * MS);
	CHECK_EQ(p.wall_ns, 100 * MS);
	CHECK_EQ(process_account(&ledger, 1).oncpu_ns, 40 * MS);
	CHECK_EQ(process_account(&ledger, 1).wall_ns, 40 * MS);
	CHECK_EQ(process_account(&ledger, 2).oncpu_ns, 60 * MS);
	CHECK_EQ(process_account(&ledger, 2).wall_ns, 60 * MS);
	CHECK_EQ(process_account(&ledger, 3).unknown_ns, 10 * MS);
	CHECK_EQ(process_account(&ledger, 3).oncpu_ns, 50 * MS);
	CHECK_EQ(process_account(&ledger, 4).wall_ns, 40 * MS);
	vec_done(&ledger.processes);
	ledger_thread_done(&l);
}

/*
 * A tick each millisecond on CPU 0 from `first_ms` to `last_ms`, for the whole machine, without an
 * account.
 */
static struct ledger_cpu cpu_without_account(uint64_t comm_ms, uint64_t first_ms, uint64_t last_ms)
{
	struct ledger_cpu cpu = {0};
	struct play p;

	play_begin_with(&p, false);
	comm(&p, 10, "first", false, comm_ms);
	for (uint64_t ms = first_ms; ms <= last_ms; ms++)
		put(&p,
		    (struct event){.kind = EVENT_SAMPLE,
		                   .mode = CPU_MODE_KERNEL,
		                   .sample = {.ip = 1, .period = MS}},
		    0, 0, ms);
	play_end(&p);
	CHECK_EQ(p.profile->ledger.cpus.count, 1);
	if (p.profile->ledger.cpus.count)
		cpu = p.profile->ledger.cpus.items[0];
	profile_free(p.profile);
	return cpu;
}

/* Without an account sampling began one period before the first tick, or at the first record. */
static void wall_time_without_account_begins_a_period_before_the_first_tick(void)
{
	struct ledger_cpu cpu = cpu_without_account(0, 20, 50);

	CHECK_EQ(cpu.wall_ns, 31 * MS);
	CHECK_EQ(cpu.ticks_seen_idle, 31);
	CHECK_EQ(cpu.ticks_due_idle, 31);
	cpu = cpu_without_account(20, 20, 50);
	CHECK_EQ(cpu.wall_ns, 30 * MS);
}

/* Sampling of a CPU ends before that of the last CPU: its last window has only the sampled time. */
static void the_last_window_ends_with_the_sampling_of_its_cpu(void)
{
	struct ledger_cpu_builder b = cpu_builder(START + 30 * MS);
	struct ledger_cpu first, last, after;

	for (uint64_t tick = 1; tick < 30; tick++) {
		if (tick == 20)
			first = ledger_cpu_cut(&b, START + 20 * MS);
		sample(&b, tick, false);
	}
	last = ledger_cpu_cut(&b, START + 40 * MS);
	after = ledger_cpu_cut(&b, START + 60 * MS);
	CHECK_EQ(first.wall_ns, 20 * MS);
	CHECK_EQ(last.wall_ns, 10 * MS);
	CHECK_EQ(after.wall_ns, 0);
	CHECK_EQ(first.ticks_due_busy + last.ticks_due_busy + after.ticks_due_busy, 29);
	CHECK_EQ(first.ticks_seen_busy + last.ticks_seen_busy, 29);
	ledger_cpu_done(&b);
}

/*
 * Whatever the length of the windows, each tick is due once: ticks at the edge of a window, windows
 * without a sample, and changes of state between them.
 */
static void each_tick_is_due_in_one_window(uint64_t window_ns, uint64_t late_ns)
{
	struct ledger_cpu_builder b = cpu_builder(START + 200 * MS);
	struct ledger_cpu part;
	uint64_t cut = START + window_ns, due = 0, seen = 0, wall = 0;

	for (uint64_t tick = 1; tick < 200; tick++) {
		uint64_t time = START + tick * MS + late_ns;

		for (; cut <= time; cut += window_ns) {
			part = ledger_cpu_cut(&b, cut);
			due += part.ticks_due_busy + part.ticks_due_idle;
			seen += part.ticks_seen_busy + part.ticks_seen_idle;
			wall += part.wall_ns;
		}
		if (tick % 13 == 0)
			ledger_cpu_switch(&b, time - late_ns / 2, tick % 26 ? 7 : 0, true,
			                  tick % 26 ? 0 : 7);
		if (tick % 50 < 12 || tick % 17 == 3)
			ledger_cpu_sample(&b, time, tick / 13 % 2, MS);
	}
	part = ledger_cpu_cut(&b, START + 200 * MS);
	CHECK_EQ(due + part.ticks_due_busy + part.ticks_due_idle, 199);
	CHECK_EQ(seen + part.ticks_seen_busy + part.ticks_seen_idle, 55);
	CHECK_EQ(wall + part.wall_ns, 200 * MS);
	ledger_cpu_done(&b);
}

static void windows_share_the_ticks(void)
{
	static const uint64_t windows[] = {MS / 2, MS, 3 * MS, 7 * MS + 1, 20 * MS, 61 * MS + 333};

	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		each_tick_is_due_in_one_window(windows[i], 6000);
		each_tick_is_due_in_one_window(windows[i], 0);
	}
}

int main(void)
{
	RUN(windows_share_the_ticks);
	RUN(missing_ticks_by_state);
	RUN(gap_over_switches);
	RUN(ticks_before_the_first);
	RUN(no_sample_at_all);
	RUN(idle_excluded);
	RUN(many_switches_between_ticks);
	RUN(threads_time);
	RUN(found_threads_without_records);
	RUN(time_before_the_start_is_not_counted);
	RUN(exited_threads_have_no_number);
	RUN(off_cpu_by_path);
	RUN(machine_wide_account);
	RUN(a_switch_counts_once_whichever_record_is_lost);
	RUN(a_tick_due_just_before_the_end_is_not_missing);
	RUN(exec_says_that_a_thread_ran);
	RUN(a_missing_switch_is_no_time_on_a_cpu_since_the_start);
	RUN(samples_alone_are_no_time_on_a_cpu);
	RUN(an_exec_by_another_thread_ends_the_threads);
	RUN(the_last_thread_has_the_number_of_the_first);
	RUN(switches_of_cpus_after_an_exit_are_its_own);
	RUN(found_threads_without_records_are_silent);
	RUN(an_exec_that_began_before_the_recording);
	RUN(wall_time_without_account_begins_a_period_before_the_first_tick);
	RUN(the_last_window_ends_with_the_sampling_of_its_cpu);
	return check_end();
}
