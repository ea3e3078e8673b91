/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process.h"

#include "process/mapped_image.h"
#include "process/process_internal.h"

#include <stdio.h>
#include <string.h>

static void forget_current(struct process_table *t)
{
	pid_map_done(&t->by_pid);
	pid_map_done(&t->by_tid);
	t->build_ids.count = 0;
	map_set_unref(t->kernel);
	t->kernel = map_set_new(++t->version);
	t->kernel_image = ID_NONE;
	t->last_thread = ID_NONE;
	t->ended_count = 0;
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
	intern_done(&t->names);
	vec_each (state, &t->states)
		process_jit_free(state->jit);
	vec_done(&t->processes);
	vec_done(&t->states);
	vec_done(&t->threads);
	vec_done(&t->instances);
	vec_done(&t->build_ids);
	free(t);
}

void process_table_restart(struct process_table *t)
{
	forget_current(t);
}

static void name_process(struct process_table *t, uint32_t id, uint32_t name)
{
	struct process *p = &t->processes.items[id];

	while (t->instances.count <= name || t->instances.count <= p->name)
		vec_push(&t->instances, 0);
	/* The number goes back if nobody came after: no gaps from names that lasted a moment. */
	if (p->instance && t->instances.items[p->name] == p->instance)
		t->instances.items[p->name]--;
	p->name = name;
	p->instance = ++t->instances.items[name];
}

static uint32_t made_up_name(struct process_table *t, int32_t tid)
{
	char text[32];

	snprintf(text, sizeof(text), ":%d", tid);
	return intern_add(&t->names, tid ? text : "swapper");
}

/* A process that has the pid from now on. */
static uint32_t add_process(struct process_table *t, int32_t pid, uint32_t name, uint64_t time_ns)
{
	uint32_t id = (uint32_t)t->processes.count;
	struct process_state state = {.provisional = pid != 0};
	struct process p = {.pid = pid, .parent = ID_NONE, .start_ns = time_ns};

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
	struct thread thread = {.process = process, .name = name, .tid = tid, .start_ns = time_ns};

	vec_push(&t->threads, thread);
	pid_map_set(&t->by_tid, tid, id);
	t->states.items[process].live_threads++;
	t->processes.items[process].end_ns = 0;
	process_jit_ended(t, process, 0);
	return id;
}

static void drop_maps(struct process_table *t, uint32_t process)
{
	map_set_unref(t->states.items[process].maps);
	t->states.items[process].maps = NULL;
}

static void end_process(struct process_table *t, uint32_t process, uint64_t time_ns)
{
	uint32_t *place = &t->ended[t->ended_count % ENDED_KEPT];

	if (t->ended_count++ >= ENDED_KEPT && t->processes.items[*place].end_ns)
		drop_maps(t, *place);
	*place = process;
	if (!t->processes.items[process].end_ns)
		t->processes.items[process].end_ns = time_ns;
	process_jit_ended(t, process, t->processes.items[process].end_ns);
}

static void end_thread(struct process_table *t, uint32_t id, uint64_t time_ns)
{
	struct thread *thread = &t->threads.items[id];
	struct process_state *state = &t->states.items[thread->process];

	if (thread->end_ns)
		return;
	thread->end_ns = time_ns;
	if (state->live_threads && --state->live_threads == 0)
		end_process(t, thread->process, time_ns);
}

static uint32_t find_process(struct process_table *t, int32_t pid)
{
	uint32_t id = pid_map_get(&t->by_pid, pid);

	return id != ID_NONE ? id : add_process(t, pid, made_up_name(t, pid), 0);
}

/* Whether that thread has the two numbers. */
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

uint32_t process_table_thread(struct process_table *t, int32_t pid, int32_t tid)
{
	uint32_t id, process;

	if (t->last_thread != ID_NONE && thread_is(t, t->last_thread, pid, tid))
		return t->last_thread;
	id = process_table_find_thread(t, pid, tid);
	if (id == ID_NONE) {
		process = find_process(t, pid);
		id = add_thread(
		        t, process, tid,
		        pid == tid ? t->processes.items[process].name : made_up_name(t, tid), 0);
	}
	t->last_thread = id;
	return id;
}

/* Ends whoever has the pid and did not say goodbye (its EXIT was lost, or it execs). */
static void retire_process(struct process_table *t, int32_t pid, uint64_t time_ns)
{
	uint32_t old = pid_map_get(&t->by_pid, pid);

	if (old == ID_NONE)
		return;
	if (!t->processes.items[old].end_ns)
		t->processes.items[old].end_ns = time_ns;
	process_jit_ended(t, old, t->processes.items[old].end_ns);
	drop_maps(t, old);
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

static void on_fork(struct process_table *t, const struct event *e)
{
	uint32_t parent = process_table_thread(t, e->fork.parent_pid, e->fork.parent_tid);
	uint32_t owner = t->threads.items[parent].process, process = owner;
	/* Those that are announced at the start had other names than who announces them. */
	uint32_t name = e->time_ns ? t->threads.items[parent].name : made_up_name(t, e->tid);

	retire_thread(t, e->tid, e->time_ns);
	if (e->pid == e->fork.parent_pid) {
		add_thread(t, process, e->tid, name, e->time_ns);
		return;
	}
	if (e->pid == e->tid) {
		retire_process(t, e->pid, e->time_ns);
		process = add_process(t, e->pid, name, e->time_ns);
		t->processes.items[process].parent = owner;
		if (!e->fork.fresh)
			inherit_maps(t, process, owner);
	} else {
		process = find_process(t, e->pid);
	}
	add_thread(t, process, e->tid, name, e->time_ns);
}

/* A new program in the same pid: another instance, with nothing mapped yet. */
static void on_exec(struct process_table *t, const struct event *e, uint32_t name)
{
	uint32_t old = pid_map_get(&t->by_pid, e->pid), process;
	uint32_t parent = old == ID_NONE ? ID_NONE : t->processes.items[old].parent;

	retire_thread(t, e->tid, e->time_ns);
	retire_process(t, e->pid, e->time_ns);
	process = add_process(t, e->pid, name, e->time_ns);
	t->processes.items[process].parent = parent;
	t->states.items[process].provisional = false;
	add_thread(t, process, e->tid, name, e->time_ns);
}

static void on_comm(struct process_table *t, const struct event *e)
{
	uint32_t name = intern_add(&t->names, e->comm.name), thread, process;

	if (e->comm.exec) {
		on_exec(t, e, name);
		return;
	}
	thread = process_table_thread(t, e->pid, e->tid);
	process = t->threads.items[thread].process;
	t->threads.items[thread].name = name;
	if (e->pid == e->tid && t->states.items[process].provisional) {
		t->states.items[process].provisional = false;
		name_process(t, process, name);
	}
}

static void on_thread_exit(struct process_table *t, const struct event *e)
{
	end_thread(t, process_table_thread(t, e->pid, e->tid), e->time_ns);
}

static struct build_id build_id_of(const struct process_table *t, const struct event *e)
{
	uint32_t name;

	if (e->mmap.build_id.size || !t->build_ids.count)
		return e->mmap.build_id;
	name = intern_find(&t->images->names, mapped_image_name(e));
	vec_each (known, &t->build_ids)
		if (known->name == name)
			return known->id;
	return e->mmap.build_id;
}

static void on_mmap(struct process_table *t, const struct event *e)
{
	struct build_id id = build_id_of(t, e);
	struct mapping m = {.start = e->mmap.addr,
	                    .end = e->mmap.addr + e->mmap.size,
	                    .pgoff = e->mmap.pgoff,
	                    .executable = e->mmap.executable,
	                    .generated = mapped_image_generated(&e->mmap)};
	struct process_state *state;
	uint32_t process;

	if (m.end < m.start)
		m.end = UINT64_MAX;
	if (e->mode == CPU_MODE_KERNEL) {
		m.image = mapped_image_kernel(t->images, e, &id);
		if (m.image == ID_NONE)
			return;
		if (t->images->images.items[m.image].kind == IMAGE_KERNEL)
			t->kernel_image = m.image;
		t->kernel = map_set_own(t->kernel, ++t->version);
		map_set_insert(t->kernel, &m);
		return;
	}
	if (e->mode != CPU_MODE_USER && e->mode != CPU_MODE_UNKNOWN)
		return;
	process = find_process(t, e->pid);
	m.image = mapped_image_user(t->images, e, &id, process + 1);
	state = &t->states.items[process];
	state->maps =
	        state->maps ? map_set_own(state->maps, ++t->version) : map_set_new(++t->version);
	map_set_insert(state->maps, &m);
	state->maps->generated |= m.generated;
	process_jit_mapped(t, process, e);
}

void process_table_event(struct process_table *t, const struct event *e)
{
	switch (e->kind) {
	case EVENT_MMAP:
		on_mmap(t, e);
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
	default:
		break;
	}
}

void process_table_build_id(struct process_table *t, const char *filename,
                            const struct build_id *id)
{
	struct named_build_id known = {intern_add(&t->images->names, filename), *id};

	vec_push(&t->build_ids, known);
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

/* The maps that an address of that mode is looked up in; NULL: none. */
static struct map_set *maps_of(const struct process_table *t, uint32_t process, enum cpu_mode mode)
{
	if (mode == CPU_MODE_KERNEL)
		return t->kernel;
	return mode == CPU_MODE_USER ? t->states.items[process].maps : NULL;
}

uint64_t process_table_maps_version(const struct process_table *t, uint32_t process,
                                    enum cpu_mode mode)
{
	const struct map_set *maps = maps_of(t, process, mode);
	const struct process_jit *jit = t->states.items[process].jit;

	if (mode == CPU_MODE_USER && jit && jit->version)
		return jit->version;
	return maps ? maps->version : 0;
}

/* The place of code that the process generated, where it is known. */
static bool resolve_generated(const struct process_table *t, uint32_t process, uint64_t address,
                              struct frame *frame)
{
	const struct process_jit *jit = t->states.items[process].jit;
	uint64_t offset;
	uint32_t entry;

	if (!jit || !jit->code)
		return false;
	entry = jit_code_find(jit->code, address, &offset);
	if (entry == ID_NONE)
		return false;
	*frame = (struct frame){jit->image, (uint64_t)entry << 32 | offset};
	return true;
}

static struct frame resolve_mapped(const struct process_table *t, uint32_t process,
                                   const struct mapping *m, uint64_t address)
{
	const struct image *image = &t->images->images.items[m->image];
	struct frame frame;

	switch (image->kind) {
	case IMAGE_FILE:
		if (m->generated && resolve_generated(t, process, address, &frame))
			return frame;
		return (struct frame){m->image, address - m->start + m->pgoff};
	case IMAGE_VDSO:
		return (struct frame){m->image, address - m->start + m->pgoff};
	case IMAGE_MODULE:
		return (struct frame){m->image, address - image->base};
	case IMAGE_ANON:
		if (resolve_generated(t, process, address, &frame))
			return frame;
		return (struct frame){m->image, address};
	default:
		return (struct frame){m->image, address};
	}
}

struct frame process_table_resolve(struct process_table *t, uint32_t process, enum cpu_mode mode,
                                   uint64_t address)
{
	struct map_set *maps = maps_of(t, process, mode);
	const struct mapping *m = maps ? map_set_find(maps, address) : NULL;

	if (m)
		return resolve_mapped(t, process, m, address);
	if (mode != CPU_MODE_KERNEL || t->kernel->maps.count)
		return (struct frame){IMAGE_ID_UNKNOWN, address};
	/* Nothing was told of where the kernel lies: kernel mode says enough. */
	if (t->kernel_image == ID_NONE)
		t->kernel_image = image_table_named(t->images, IMAGE_KERNEL, KERNEL_IMAGE_NAME);
	return (struct frame){t->kernel_image, address};
}

const struct mapping *process_table_mapping(struct process_table *t, uint32_t process,
                                            uint64_t address)
{
	struct map_set *maps = t->states.items[process].maps;

	return maps ? map_set_find(maps, address) : NULL;
}
