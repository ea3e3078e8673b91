/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_builder.h"

#include "profile/ledger_cpu.h"
#include "profile/ledger_thread.h"
#include "profile/off_cpu.h"
#include "profile/path_cache.h"

#include <linux/perf_event.h>
#include <string.h>

#define EVENTS_MAX UINT8_MAX
#define CPUS_MAX UINT16_MAX /* the last number stands for "not known" and all above */

struct builder_cpu {
	struct ledger_cpu_builder ledger;
	bool seen;
	VEC(uint32_t) sequences; /* by event: index into profile.sequences, + 1 */
};

struct profile_builder {
	struct profile *profile;
	struct profile_builder_options options;
	const struct recording *recording;
	uint32_t recording_index;
	uint16_t main_attr;
	VEC(uint8_t) events; /* by attr: index into profile.events */
	VEC(struct builder_cpu) cpus;
	uint32_t sequence_room; /* items that may still be kept */
	struct path_cache *paths;
	struct off_cpu off;
	struct ledger_threads threads;
	uint64_t first_ns, last_ns; /* of timed events */
	uint64_t start_ns;          /* of sampling, 0: not known yet */
	bool machine_wide, switches;
};

struct profile_builder *profile_builder_new(struct profile *p,
                                            const struct profile_builder_options *options)
{
	struct profile_builder *b = xcalloc(1, sizeof(*b));

	b->profile = p;
	if (options)
		b->options = *options;
	b->paths = path_cache_new(p);
	b->off.profile = p;
	b->sequence_room = SEQUENCE_MAX;
	vec_each (sequence, &p->sequences)
		b->sequence_room -= (uint32_t)sequence->rows.count;
	return b;
}

void profile_builder_free(struct profile_builder *b)
{
	if (!b)
		return;
	vec_each (cpu, &b->cpus) {
		ledger_cpu_done(&cpu->ledger);
		vec_done(&cpu->sequences);
	}
	vec_done(&b->cpus);
	vec_done(&b->events);
	path_cache_free(b->paths);
	off_cpu_done(&b->off);
	ledger_thread_done(&b->threads);
	free(b);
}

/* The profile's event for an attribute; those of one name and role are one. */
static uint8_t add_event(struct profile *p, const struct recording_attr *a)
{
	const char *name = a->name ? a->name : "?";
	struct profile_event *e;

	for (size_t i = 0; i < p->events.count; i++)
		if (p->events.items[i].role == a->role && !strcmp(p->events.items[i].name, name))
			return (uint8_t)i;
	if (p->events.count == EVENTS_MAX)
		return EVENTS_MAX - 1;
	e = vec_add(&p->events);
	e->name = xstrdup(name);
	e->role = a->role;
	e->period_ns = a->period_ns;
	e->frequency_hz = a->frequency_hz;
	e->callchain = a->callchain;
	e->user_callchain = a->user_callchain;
	return (uint8_t)(p->events.count - 1);
}

static int on_begin(void *ctx, const struct recording *r, struct error *err)
{
	struct profile_builder *b = ctx;
	struct profile *p = b->profile;

	b->recording = r;
	for (b->recording_index = 0; b->recording_index < p->recordings.count; b->recording_index++)
		if (p->recordings.items[b->recording_index] == r)
			break;
	process_table_restart(p->processes);
	vec_each (known, &r->build_ids)
		process_table_build_id(p->processes, known->filename, &known->id);
	vec_each (attr, &r->attrs) {
		uint8_t event = add_event(p, attr);

		vec_push(&b->events, event);
		if (attr->role == ATTR_SWITCH) {
			b->off.active = true;
			b->off.event = event;
		}
	}
	b->main_attr = recording_main_attr(r);
	if (r->account.present)
		b->first_ns = b->start_ns = r->account.start_ns;
	b->threads.start_ns = b->off.start_ns = b->first_ns;
	return 0;
}

static const struct account_cpu *account_of(const struct recording *r, uint32_t cpu)
{
	if (r->account.present)
		vec_each (account, &r->account.cpus)
			if (account->cpu == cpu)
				return account;
	return NULL;
}

static uint16_t cpu_number(uint32_t cpu)
{
	return cpu < CPUS_MAX ? (uint16_t)cpu : CPUS_MAX;
}

static struct builder_cpu *cpu_of(struct profile_builder *b, uint16_t number)
{
	const struct recording *r = b->recording;
	const struct recording_attr *attr;
	const struct account_cpu *account = account_of(r, number);
	struct builder_cpu *cpu;
	bool clock;

	while (b->cpus.count <= number)
		vec_add(&b->cpus);
	cpu = &b->cpus.items[number];
	if (cpu->seen)
		return cpu;
	cpu->seen = true;
	attr = b->main_attr < r->attrs.count ? &r->attrs.items[b->main_attr] : NULL;
	clock = attr && attr->role == ATTR_CLOCK;
	ledger_cpu_init(&cpu->ledger, clock ? attr->period_ns : 0, attr && attr->exclude_idle,
	                account       ? account->start_ns
	                : b->start_ns ? b->start_ns
	                              : b->first_ns,
	                account ? account->end_ns : 0);
	cpu->ledger.sums.cpu = number;
	cpu->ledger.sums.recording = b->recording_index;
	return cpu;
}

static enum profile_mode mode_of(const struct event *e)
{
	switch (e->mode) {
	case CPU_MODE_USER:
		return PROFILE_USER;
	case CPU_MODE_KERNEL:
		return e->pid ? PROFILE_KERNEL : PROFILE_IDLE;
	case CPU_MODE_GUEST:
		return PROFILE_GUEST;
	default:
		return PROFILE_UNKNOWN;
	}
}

static uint32_t region_of(struct profile_builder *b, uint32_t process, uint64_t address)
{
	const struct mapping *m;

	if (!address)
		return REGION_NONE;
	if (address >> 63)
		return process_table_resolve(b->profile->processes, process, CPU_MODE_KERNEL,
		                             address)
		        .image;
	m = process_table_mapping(b->profile->processes, process, address);
	return m ? m->image : IMAGE_ID_UNKNOWN;
}

static void append_sequence(struct profile_builder *b, uint16_t number, uint8_t event, uint32_t row)
{
	struct builder_cpu *cpu = cpu_of(b, number);
	struct profile *p = b->profile;
	struct profile_sequence *sequence;

	if (!b->sequence_room) {
		p->sequences_cut = true;
		return;
	}
	b->sequence_room--;
	while (cpu->sequences.count <= event)
		vec_push(&cpu->sequences, 0);
	if (!cpu->sequences.items[event]) {
		sequence = vec_add(&p->sequences);
		sequence->recording = b->recording_index;
		sequence->cpu = number;
		sequence->event = event;
		cpu->sequences.items[event] = (uint32_t)p->sequences.count;
	}
	sequence = &p->sequences.items[cpu->sequences.items[event] - 1];
	vec_push(&sequence->rows, row);
}

/*
 * Without an account of the recorder's, sampling began one period before the
 * first tick of all: records of switches and tasks may begin earlier.
 */
static void guess_start(struct profile_builder *b, uint64_t time_ns)
{
	uint64_t period = b->recording->attrs.items[b->main_attr].period_ns;

	if (b->start_ns || !time_ns)
		return;
	b->start_ns = time_ns > period ? time_ns - period : time_ns;
	if (b->start_ns < b->first_ns)
		b->start_ns = b->first_ns;
	vec_each (cpu, &b->cpus)
		if (cpu->seen)
			ledger_cpu_restart(&cpu->ledger, b->start_ns);
}

/* The clock's samples are the ticks that the ledgers count. */
static void count_tick(struct profile_builder *b, const struct event *e, uint32_t thread,
                       uint32_t process, uint16_t cpu, uint64_t weight)
{
	bool idle = e->pid == 0 && e->tid == 0;

	b->machine_wide |= idle;
	guess_start(b, e->time_ns);
	if (e->time_ns && cpu != CPUS_MAX)
		ledger_cpu_sample(&cpu_of(b, cpu)->ledger, e->time_ns, idle, weight);
	if (e->pid > 0)
		ledger_thread_sample(&b->threads, thread, process, weight);
}

static void on_sample(struct profile_builder *b, const struct event *e)
{
	uint16_t attr = e->attr < b->recording->attrs.count ? e->attr : b->main_attr;
	struct profile *p = b->profile;
	struct profile_row key = {.region = REGION_NONE, .mode = (uint8_t)mode_of(e)}, *row;
	const struct recording_attr *a;
	uint32_t process;

	if (attr >= b->recording->attrs.count)
		return;
	a = &b->recording->attrs.items[attr];
	if (a->role == ATTR_TRACK)
		return;
	key.thread = process_table_thread(p->processes, e->pid, e->tid);
	process = process_table_thread_at(p->processes, key.thread)->process;
	key.event = b->events.items[attr];
	key.cpu = cpu_number(e->cpu);
	key.path = path_cache_path(b->paths, process, e, b->options.drop_chains);
	if (a->sample_type & PERF_SAMPLE_ADDR)
		key.region = region_of(b, process, e->sample.addr);
	row = profile_row_add(p, &key);
	row->samples++;
	row->weight += e->sample.period;
	p->events.items[key.event].samples++;
	p->events.items[key.event].weight += e->sample.period;
	append_sequence(b, key.cpu, key.event, (uint32_t)(row - p->rows.items));
	if (a->role == ATTR_SWITCH && e->pid > 0)
		off_cpu_sample(&b->off, key.thread, (uint32_t)(row - p->rows.items));
	if (attr == b->main_attr && a->role == ATTR_CLOCK)
		count_tick(b, e, key.thread, process, key.cpu, e->sample.period);
}

static void on_switch(struct profile_builder *b, const struct event *e)
{
	struct process_table *processes = b->profile->processes;
	uint16_t cpu = cpu_number(e->cpu);
	uint32_t thread, process;

	b->switches = true;
	if (e->sched.machine_wide) {
		b->machine_wide = true;
		if (cpu != CPUS_MAX)
			ledger_cpu_switch(&cpu_of(b, cpu)->ledger, e->time_ns, e->pid, e->sched.out,
			                  e->sched.next_prev_pid);
	}
	if (e->pid <= 0)
		return;
	thread = process_table_thread(processes, e->pid, e->tid);
	process = process_table_thread_at(processes, thread)->process;
	ledger_thread_switch(&b->threads, thread, process, e->time_ns, e->sched.out,
	                     e->sched.preempted);
	off_cpu_switch(&b->off, thread, cpu, e->time_ns, e->sched.out, e->sched.preempted);
}

/* FORK, EXIT and COMM change which thread a pid means: ledgers follow. */
static void on_task(struct profile_builder *b, const struct event *e)
{
	struct process_table *processes = b->profile->processes;
	uint32_t old = process_table_find_thread(processes, e->pid, e->tid), now, process;
	uint32_t old_process =
	        old == ID_NONE ? ID_NONE : process_table_thread_at(processes, old)->process;

	process_table_event(processes, e);
	now = process_table_find_thread(processes, e->pid, e->tid);
	if (!e->time_ns || e->pid <= 0 || now == ID_NONE)
		return;
	process = process_table_thread_at(processes, now)->process;
	if (e->kind == EVENT_COMM && e->comm.exec) {
		ledger_thread_exec(&b->threads, old, old_process, now, process, e->time_ns);
		if (old != ID_NONE)
			off_cpu_exit(&b->off, old);
	} else if (e->kind == EVENT_FORK) {
		if (old != ID_NONE)
			ledger_thread_exit(&b->threads, old, e->time_ns);
		ledger_thread_fork(&b->threads, now, process, e->time_ns);
	} else if (e->kind == EVENT_EXIT) {
		ledger_thread_exit(&b->threads, now, e->time_ns);
		off_cpu_exit(&b->off, now);
	}
}

static void note_time(struct profile_builder *b, uint64_t time_ns)
{
	if (!time_ns)
		return;
	if (!b->first_ns)
		b->first_ns = b->threads.start_ns = b->off.start_ns = time_ns;
	if (time_ns > b->last_ns)
		b->last_ns = time_ns;
}

static int on_event(void *ctx, const struct event *e, struct error *err)
{
	struct profile_builder *b = ctx;
	uint16_t cpu = cpu_number(e->cpu);

	note_time(b, e->time_ns);
	switch (e->kind) {
	case EVENT_SAMPLE:
		on_sample(b, e);
		break;
	case EVENT_SWITCH:
		on_switch(b, e);
		break;
	case EVENT_MMAP:
		process_table_event(b->profile->processes, e);
		break;
	case EVENT_COMM:
	case EVENT_FORK:
	case EVENT_EXIT:
		on_task(b, e);
		break;
	case EVENT_LOST:
		if (cpu != CPUS_MAX)
			cpu_of(b, cpu)->ledger.sums.ticks_lost += e->lost.count;
		break;
	case EVENT_THROTTLE:
		if (cpu != CPUS_MAX)
			cpu_of(b, cpu)->ledger.sums.throttled += e->throttle.stopped;
		break;
	default:
		break;
	}
	return 0;
}

static void finish_cpus(struct profile_builder *b)
{
	const struct recording *r = b->recording;

	if (r->account.present)
		vec_each (account, &r->account.cpus)
			if (account->cpu < CPUS_MAX)
				cpu_of(b, (uint16_t)account->cpu);
	vec_each (cpu, &b->cpus) {
		const struct account_cpu *account;

		if (!cpu->seen || cpu->ledger.sums.cpu == CPUS_MAX)
			continue;
		account = account_of(r, cpu->ledger.sums.cpu);
		ledger_cpu_finish(&cpu->ledger, account ? account->end_ns : b->last_ns);
		cpu->ledger.sums.has_steal = account;
		cpu->ledger.sums.steal_ns = account ? account->stat_steal_ns : 0;
		vec_push(&b->profile->ledger.cpus, cpu->ledger.sums);
	}
}

static int on_end(void *ctx, const struct recording *r, struct error *err)
{
	struct profile_builder *b = ctx;
	uint64_t end_ns = r->account.present ? r->account.end_ns : b->last_ns;
	bool machine_wide = r->account.present ? r->account.machine_wide : b->machine_wide;

	if (machine_wide) {
		b->profile->ledger.machine_wide = true;
		finish_cpus(b);
	}
	if (b->switches)
		ledger_thread_finish(&b->threads, end_ns, &b->profile->ledger);
	off_cpu_finish(&b->off, end_ns);
	b->profile->ledger.counted_oncpu_ns += r->account.counted_oncpu_ns;
	return 0;
}

struct event_sink profile_builder_sink(struct profile_builder *b)
{
	return (struct event_sink){.ctx = b, .begin = on_begin, .event = on_event, .end = on_end};
}
