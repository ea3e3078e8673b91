/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_counter.h"

#include <assert.h>

#define AHEAD 12 /* updates whose rows are prefetched */

void profile_counter_init(struct profile_counter *c, struct profile *p)
{
	*c = (struct profile_counter){.profile = p};
	c->off.profile = p;
}

void profile_counter_done(struct profile_counter *c)
{
	vec_each (cpu, &c->cpus) {
		ledger_cpu_done(&cpu->ledger);
		vec_done(&cpu->tracks);
	}
	vec_done(&c->cpus);
	off_cpu_done(&c->off);
	ledger_thread_done(&c->threads);
	latency_done(&c->latency);
}

static void choose_attr(struct profile_counter *c, uint16_t attr)
{
	const struct recording *r = c->recording;

	c->main_attr = attr;
	c->of_cpus =
	        (r->account.present && r->account.machine_wide) ||
	        (attr < r->attrs.count && recording_attr_may_be_of_cpus(&r->attrs.items[attr]));
	c->threads.tick_ns = attr < r->attrs.count && r->attrs.items[attr].role == ATTR_CLOCK &&
	                                     !r->attrs.items[attr].exclude_kernel &&
	                                     !r->attrs.items[attr].exclude_user
	                             ? r->attrs.items[attr].period_ns
	                             : 0;
}

static const struct account_cpu *account_of(const struct recording *r, uint32_t cpu)
{
	if (r->account.present)
		vec_each (account, &r->account.cpus)
			if (account->cpu == cpu)
				return account;
	return NULL;
}

/* The start of the account of a new CPU; a window may have begun after sampling. */
static uint64_t start_of(const struct profile_counter *c, const struct account_cpu *account)
{
	uint64_t start_ns = c->start_ns ? c->start_ns : c->first_ns;

	return account && account->start_ns > start_ns ? account->start_ns : start_ns;
}

static const struct recording_attr *main_attr(const struct profile_counter *c)
{
	return c->main_attr < c->recording->attrs.count ? &c->recording->attrs.items[c->main_attr]
	                                                : NULL;
}

/* Returns 0 if the event has no timer's grid. */
static uint64_t clock_period_ns(const struct profile_counter *c)
{
	const struct recording_attr *attr = main_attr(c);

	return attr && attr->role == ATTR_CLOCK ? attr->period_ns : 0;
}

static struct counter_cpu *cpu_of(struct profile_counter *c, uint16_t number)
{
	const struct account_cpu *account = account_of(c->recording, number);
	const struct recording_attr *attr = main_attr(c);
	struct counter_cpu *cpu;

	cpu = vec_at(&c->cpus, number);
	if (cpu->seen)
		return cpu;
	cpu->seen = true;
	ledger_cpu_init(&cpu->ledger, clock_period_ns(c), attr && attr->exclude_idle,
	                start_of(c, account), account ? account->end_ns : 0);
	cpu->ledger.sums.cpu = number;
	cpu->ledger.sums.recording = c->recording_index;
	return cpu;
}

/* Adds the recorded CPUs, even if they had no event. */
static void add_recorded_cpus(struct profile_counter *c)
{
	const struct recording *r = c->recording;

	if (r->account.present)
		vec_each (account, &r->account.cpus)
			if (account->cpu < COUNTER_CPUS)
				cpu_of(c, (uint16_t)account->cpu);
}

static void set_start(struct profile_counter *c, uint64_t start_ns)
{
	c->threads.start_ns = c->off.start_ns = c->profile->waits.start_ns = start_ns;
}

void profile_counter_begin(struct profile_counter *c, const struct recording *r,
                           uint32_t recording_index)
{
	c->recording = r;
	c->recording_index = recording_index;
	choose_attr(c, recording_main_attr(r));
	if (r->account.present)
		c->first_ns = c->start_ns = r->account.start_ns;
	set_start(c, c->first_ns);
	c->machine_wide = r->account.present && r->account.machine_wide;
	c->off.part = recording_is_part(r);
	if (r->from_ns)
		c->off.start_ns = r->from_ns;
	if (recording_is_part(r))
		add_recorded_cpus(c);
}

static void add_to_axis(struct profile_counter *c, const struct counter_update *n, uint32_t row)
{
	struct counter_cpu *cpu = cpu_of(c, n->cpu);
	struct time_axis *axis = &c->profile->axis;
	struct time_entry entry = {
	        .time_ns = n->time_ns, .row = row, .samples = 1, .weight = n->amount};

	if (!c->time_axis)
		return;
	if (!*vec_at(&cpu->tracks, n->event))
		cpu->tracks.items[n->event] =
		        time_axis_track(axis, c->recording_index, n->cpu, n->event) + 1;
	time_axis_add(axis, cpu->tracks.items[n->event] - 1, &entry);
}

/*
 * Without the recorder's account, sampling is assumed to have begun one period before the first
 * tick; records of switches and tasks may be older.
 */
static void guess_start(struct profile_counter *c, uint64_t time_ns)
{
	uint64_t period = c->recording->attrs.items[c->main_attr].period_ns;

	if (c->start_ns || !time_ns)
		return;
	c->start_ns = time_ns > period ? time_ns - period : time_ns;
	if (c->start_ns < c->first_ns)
		c->start_ns = c->first_ns;
	vec_each (cpu, &c->cpus)
		if (cpu->seen)
			ledger_cpu_restart(&cpu->ledger, c->start_ns);
}

/* The ledgers count the samples of the main clock as ticks. */
static void count_tick(struct profile_counter *c, const struct counter_update *n)
{
	guess_start(c, n->time_ns);
	if (n->time_ns && n->cpu != COUNTER_CPUS)
		ledger_cpu_sample(&cpu_of(c, n->cpu)->ledger, n->time_ns, n->idle, n->amount);
	if (n->pid > 0)
		ledger_thread_sample(&c->threads, n->thread, n->process, n->amount);
}

static struct profile_row row_key(const struct counter_update *n)
{
	return (struct profile_row){.path = n->path,
	                            .thread = n->thread,
	                            .region = n->region,
	                            .window = n->window,
	                            .cpu = n->cpu,
	                            .event = n->event,
	                            .mode = n->mode,
	                            .stack_end = n->stack_end};
}

/* The same sample once more, with its weight in the elapsed time. */
static void add_latency(struct profile_counter *c, const struct counter_update *n)
{
	struct profile *p = c->profile;
	struct counter_update part = *n;
	struct profile_row key, *row;

	part.event = c->latency_event;
	part.amount = latency_weight(&c->latency, n->thread, n->process, n->amount);
	if (n->outside)
		return;
	key = row_key(&part);
	row = profile_row_add(p, &key);
	row->samples++;
	row->weight += part.amount;
	p->events.items[part.event].samples++;
	p->events.items[part.event].weight += part.amount;
	add_to_axis(c, &part, (uint32_t)(row - p->rows.items));
}

static void on_sample(struct profile_counter *c, const struct counter_update *n, uint64_t hash)
{
	struct profile *p = c->profile;
	struct profile_row key = row_key(n), *row;

	if (n->off_cpu)
		off_cpu_sample(&c->off, n->thread, &key);
	if (n->tick)
		count_tick(c, n);
	c->machine_wide |= n->idle && c->of_cpus;
	if (c->latency.mode && n->tick && n->pid > 0 && c->switches)
		add_latency(c, n);
	if (n->outside)
		return;
	row = profile_row_add_hashed(p, &key, hash);
	row->samples++;
	row->weight += n->amount;
	p->events.items[n->event].samples++;
	p->events.items[n->event].weight += n->amount;
	add_to_axis(c, n, (uint32_t)(row - p->rows.items));
}

static void on_switch(struct profile_counter *c, const struct counter_update *n)
{
	/*
	 * A recording of one command with Intel PT contains the switches of whole CPUs, which
	 * include other processes.
	 */
	if (n->machine_wide && !c->of_cpus)
		return;
	c->switches = true;
	if (n->machine_wide) {
		c->machine_wide = true;
		if (n->cpu != COUNTER_CPUS)
			ledger_cpu_switch(&cpu_of(c, n->cpu)->ledger, n->time_ns, n->pid, n->out,
			                  n->other_pid);
	}
	if (n->thread == ID_NONE)
		return;
	c->threads.of_cpus = n->machine_wide;
	ledger_thread_switch(&c->threads, n->thread, n->process, n->time_ns, n->out, n->preempted);
	off_cpu_switch(&c->off, n->thread, n->cpu, n->time_ns, n->out, n->preempted);
	switch_log_switch(&c->profile->switches, n->thread, n->cpu, n->time_ns, n->out,
	                  n->preempted);
	latency_switch(&c->latency, n->thread, n->process, n->cpu, n->out);
	if (!c->profile->waits.wanted)
		return;
	wait_log_switch(&c->profile->waits, &(struct wait_switch){.time_ns = n->time_ns,
	                                                          .thread = n->thread,
	                                                          .process = n->process,
	                                                          .instead = n->other,
	                                                          .cpu = n->cpu,
	                                                          .out = n->out,
	                                                          .preempted = n->preempted});
}

static void on_place(struct profile_counter *c, const struct counter_update *n)
{
	wait_log_place(&c->profile->waits, n->thread,
	               &(struct wait_place){
	                       .argument = n->amount,
	                       .path = n->place,
	                       .instead = n->instead,
	                       .is_state_known = n->flags & PLACE_STATE_KNOWN,
	                       .is_runnable = n->flags & PLACE_RUNNABLE,
	                       .uninterruptible = n->flags & PLACE_UNINTERRUPTIBLE,
	                       .in_system_call = n->flags & PLACE_IN_SYSTEM_CALL,
	               });
}

static void on_wake(struct profile_counter *c, const struct counter_update *n)
{
	if (n->woken != ID_NONE)
		off_cpu_wake(&c->off, n->woken, n->time_ns);
	wait_log_wake(&c->profile->waits, &(struct wait_wake){.time_ns = n->time_ns,
	                                                      .argument = n->amount,
	                                                      .process = n->process,
	                                                      .thread = n->woken,
	                                                      .waker = n->thread,
	                                                      .path = n->waker_path,
	                                                      .cpu = n->cpu,
	                                                      .by = n->flags,
	                                                      .is_new = n->is_new});
}

static void on_contention(struct profile_counter *c, const struct counter_update *n)
{
	struct wait_log *l = &c->profile->waits;

	if (!l->wanted)
		return;
	if (n->out)
		wait_contention_end(&l->contention, n->thread, n->amount, !n->preempted);
	else
		wait_contention_begin(&l->contention, n->thread, n->amount, n->flags);
}

static void on_lost(struct profile_counter *c, const struct counter_update *n)
{
	if (n->cpu != COUNTER_CPUS)
		cpu_of(c, n->cpu)->ledger.sums.ticks_lost += n->amount;
	if (n->time_ns)
		wait_log_lost(&c->profile->waits, n->cpu, n->time_ns);
}

/* The accounts of CPUs that already exist are switched to that clock. */
static void on_clock(struct profile_counter *c, const struct counter_update *n)
{
	choose_attr(c, (uint16_t)n->amount);
	vec_each (cpu, &c->cpus)
		if (cpu->seen)
			ledger_cpu_set_clock(&cpu->ledger, clock_period_ns(c),
			                     main_attr(c)->exclude_idle);
}

/*
 * A thread that execs or exits is running. Without an earlier record it ran since the start, except
 * on a CPU that has had a switch since then: there its own switch in is missing.
 */
static void find_missing_switch(struct profile_counter *c, const struct counter_update *n,
                                uint32_t thread, uint32_t process)
{
	if (c->threads.of_cpus && n->cpu != COUNTER_CPUS && cpu_of(c, n->cpu)->ledger.told &&
	    thread != ID_NONE)
		ledger_thread_unseen(&c->threads, thread, process, n->time_ns);
}

/* FORK, EXIT and COMM change the thread to which a pid refers; the ledgers are updated. */
static void on_task(struct profile_counter *c, const struct counter_update *n)
{
	if (n->kind == UPDATE_EXEC) {
		find_missing_switch(c, n, n->old, n->old_process);
		ledger_thread_exec(&c->threads, n->old, n->old_process, n->thread, n->process,
		                   n->time_ns);
		if (n->old != ID_NONE) {
			off_cpu_exit(&c->off, n->old);
			switch_log_exit(&c->profile->switches, n->old);
		}
		latency_leave(&c->latency, n->old, n->thread, n->process);
		wait_log_exec(&c->profile->waits, n->old, n->thread, n->time_ns);
	} else if (n->kind == UPDATE_FORK) {
		if (n->old != ID_NONE) {
			ledger_thread_exit(&c->threads, n->old, ID_NONE, n->time_ns);
			/* A process from /proc whose FORK record comes later is the same thread. */
			if (n->old != n->thread)
				wait_log_exit(&c->profile->waits, n->old, n->time_ns);
		}
		ledger_thread_fork(&c->threads, n->thread, n->process, n->time_ns);
		wait_log_fork(&c->profile->waits, n->thread, n->process, n->parent, n->time_ns);
	} else {
		find_missing_switch(c, n, n->thread, n->process);
		ledger_thread_exit(&c->threads, n->thread, n->process, n->time_ns);
		off_cpu_exit(&c->off, n->thread);
		switch_log_exit(&c->profile->switches, n->thread);
		wait_log_exit(&c->profile->waits, n->thread, n->time_ns);
	}
}

static void on_note(struct profile_counter *c, const struct counter_update *n, uint64_t hash)
{
	if (n->time_ns && !c->first_ns)
		set_start(c, c->first_ns = n->time_ns);
	switch ((enum counter_update_kind)n->kind) {
	case UPDATE_SAMPLE:
		on_sample(c, n, hash);
		break;
	case UPDATE_SWITCH:
		on_switch(c, n);
		break;
	case UPDATE_FOUND:
		ledger_thread_found(&c->threads, n->thread, n->process);
		break;
	case UPDATE_FORK:
	case UPDATE_EXEC:
	case UPDATE_EXIT:
		on_task(c, n);
		break;
	case UPDATE_LOST:
		on_lost(c, n);
		break;
	case UPDATE_PLACE:
		on_place(c, n);
		break;
	case UPDATE_WAKE:
		on_wake(c, n);
		break;
	case UPDATE_CONTENTION:
		on_contention(c, n);
		break;
	case UPDATE_DESCRIPTOR:
		wait_log_number(&c->profile->waits, n->process, (uint32_t)n->amount, n->descriptor);
		break;
	case UPDATE_FAULT:
		wait_log_fault(&c->profile->waits, n->thread, n->descriptor);
		break;
	case UPDATE_THROTTLE:
		if (n->cpu != COUNTER_CPUS)
			cpu_of(c, n->cpu)->ledger.sums.throttled += n->amount;
		break;
	case UPDATE_CLOCK:
		on_clock(c, n);
		break;
	case UPDATE_MACHINE:
		c->machine_wide |= c->of_cpus;
		break;
	case UPDATE_TIME:
		break;
	}
	if (c->profile->waits.wanted)
		wait_log_heard(&c->profile->waits, n->cpu, n->time_ns);
}

static void prepare(struct profile_counter *c, const struct counter_update *notes, size_t i)
{
	struct profile_row key;

	if (notes[i].kind != UPDATE_SAMPLE)
		return;
	key = row_key(&notes[i]);
	c->hashes[i] = profile_row_hash(&key);
	id_table_prefetch(&c->profile->row_index, c->hashes[i]);
}

void profile_counter_take(struct profile_counter *c, const struct counter_update *notes,
                          size_t count)
{
	assert(count <= UPDATE_BATCH);
	for (size_t i = 0; i < count && i < AHEAD; i++)
		prepare(c, notes, i);
	for (size_t i = 0; i < count; i++) {
		if (i + AHEAD < count)
			prepare(c, notes, i + AHEAD);
		on_note(c, &notes[i], c->hashes[i]);
	}
}

void profile_counter_start(struct profile_counter *c, uint64_t start_ns)
{
	c->first_ns = c->start_ns = start_ns;
	set_start(c, start_ns);
	vec_each (cpu, &c->cpus)
		if (cpu->seen)
			ledger_cpu_restart(&cpu->ledger, start_ns);
	add_recorded_cpus(c);
}

/*
 * True if the account of threads is known. In a recording of processes the events of a thread that
 * was found at the start are open: without a record it did not switch.
 */
static bool has_threads(struct profile_counter *c, bool machine_wide)
{
	c->threads.of_cpus |= machine_wide;
	if (!machine_wide && c->threads.threads.count)
		vec_each (attr, &c->recording->attrs)
			c->switches |= attr->context_switch;
	return c->switches;
}

void profile_counter_cpus(struct profile_counter *c, const struct account *a)
{
	vec_each (account, &a->cpus) {
		struct ledger_cpu_builder *ledger;

		if (account->cpu >= COUNTER_CPUS)
			continue;
		ledger = &cpu_of(c, (uint16_t)account->cpu)->ledger;
		if (account->start_ns > ledger->start_ns)
			ledger_cpu_restart(ledger, account->start_ns);
		ledger->end_ns = account->end_ns;
	}
}

void profile_counter_discard(struct profile_counter *c, uint64_t from_ns)
{
	struct ledger before = {0};

	c->cut = true;
	vec_each (cpu, &c->cpus)
		if (cpu->seen)
			ledger_cpu_cut(&cpu->ledger, from_ns);
	has_threads(c, c->machine_wide);
	ledger_thread_cut(&c->threads, from_ns, &before);
	switch_log_discard(&c->profile->switches, from_ns);
	wait_log_discard(&c->profile->waits, from_ns);
	vec_done(&before.processes);
	if (c->start_ns)
		c->start_ns = from_ns;
}

void profile_counter_cut(struct profile_counter *c, uint64_t to_ns)
{
	struct ledger *ledger = &c->profile->ledger;

	c->cut = true;
	ledger->machine_wide = c->machine_wide;
	vec_each (cpu, &c->cpus)
		if (c->machine_wide && cpu->seen && cpu->ledger.sums.cpu != COUNTER_CPUS)
			vec_push(&ledger->cpus, ledger_cpu_cut(&cpu->ledger, to_ns));
	if (has_threads(c, c->machine_wide))
		ledger_thread_cut(&c->threads, to_ns, ledger);
	off_cpu_cut(&c->off, to_ns);
	wait_log_finish(&c->profile->waits, to_ns);
	if (c->start_ns)
		c->start_ns = to_ns;
}

static void finish_cpus(struct profile_counter *c, uint64_t last_ns)
{
	const struct recording *r = c->recording;

	add_recorded_cpus(c);
	vec_each (cpu, &c->cpus) {
		const struct account_cpu *account;

		if (!cpu->seen || cpu->ledger.sums.cpu == COUNTER_CPUS)
			continue;
		account = account_of(r, cpu->ledger.sums.cpu);
		ledger_cpu_finish(&cpu->ledger, account ? account->end_ns : last_ns);
		cpu->ledger.sums.has_steal = account && !c->cut;
		cpu->ledger.sums.steal_ns = account && !c->cut ? account->stat_steal_ns : 0;
		/* The last lost records may not have been reported by an event. */
		if (account && !c->cut && account->lost_records > cpu->ledger.sums.ticks_lost)
			cpu->ledger.sums.ticks_lost = account->lost_records;
		vec_push(&c->profile->ledger.cpus, cpu->ledger.sums);
	}
}

static void add_silent(struct profile_counter *c, uint64_t end_ns)
{
	for (uint32_t i = 0; i < c->threads.threads.count; i++)
		if (ledger_thread_is_silent(&c->threads, i, end_ns))
			wait_log_silent(&c->profile->waits, i, !c->threads.of_cpus);
}

void profile_counter_end(struct profile_counter *c, uint64_t last_ns)
{
	const struct recording *r = c->recording;
	uint64_t end_ns = r->account.present ? r->account.end_ns : last_ns;
	bool machine_wide = r->account.present ? r->account.machine_wide : c->machine_wide;

	if (machine_wide) {
		c->profile->ledger.machine_wide = true;
		finish_cpus(c, last_ns);
	}
	if (has_threads(c, machine_wide)) {
		add_silent(c, end_ns);
		ledger_thread_finish(&c->threads, end_ns, &c->profile->ledger);
	}
	off_cpu_finish(&c->off, end_ns);
	switch_log_finish(&c->profile->switches);
	wait_log_finish(&c->profile->waits, end_ns);
	if (!c->cut)
		c->profile->ledger.counted_oncpu_ns += r->account.counted_oncpu_ns;
}
