/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_builder_internal.h"

#include "profile/stack/stack_chain.h"

#include <linux/perf_event.h>
#include <string.h>

#define EVENTS_MAX UINT8_MAX
/* For each recording; later samples are counted in the last window */
#define WINDOWS_MAX (1u << 20)

static void take_notes(void *ctx, const struct counter_update *notes, size_t count)
{
	profile_counter_take(ctx, notes, count);
}

/* Size of the cache of path steps: for a recording, and for one window of many. */
#define PATH_STEPS (1u << 17)
#define PATH_STEPS_ENDLESS (1u << 15)

struct profile_builder *profile_builder_new(struct profile *p,
                                            const struct profile_builder_options *options)
{
	struct profile_builder *b = xcalloc(1, sizeof(*b));

	b->profile = p;
	if (options)
		b->options = *options;
	b->paths = path_cache_new(p, b->options.endless ? PATH_STEPS_ENDLESS : PATH_STEPS);
	profile_counter_init(&b->counter, p);
	b->counter.time_axis = b->options.time_axis;
	p->switches.wanted = b->options.switches;
	p->system_calls.wanted = b->options.system_calls && !b->options.endless;
	p->waits.wanted = b->options.waits;
	p->waits.max = b->options.waits_max;
	p->waits.endless = b->options.endless;
	b->queue = counter_queue_new(take_notes, &b->counter, b->options.endless);
	return b;
}

void profile_builder_free(struct profile_builder *b)
{
	if (!b)
		return;
	counter_queue_free(b->queue);
	profile_counter_done(&b->counter);
	vec_done(&b->events);
	path_cache_free(b->paths);
	stack_walk_free(b->walk);
	vec_done(&b->chain);
	kernel_tids_done(&b->tids);
	vec_done(&b->fault_files);
	free(b);
}

/* The profile's event for an attribute; attributes with the same name and role share it. */
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
	e->user_callchain = a->user_callchain || a->stack_copies;
	return (uint8_t)(p->events.count - 1);
}

static void add_latency_event(struct profile_builder *b)
{
	const struct recording *r = b->recording;
	uint16_t main_attr = recording_main_attr(r);
	struct recording_attr event = {.role = ATTR_CLOCK};

	if (main_attr < r->attrs.count)
		event = r->attrs.items[main_attr];
	event.name = PROFILE_LATENCY_EVENT;
	b->counter.latency.mode = (uint8_t)b->options.latency;
	b->counter.latency_event = add_event(b->profile, &event);
}

static int on_begin(void *ctx, const struct recording *r, struct error *err)
{
	struct profile_builder *b = ctx;
	struct profile *p = b->profile;
	uint32_t index = 0;

	b->recording = r;
	while (index < p->recordings.count && p->recordings.items[index] != r)
		index++;
	process_table_restart(p->processes);
	process_table_set_place(p->processes, recording_place(r), recording_wall_offset(r));
	process_table_set_up(p->processes, true);
	vec_each (known, &r->build_ids)
		process_table_build_id(p->processes, known->filename, &known->id);
	vec_each (attr, &r->attrs) {
		uint8_t event = add_event(p, attr);

		vec_push(&b->events, event);
		if (attr->role == ATTR_SWITCH) {
			b->counter.off.active = true;
			b->counter.off.event = event;
			b->counter.off.unknown_path = profile_path_add(p, PATH_ROOT, 0);
		}
	}
	profile_builder_begin_scheduling(b);
	if (b->options.latency)
		add_latency_event(b);
	b->main_attr = recording_main_attr(r);
	b->main_sampled = false;
	b->recording_index = index;
	b->first_window = (uint32_t)p->windows.count;
	b->before = r->from_ns != 0;
	b->edge_ns = b->before ? r->from_ns : r->to_ns ? r->to_ns : UINT64_MAX;
	profile_counter_begin(&b->counter, r, index);
	return 0;
}

static uint16_t cpu_number(uint32_t cpu)
{
	return cpu < COUNTER_CPUS ? (uint16_t)cpu : COUNTER_CPUS;
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

static void define_outer(void *ctx, uint32_t outer, uint32_t parent, const uint64_t *addresses,
                         uint32_t count)
{
	const struct profile_builder *b = ctx;
	struct event_outer_stack o = {
	        .id = outer, .parent = parent, .addresses = addresses, .count = count};

	path_cache_define(b->paths, &o);
}

static struct stack_walk *walk_of(struct profile_builder *b)
{
	struct stack_walk_options o = {.method = STACK_METHOD_AUTO,
	                               .root = b->options.root,
	                               .cache = b->options.cache,
	                               .define = define_outer,
	                               .ctx = b};

	if (!b->walk)
		b->walk = stack_walk_new(b->profile->processes, &b->profile->images, &o);
	return b->walk;
}

static void forget_walk(struct profile_builder *b, uint32_t thread)
{
	if (b->walk && thread != ID_NONE)
		stack_walk_forget(b->walk, thread);
}

/*
 * The sample with a complete chain: the kernel's part as recorded, the user's part from the walk.
 */
static struct event walk_stack(struct profile_builder *b, const struct event *e, uint32_t thread,
                               uint32_t process)
{
	struct stack_walk_result walked;
	struct event whole = *e;

	stack_walk_sample(walk_of(b), process, thread, e, &walked);
	b->chain.count = 0;
	vec_reserve(&b->chain, e->sample.chain_count + 1 + STACK_WALK_CHAIN);
	stack_chain_join(&walked, &whole.sample, b->chain.items,
	                 e->sample.chain_count + 1 + STACK_WALK_CHAIN);
	return whole;
}

/* The window of a sample; adds windows up to it. */
static uint32_t window_of(struct profile_builder *b, uint64_t time_ns)
{
	struct profile *p = b->profile;
	uint64_t length = b->options.window_ns, start, number;

	if (!length)
		return 0;
	if (!b->windows_from_ns)
		b->windows_from_ns =
		        b->recording->account.present ? b->recording->account.start_ns : time_ns;
	number = time_ns > b->windows_from_ns ? (time_ns - b->windows_from_ns) / length : 0;
	if (number >= WINDOWS_MAX)
		number = WINDOWS_MAX - 1;
	while (p->windows.count <= b->first_window + number) {
		start = b->windows_from_ns + (p->windows.count - b->first_window) * length;
		vec_push(&p->windows,
		         (struct profile_span){b->recording_index, start, start + length});
	}
	return b->first_window + (uint32_t)number;
}

/* Interns the sample's path, and sets the row's stack_end. */
static void find_path(struct profile_builder *b, const struct event *e,
                      const struct recording_attr *a, uint32_t process, struct profile_row *key)
{
	bool copied = a->stack_copies && !e->sample.stack_end;
	struct event walked;

	process_table_moment(b->profile->processes, process, e->time_ns);
	if (b->options.drop_chains) {
		key->path = path_cache_path(b->paths, process, e, true);
		return;
	}
	if (copied && e->sample.regs) {
		walked = walk_stack(b, e, key->thread, process);
		e = &walked;
	}
	key->path = path_cache_path(b->paths, process, e, false);
	key->stack_end = e->sample.stack_end < STACK_ENDS ? e->sample.stack_end : STACK_END_UNKNOWN;
	/* Registers are missing if the sample is not from a user program. */
	if (copied && !e->sample.regs)
		key->stack_end = STACK_NONE;
}

struct counter_update *profile_builder_note(struct profile_builder *b, const struct event *e,
                                            enum counter_update_kind kind)
{
	struct counter_update *n = counter_queue_add(b->queue);

	*n = (struct counter_update){.time_ns = e->time_ns,
	                             .thread = ID_NONE,
	                             .process = ID_NONE,
	                             .pid = e->pid,
	                             .cpu = cpu_number(e->cpu),
	                             .kind = (uint8_t)kind};
	b->timed |= e->time_ns != 0;
	return n;
}

/* The main clock is the first one that has samples, as in profile_clock_event(). */
static void choose_clock(struct profile_builder *b, const struct event *e, uint16_t attr)
{
	if (b->recording->attrs.items[attr].role != ATTR_CLOCK ||
	    (b->main_sampled && attr >= b->main_attr))
		return;
	b->main_sampled = true;
	if (attr == b->main_attr)
		return;
	b->main_attr = attr;
	profile_builder_note(b, e, UPDATE_CLOCK)->amount = attr;
}

/*
 * A thread that is exiting has no number any more after its EXIT record (-1): its last samples are
 * those of its process.
 */
static uint32_t sampled_thread(struct process_table *t, const struct event *e)
{
	return process_table_thread(t, e->pid, e->pid > 0 && e->tid < 0 ? e->pid : e->tid);
}

static void on_sample(struct profile_builder *b, const struct event *e)
{
	uint16_t attr = e->attr < b->recording->attrs.count ? e->attr : b->main_attr;
	struct profile *p = b->profile;
	struct profile_row key = {.region = REGION_NONE};
	const struct recording_attr *a;
	uint32_t process;
	struct counter_update *n;

	if (attr >= b->recording->attrs.count)
		return;
	a = &b->recording->attrs.items[attr];
	if (a->role == ATTR_TRACK)
		return;
	process_table_set_up(p->processes, false);
	choose_clock(b, e, attr);
	key.thread = sampled_thread(p->processes, e);
	process = process_table_thread_at(p->processes, key.thread)->process;
	process_table_in_cgroup(p->processes, process, e->sample.cgroup);
	/* The path of a switch or wake-up is needed: the thread may be off the CPU when the
	 * counted part begins. */
	if (!b->before || a->role == ATTR_SWITCH || a->role == ATTR_WAKE)
		find_path(b, e, a, process, &key);
	if (a->sample_type & PERF_SAMPLE_ADDR)
		key.region = region_of(b, process, e->sample.addr);
	if (b->options.fields && a->type == PERF_TYPE_TRACEPOINT)
		key.region = b->options.fields(&p->fields, b->recording, e);
	n = profile_builder_note(b, e, UPDATE_SAMPLE);
	n->outside = b->before;
	n->amount = e->sample.period;
	n->thread = key.thread;
	n->process = process;
	n->path = key.path;
	n->region = key.region;
	n->window = b->before ? 0 : window_of(b, e->time_ns);
	n->event = b->events.items[attr];
	n->mode = (uint8_t)mode_of(e);
	n->stack_end = key.stack_end;
	n->tick = attr == b->main_attr && a->role == ATTR_CLOCK;
	/*
	 * The idle task has no user mode: pid 0 in user mode is a process outside the pid
	 * namespace.
	 */
	n->idle = e->pid == 0 && e->tid == 0 && e->mode != CPU_MODE_USER;
	n->off_cpu = a->role == ATTR_SWITCH && e->pid > 0 && e->tid > 0;
	if (e->sample.system_call.known && !b->before)
		system_calls_add(&p->system_calls, process, key.thread, e->time_ns,
		                 &e->sample.system_call);
	if (p->waits.wanted && a->type == PERF_TYPE_SOFTWARE &&
	    a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ && key.region != REGION_NONE)
		profile_builder_fault(b, e, &key);
	if (b->tids.wanted)
		profile_builder_scheduling(b, e, a, &key, process);
}

static void on_switch(struct profile_builder *b, const struct event *e)
{
	struct process_table *processes = b->profile->processes;
	struct counter_update *n = profile_builder_note(b, e, UPDATE_SWITCH);

	n->out = e->sched.out;
	n->preempted = e->sched.preempted;
	n->machine_wide = e->sched.machine_wide;
	n->other_pid = e->sched.next_prev_pid;
	n->other = ID_NONE;
	if (b->profile->waits.wanted && e->sched.machine_wide && e->sched.next_prev_pid > 0)
		n->other = process_table_find_thread(processes, e->sched.next_prev_pid,
		                                     e->sched.next_prev_tid);
	/* -1: the last switch of a thread, after its EXIT record */
	if (e->pid <= 0 || e->tid <= 0)
		return;
	n->thread = process_table_thread(processes, e->pid, e->tid);
	n->process = process_table_thread_at(processes, n->thread)->process;
	kernel_tids_set(&b->tids, e->tid, n->thread);
}

/* FORK, EXIT and COMM change the thread to which a pid refers. */
static void on_task(struct profile_builder *b, const struct event *e)
{
	struct process_table *processes = b->profile->processes;
	uint32_t old = process_table_find_thread(processes, e->pid, e->tid), now;
	uint32_t old_process =
	        old == ID_NONE ? ID_NONE : process_table_thread_at(processes, old)->process;
	struct counter_update *n;
	bool exec, found;

	process_table_event(processes, e);
	/*
	 * The recorder read this event from /proc; the event is about a process that is not
	 * sampled.
	 */
	if (e->kind == EVENT_COMM && e->pid == 1)
		profile_builder_note(b, e, UPDATE_MACHINE);
	now = process_table_find_thread(processes, e->pid, e->tid);
	if (now != ID_NONE)
		kernel_tids_set(&b->tids, e->tid, now);
	/* Some kernels do not mark execs: a changed thread id shows an exec here. */
	exec = e->kind == EVENT_COMM && (e->comm.exec || (old != ID_NONE && now != old));
	if (e->kind == EVENT_EXIT || exec)
		forget_walk(b, old);
	found = e->kind == EVENT_COMM && !e->time_ns;
	if (e->pid <= 0 || now == ID_NONE ||
	    (!found && (!e->time_ns || (e->kind == EVENT_COMM && !exec))))
		return;
	n = profile_builder_note(b, e,
	                         found                   ? UPDATE_FOUND
	                         : exec                  ? UPDATE_EXEC
	                         : e->kind == EVENT_FORK ? UPDATE_FORK
	                                                 : UPDATE_EXIT);
	n->thread = now;
	n->process = process_table_thread_at(processes, now)->process;
	n->old = old;
	n->old_process = old_process;
	n->parent = e->kind == EVENT_FORK && b->profile->waits.wanted
	                    ? process_table_find_thread(processes, e->fork.parent_pid,
	                                                e->fork.parent_tid)
	                    : ID_NONE;
	if (found)
		return;
	if (exec)
		system_calls_exec(&b->profile->system_calls, old, now);
	else if (e->kind == EVENT_FORK)
		system_calls_fork(&b->profile->system_calls, now);
	else
		system_calls_exit(&b->profile->system_calls, now);
}

/* Begins and ends the part of the time that is counted. */
static void pass_edges(struct profile_builder *b, uint64_t time_ns)
{
	const struct recording *r = b->recording;

	if (b->before && time_ns >= b->edge_ns) {
		counter_queue_finish(b->queue);
		profile_counter_discard(&b->counter, r->from_ns);
		b->before = false;
		b->edge_ns = r->to_ns ? r->to_ns : UINT64_MAX;
	}
	if (!b->before && time_ns >= b->edge_ns) {
		profile_builder_cut(b, r->to_ns);
		b->after = true;
		b->edge_ns = UINT64_MAX;
	}
}

static int on_event(void *ctx, const struct event *e, struct error *err)
{
	struct profile_builder *b = ctx;

	if (e->time_ns >= b->edge_ns)
		pass_edges(b, e->time_ns);
	if (b->after)
		return 0;
	if (e->time_ns > b->last_ns)
		b->last_ns = e->time_ns;
	/* The first event with a time sets the start time. */
	if (e->time_ns && !b->timed)
		profile_builder_note(b, e, UPDATE_TIME);
	switch (e->kind) {
	case EVENT_SAMPLE:
		on_sample(b, e);
		break;
	case EVENT_SWITCH:
		on_switch(b, e);
		break;
	case EVENT_MMAP:
	case EVENT_CGROUP:
	case EVENT_KERNEL_CODE:
	case EVENT_LABELS:
		process_table_event(b->profile->processes, e);
		break;
	case EVENT_COMM:
	case EVENT_FORK:
	case EVENT_EXIT:
		on_task(b, e);
		break;
	case EVENT_OUTER_STACK:
		path_cache_define(b->paths, &e->outer_stack);
		break;
	case EVENT_LOST:
		process_table_event(b->profile->processes, e);
		profile_builder_note(b, e, UPDATE_LOST)->amount = e->lost.count;
		system_calls_lost(&b->profile->system_calls);
		break;
	case EVENT_THROTTLE:
		profile_builder_note(b, e, UPDATE_THROTTLE)->amount = e->throttle.stopped;
		break;
	case EVENT_DESCRIPTOR:
		profile_builder_descriptor(b, e);
		break;
	default:
		break;
	}
	return 0;
}

static int on_end(void *ctx, const struct recording *r, struct error *err)
{
	struct profile_builder *b = ctx;

	if (b->before)
		pass_edges(b, b->edge_ns);
	system_calls_finish(&b->profile->system_calls);
	if (b->after)
		return 0;
	counter_queue_finish(b->queue);
	profile_counter_end(&b->counter, b->last_ns);
	return 0;
}

void profile_builder_start(struct profile_builder *b, uint64_t start_ns)
{
	counter_queue_finish(b->queue);
	profile_counter_start(&b->counter, start_ns);
}

void profile_builder_cpus(struct profile_builder *b, const struct account *a)
{
	counter_queue_finish(b->queue);
	profile_counter_cpus(&b->counter, a);
}

void profile_builder_cut(struct profile_builder *b, uint64_t to_ns)
{
	counter_queue_finish(b->queue);
	profile_counter_cut(&b->counter, to_ns);
}

typedef uint64_t serial_fn(const struct process_table *t, uint32_t id);

static uint64_t process_serial(const struct process_table *t, uint32_t id)
{
	return process_table_process(t, id)->serial;
}

static uint64_t thread_serial(const struct process_table *t, uint32_t id)
{
	return process_table_thread_at(t, id)->serial;
}

/* Maps old ids to new ids by serial; both tables are sorted by serial. */
static uint32_t *ids_now(const struct process_table *old, size_t count,
                         const struct process_table *now, size_t now_count, serial_fn *serial_of)
{
	uint32_t *map = xmalloc((count + 1) * sizeof(*map));

	for (uint32_t i = 0, j = 0; i < count; i++) {
		uint64_t serial = serial_of(old, i);

		while (j < now_count && serial_of(now, j) < serial)
			j++;
		map[i] = j < now_count && serial_of(now, j) == serial ? j : ID_NONE;
	}
	return map;
}

void profile_builder_renew(struct profile_builder *b)
{
	struct profile *p = b->profile;
	struct process_table *old = p->processes;
	struct image_table images = p->images;
	size_t thread_count = process_table_thread_count(old);
	size_t process_count = process_table_process_count(old);
	uint32_t *threads, *processes;

	image_table_init(&p->images);
	p->processes = process_table_carry(old, &images, &p->images);
	profile_forget_paths(p);
	path_cache_renew(b->paths);
	stack_walk_free(b->walk);
	b->walk = NULL;
	threads = ids_now(old, thread_count, p->processes, process_table_thread_count(p->processes),
	                  thread_serial);
	processes = ids_now(old, process_count, p->processes,
	                    process_table_process_count(p->processes), process_serial);
	ledger_thread_renumber(&b->counter.threads, threads, thread_count, processes,
	                       process_count);
	if (b->counter.off.active)
		off_cpu_renumber(&b->counter.off, threads, thread_count,
		                 profile_path_add(p, PATH_ROOT, 0));
	kernel_tids_renumber(&b->tids, threads, thread_count);
	wait_log_renumber(&p->waits, threads, thread_count, processes, process_count,
	                  profile_path_add(p, PATH_ROOT, 0));
	b->fault_files.count = 0;
	free(threads);
	free(processes);
	process_table_free(old);
	image_table_done(&images);
}

struct event_sink profile_builder_sink(struct profile_builder *b)
{
	return (struct event_sink){.ctx = b, .begin = on_begin, .event = on_event, .end = on_end};
}
