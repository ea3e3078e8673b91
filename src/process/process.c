/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process.h"

#include "process/process_internal.h"

#include <stdio.h>
#include <string.h>

#define RENAMES_SHARED 4

static void forget_current(struct process_table *t)
{
	pid_map_done(&t->by_pid);
	pid_map_done(&t->by_tid);
	t->build_ids.count = 0;
	map_set_unref(t->kernel);
	t->kernel = map_set_new(++t->version, &t->mappings_held);
	t->kernel_image = ID_NONE;
	t->kernel_code.count = 0;
	t->last_thread = ID_NONE;
	t->ended_count = 0;
	t->cgroups.count = 0;
	t->labels = ID_NONE;
	id_table_done(&t->cgroup_index);
	vec_each (state, &t->states) {
		map_set_unref(state->maps);
		state->maps = NULL;
	}
}

struct process_table *process_table_new(struct image_table *images)
{
	struct process_table *t = xcalloc(1, sizeof(*t));

	t->images = images;
	intern_init(&t->names);
	forget_current(t);
	return t;
}

void process_table_free(struct process_table *t)
{
	if (!t)
		return;
	forget_current(t);
	map_set_unref(t->kernel);
	vec_done(&t->kernel_code);
	intern_done(&t->names);
	vec_each (state, &t->states)
		process_jit_free(state->jit);
	vec_done(&t->processes);
	vec_done(&t->states);
	vec_done(&t->threads);
	vec_done(&t->thread_states);
	vec_done(&t->instances);
	vec_done(&t->named);
	vec_done(&t->build_ids);
	vec_done(&t->cgroups);
	free(t->forgotten);
	free(t);
}

void process_table_restart(struct process_table *t)
{
	forget_current(t);
}

struct thread_records *process_thread_state(struct process_table *t, uint32_t thread)
{
	return vec_at(&t->thread_states, thread);
}

static void name_process(struct process_table *t, uint32_t id, uint32_t name)
{
	struct process *p = &t->processes.items[id];

	/*
	 * Releases the instance number if it is the last one, so that short-lived names cause no
	 * gaps.
	 */
	process_instance_return(t, p->name, p->instance);
	p->name = name;
	p->instance = process_instance_next(t, name);
	p->changed = true;
}

static uint32_t made_up_name(struct process_table *t, int32_t tid)
{
	char text[32];

	snprintf(text, sizeof(text), ":%d", tid);
	return intern_add(&t->names, tid ? text : "swapper");
}

/* Adds a process and makes it the present owner of the pid. */
static uint32_t add_process(struct process_table *t, int32_t pid, uint32_t name, uint64_t time_ns)
{
	uint32_t id = (uint32_t)t->processes.count;
	struct process_state state = {.provisional = pid != 0};
	struct process p = {.pid = pid,
	                    .parent = ID_NONE,
	                    .start_ns = time_ns,
	                    .serial = ++t->process_serial,
	                    .cgroup = ID_NONE,
	                    .version = ID_NONE,
	                    .labels = t->labels};

	vec_push(&t->processes, p);
	vec_push(&t->states, state);
	name_process(t, id, name);
	pid_map_set(&t->by_pid, pid, id);
	return id;
}

static uint32_t add_thread(struct process_table *t, uint32_t process, int32_t tid, uint32_t name,
                           uint64_t time_ns)
{
	uint32_t id = (uint32_t)t->threads.count;
	struct process *p = &t->processes.items[process];
	struct thread thread = {.process = process,
	                        .name = name,
	                        .tid = tid,
	                        .start_ns = time_ns,
	                        .serial = ++t->thread_serial,
	                        .changed = true};

	vec_push(&t->threads, thread);
	pid_map_set(&t->by_tid, tid, id);
	process_thread_state(t, id)->heard = ++t->moment;
	t->states.items[process].live_threads++;
	p->changed |= p->end_ns != 0;
	p->end_ns = 0;
	process_jit_ended(t, process, 0);
	return id;
}

void process_drop_maps(struct process_table *t, uint32_t process)
{
	map_set_unref(t->states.items[process].maps);
	t->states.items[process].maps = NULL;
}

static void set_end(struct process_table *t, uint32_t process, uint64_t time_ns)
{
	struct process *p = &t->processes.items[process];

	p->changed |= !p->end_ns;
	if (!p->end_ns)
		p->end_ns = time_ns;
	process_jit_ended(t, process, p->end_ns);
}

static void end_process(struct process_table *t, uint32_t process, uint64_t time_ns)
{
	uint32_t *place = &t->ended[t->ended_count % ENDED_KEPT];

	if (t->ended_count++ >= ENDED_KEPT && t->processes.items[*place].end_ns)
		process_drop_maps(t, *place);
	*place = process;
	set_end(t, process, time_ns);
}

static void end_thread(struct process_table *t, uint32_t id, uint64_t time_ns)
{
	struct thread *thread = &t->threads.items[id];
	struct process_state *state = &t->states.items[thread->process];

	if (thread->end_ns)
		return;
	thread->end_ns = time_ns;
	thread->changed = true;
	if (state->live_threads && --state->live_threads == 0)
		end_process(t, thread->process, time_ns);
}

uint32_t process_of_pid(struct process_table *t, int32_t pid)
{
	uint32_t id = pid_map_get(&t->by_pid, pid);

	return id != ID_NONE ? id : add_process(t, pid, made_up_name(t, pid), 0);
}

/* True if the thread has this pid and this tid. */
static bool thread_is(const struct process_table *t, uint32_t id, int32_t pid, int32_t tid)
{
	const struct thread *thread = &t->threads.items[id];

	return thread->tid == tid && t->processes.items[thread->process].pid == pid;
}

uint32_t process_table_find_thread(const struct process_table *t, int32_t pid, int32_t tid)
{
	uint32_t id = pid_map_get(&t->by_tid, tid);

	return id != ID_NONE && thread_is(t, id, pid, tid) ? id : ID_NONE;
}

static uint32_t thread_of(struct process_table *t, int32_t pid, int32_t tid)
{
	uint32_t id = process_table_find_thread(t, pid, tid), process;

	if (id != ID_NONE)
		return id;
	process = process_of_pid(t, pid);
	return add_thread(t, process, tid,
	                  pid == tid ? t->processes.items[process].name : made_up_name(t, tid), 0);
}

/* Marks the thread as active in the recording. */
static void see(struct process_table *t, uint32_t thread)
{
	struct thread_records *state = process_thread_state(t, thread);

	state->seen = true;
	state->heard = t->moment;
	t->states.items[t->threads.items[thread].process].seen = true;
}

uint32_t process_table_thread(struct process_table *t, int32_t pid, int32_t tid)
{
	if (t->last_thread != ID_NONE && thread_is(t, t->last_thread, pid, tid))
		return t->last_thread;
	t->last_thread = thread_of(t, pid, tid);
	see(t, t->last_thread);
	return t->last_thread;
}

/*
 * The thread of a record about threads. A record with time 0 comes from the state before the
 * recording and does not count as activity.
 */
static uint32_t thread_of_event(struct process_table *t, int32_t pid, int32_t tid, uint64_t time_ns)
{
	return time_ns ? process_table_thread(t, pid, tid) : thread_of(t, pid, tid);
}

static void announce(struct process_table *t, uint32_t thread, uint64_t time_ns)
{
	process_thread_state(t, thread)->announced = true;
	t->states.items[t->threads.items[thread].process].announced = true;
	if (time_ns)
		see(t, thread);
}

/* Ends the present owner of the pid, if its EXIT record was lost or it executes a program. */
static void retire_process(struct process_table *t, int32_t pid, uint64_t time_ns)
{
	uint32_t old = pid_map_get(&t->by_pid, pid);

	if (old == ID_NONE)
		return;
	set_end(t, old, time_ns);
	process_drop_maps(t, old);
}

static void retire_thread(struct process_table *t, int32_t tid, uint64_t time_ns)
{
	uint32_t old = pid_map_get(&t->by_tid, tid);

	if (old != ID_NONE)
		end_thread(t, old, time_ns);
	t->last_thread = ID_NONE;
}

static void inherit_maps(struct process_table *t, uint32_t child, uint32_t parent)
{
	struct map_set *maps = t->states.items[parent].maps;

	t->states.items[child].forked = true;
	if (maps)
		t->states.items[child].maps = map_set_ref(maps);
}

/*
 * True if a synthesized record (time 0) has already reported the process. A process that starts
 * while the recorder reads /proc is reported twice: by such a record, and by its FORK record.
 */
static bool process_told_before(const struct process_table *t, uint32_t process)
{
	const struct process_state *state;

	if (process == ID_NONE)
		return false;
	state = &t->states.items[process];
	return state->announced && (!state->seen || t->is_set_up) &&
	       !t->processes.items[process].start_ns && !t->processes.items[process].end_ns;
}

void process_table_set_up(struct process_table *t, bool is_set_up)
{
	t->is_set_up = is_set_up;
}

static bool thread_told_before(struct process_table *t, uint32_t thread)
{
	const struct thread_records *state;

	state = process_thread_state(t, thread);
	return state->announced && !state->seen && !t->threads.items[thread].start_ns &&
	       !t->threads.items[thread].end_ns;
}

/* Adds a new thread. The previous owner of its tid has ended. */
static void fork_thread(struct process_table *t, const struct event *e, uint32_t process,
                        uint32_t name)
{
	uint32_t thread = pid_map_get(&t->by_tid, e->tid);
	struct thread *known;

	known = thread == ID_NONE ? NULL : &t->threads.items[thread];
	if (known && known->process == process && !known->end_ns &&
	    (!e->time_ns || thread_told_before(t, thread))) {
		if (e->time_ns || !process_thread_state(t, thread)->announced)
			known->name = name;
		known->start_ns = e->time_ns;
		known->changed = true;
	} else {
		retire_thread(t, e->tid, e->time_ns);
		thread = add_thread(t, process, e->tid, name, e->time_ns);
	}
	t->last_thread = ID_NONE;
	announce(t, thread, e->time_ns);
}

/* The forked process: a new process, or the process that an earlier record has added. */
static uint32_t fork_process(struct process_table *t, const struct event *e, uint32_t name)
{
	uint32_t known = pid_map_get(&t->by_pid, e->pid);
	struct process_state *state;

	if (e->time_ns && process_told_before(t, known)) {
		process_drop_maps(t, known);
		state = &t->states.items[known];
		state->provisional = true;
		process_jit_free(state->jit);
		state->jit = NULL;
		t->processes.items[known].start_ns = e->time_ns;
		name_process(t, known, name);
		return known;
	}
	/* The process was added as the parent of another one; this is its own record. */
	if (!e->time_ns && known != ID_NONE && !t->states.items[known].announced &&
	    t->states.items[known].provisional && !t->processes.items[known].end_ns)
		return known;
	retire_process(t, e->pid, e->time_ns);
	return add_process(t, e->pid, name, e->time_ns);
}

/* The name of a thread as an id that other threads may have, too. */
static uint32_t shared_name(struct process_table *t, uint32_t thread)
{
	uint32_t name = t->threads.items[thread].name;

	if (name && name == process_thread_state(t, thread)->own_name)
		return intern_add(&t->names, intern_text(&t->names, name));
	return name;
}

static void on_fork(struct process_table *t, const struct event *e)
{
	uint32_t parent = thread_of_event(t, e->fork.parent_pid, e->fork.parent_tid, e->time_ns);
	uint32_t owner = t->threads.items[parent].process, process = owner;
	/* Processes reported at the start do not have the name of the process that reports them. */
	uint32_t name = e->time_ns ? shared_name(t, parent) : made_up_name(t, e->tid);
	struct process *p;

	if (e->pid == e->fork.parent_pid) {
		fork_thread(t, e, process, name);
		return;
	}
	if (e->pid != e->tid) {
		fork_thread(t, e, process_of_pid(t, e->pid), name);
		return;
	}
	process = fork_process(t, e, name);
	p = &t->processes.items[process];
	p->parent = owner;
	p->kernel = t->processes.items[owner].kernel;
	p->changed = true;
	/* A process of /proc may have executed another program since its fork. */
	if (!e->fork.fresh) {
		inherit_maps(t, process, owner);
		p->version = t->processes.items[owner].version;
	}
	if (e->time_ns)
		process_cgroup_inherit(t, process, owner);
	fork_thread(t, e, process, name);
}

/*
 * A new program in the same pid is a new instance without mappings. If the record does not say that
 * it is an exec, it may only be a new name of the same program, so the mappings stay.
 */
static void on_exec(struct process_table *t, const struct event *e, uint32_t name)
{
	uint32_t old = pid_map_get(&t->by_pid, e->pid), process = old, thread;
	bool told = process_told_before(t, old) && t->processes.items[old].name == name;
	struct map_set *maps = NULL;

	if (!e->comm.exec && t->states.items[old].maps)
		maps = map_set_ref(t->states.items[old].maps);
	retire_thread(t, e->tid, e->time_ns);
	if (told) {
		/* The recorder read the process from /proc between its exec and this record. */
		t->processes.items[process].start_ns = e->time_ns;
		t->processes.items[process].changed = true;
	} else {
		retire_process(t, e->pid, e->time_ns);
		process = add_process(t, e->pid, name, e->time_ns);
		if (old != ID_NONE) {
			t->processes.items[process].parent = t->processes.items[old].parent;
			process_cgroup_inherit(t, process, old);
		}
	}
	if (maps) {
		t->states.items[process].maps = maps;
		t->processes.items[process].version = t->processes.items[old].version;
	}
	t->states.items[process].provisional = false;
	thread = add_thread(t, process, e->tid, name, e->time_ns);
	announce(t, thread, e->time_ns);
}

/* All kernel threads are children of kthreadd, pid 2. In a container pid 2 may be any process. */
static void note_kernel(struct process_table *t, uint32_t process, const struct event *e)
{
	struct process *p = &t->processes.items[process];

	if (e->pid == 2 && !p->start_ns && !strcmp(e->comm.name, "kthreadd")) {
		p->kernel = true;
		p->changed = true;
	}
}

/*
 * Kernels before 3.16 do not mark execs: a process that changes its name during the recording
 * counts as an exec.
 */
static bool is_unmarked_exec(const struct process_table *t, const struct event *e)
{
	uint32_t known = pid_map_get(&t->by_pid, e->pid);

	return e->comm.exec_unmarked && e->time_ns && e->pid == e->tid && known != ID_NONE &&
	       !t->processes.items[known].end_ns &&
	       strcmp(intern_text(&t->names, t->processes.items[known].name), e->comm.name) != 0;
}

/* A thread may take names without end. After a few of them only the last one is stored. */
static uint32_t name_of_thread(struct process_table *t, uint32_t thread, const char *name)
{
	struct thread_records *state = process_thread_state(t, thread);

	if (state->renames < RENAMES_SHARED || strlen(name) >= INTERN_OWN_SIZE) {
		state->renames += state->renames < RENAMES_SHARED;
		return intern_add(&t->names, name);
	}
	if (!state->own_name)
		state->own_name = intern_own(&t->names);
	intern_change(&t->names, state->own_name, name);
	return state->own_name;
}

static void rename_thread(struct process_table *t, uint32_t id, const char *name)
{
	struct thread *thread = &t->threads.items[id];

	if (!strcmp(intern_text(&t->names, thread->name), name))
		return;
	thread->name = name_of_thread(t, id, name);
	thread->changed = true;
}

static void on_comm(struct process_table *t, const struct event *e)
{
	uint32_t thread, process;

	if (e->comm.exec || is_unmarked_exec(t, e)) {
		on_exec(t, e, intern_add(&t->names, e->comm.name));
		return;
	}
	thread = thread_of_event(t, e->pid, e->tid, e->time_ns);
	process = t->threads.items[thread].process;
	rename_thread(t, thread, e->comm.name);
	announce(t, thread, e->time_ns);
	note_kernel(t, process, e);
	if (e->pid == e->tid && t->states.items[process].provisional) {
		t->states.items[process].provisional = false;
		name_process(t, process, intern_add(&t->names, e->comm.name));
	}
}

static void on_thread_exit(struct process_table *t, const struct event *e)
{
	end_thread(t, process_table_thread(t, e->pid, e->tid), e->time_ns);
}

void process_table_event(struct process_table *t, const struct event *e)
{
	switch (e->kind) {
	case EVENT_MMAP:
		process_mapped(t, e);
		break;
	case EVENT_KERNEL_CODE:
		process_kernel_code_event(t, e);
		break;
	case EVENT_COMM:
		on_comm(t, e);
		break;
	case EVENT_FORK:
		on_fork(t, e);
		break;
	case EVENT_EXIT:
		on_thread_exit(t, e);
		break;
	case EVENT_CGROUP:
		process_cgroup_event(t, e);
		break;
	case EVENT_LABELS:
		process_labels_event(t, e);
		break;
	case EVENT_LOST:
		t->lost_moment = ++t->moment;
		t->last_thread = ID_NONE;
		break;
	default:
		break;
	}
}

size_t process_table_thread_count(const struct process_table *t)
{
	return t->threads.count;
}

size_t process_table_process_count(const struct process_table *t)
{
	return t->processes.count;
}

const struct process *process_table_process(const struct process_table *t, uint32_t id)
{
	return &t->processes.items[id];
}

const struct thread *process_table_thread_at(const struct process_table *t, uint32_t id)
{
	return &t->threads.items[id];
}

const char *process_table_name(const struct process_table *t, uint32_t name)
{
	return intern_text(&t->names, name);
}
