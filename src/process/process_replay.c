/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the live processes as events. A table that reads them has to give the same answers as this
 * one: therefore names are written as they are now, and only the remaining part of a mapping is
 * written.
 */
#include "process/mapped_image.h"
#include "process/process_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct replay {
	const struct process_table *t;
	uint64_t time_ns;
	int (*deliver)(void *ctx, const struct event *e, struct error *err);
	void *ctx;
	VEC(uint32_t) first; /* by process: its first live thread, or ID_NONE */
	VEC(uint32_t) next;  /* by thread: the next live thread of its process */
};

static bool process_lives(const struct process_table *t, uint32_t id)
{
	const struct process *p = &t->processes.items[id];

	return p->pid > 0 && !p->end_ns && pid_map_get(&t->by_pid, p->pid) == id;
}

static bool thread_lives(const struct process_table *t, uint32_t id)
{
	const struct thread *thread = &t->threads.items[id];

	return !thread->end_ns && pid_map_get(&t->by_tid, thread->tid) == id &&
	       process_lives(t, thread->process);
}

/* Links the threads of each process in the order of their arrival. */
static void list_threads(struct replay *r)
{
	for (size_t i = 0; i < r->t->processes.count; i++)
		vec_push(&r->first, ID_NONE);
	for (size_t i = 0; i < r->t->threads.count; i++)
		vec_push(&r->next, ID_NONE);
	for (size_t i = r->t->threads.count; i > 0; i--) {
		uint32_t *first = &r->first.items[r->t->threads.items[i - 1].process];

		if (!thread_lives(r->t, (uint32_t)(i - 1)))
			continue;
		r->next.items[i - 1] = *first;
		*first = (uint32_t)(i - 1);
	}
}

static struct event event_of(const struct replay *r, enum event_kind kind, int32_t pid, int32_t tid)
{
	return (struct event){.kind = kind,
	                      .mode = CPU_MODE_USER,
	                      .attr = EVENT_NO_ATTR,
	                      .pid = pid,
	                      .tid = tid,
	                      .time_ns = r->time_ns};
}

static int tell_name(const struct replay *r, int32_t pid, int32_t tid, uint32_t name,
                     struct error *err)
{
	struct event e = event_of(r, EVENT_COMM, pid, tid);

	e.comm.name = intern_text(&r->t->names, name);
	return r->deliver(r->ctx, &e, err);
}

static int tell_task(const struct replay *r, enum event_kind kind, int32_t pid, int32_t tid,
                     int32_t parent, struct error *err)
{
	struct event e = event_of(r, kind, pid, tid);

	e.fork.parent_pid = e.fork.parent_tid = parent;
	e.fork.fresh = pid != parent;
	return r->deliver(r->ctx, &e, err);
}

/* True if no record gave a name: it was made from the number, and a reader makes the same. */
static bool nameless(const struct process_table *t, int32_t id, uint32_t name)
{
	char made_up[16];

	snprintf(made_up, sizeof(made_up), ":%d", id);
	return !strcmp(intern_text(&t->names, name), made_up);
}

static int tell_process(const struct replay *r, uint32_t id, struct error *err)
{
	const struct process_table *t = r->t;
	const struct process *p = &t->processes.items[id];
	uint32_t leader = process_table_find_thread(t, p->pid, p->pid);
	int status = 0;

	if (p->parent != ID_NONE && process_lives(t, p->parent))
		status = tell_task(r, EVENT_FORK, p->pid, p->pid, t->processes.items[p->parent].pid,
		                   err);
	if (!status && !nameless(t, p->pid, p->name))
		status = tell_name(r, p->pid, p->pid, p->name, err);
	/* Its first thread may have changed its name since. */
	if (!status && leader != ID_NONE && thread_lives(t, leader) &&
	    t->threads.items[leader].name != p->name)
		status = tell_name(r, p->pid, p->pid, t->threads.items[leader].name, err);
	return status;
}

static int tell_cgroup(const struct replay *r, uint32_t process, struct error *err)
{
	const struct process *p = &r->t->processes.items[process];
	struct event e = event_of(r, EVENT_CGROUP, p->pid, p->pid);

	if (p->cgroup == ID_NONE)
		return 0;
	e.cgroup.id = r->t->states.items[process].cgroup;
	e.cgroup.path = intern_text(&r->t->names, p->cgroup);
	e.cgroup.member = true;
	return r->deliver(r->ctx, &e, err);
}

static int tell_labels(const struct replay *r, int32_t pid, uint32_t labels, const char *name,
                       struct error *err)
{
	struct event e = event_of(r, EVENT_LABELS, pid, pid);

	e.labels = (struct event_labels){intern_text(&r->t->names, labels), name, !name};
	return r->deliver(r->ctx, &e, err);
}

static int tell_own_labels(const struct replay *r, uint32_t process, struct error *err)
{
	const struct process *p = &r->t->processes.items[process];
	uint32_t leader = process_table_find_thread(r->t, p->pid, p->pid);
	uint32_t name = leader == ID_NONE ? p->name : r->t->threads.items[leader].name;

	if (p->labels == ID_NONE || p->labels == r->t->labels)
		return 0;
	return tell_labels(r, p->pid, p->labels, intern_text(&r->t->names, name), err);
}

static int tell_threads(const struct replay *r, uint32_t process, struct error *err)
{
	const struct process_table *t = r->t;
	int32_t pid = t->processes.items[process].pid;
	int status = 0;

	for (uint32_t i = r->first.items[process]; !status && i != ID_NONE; i = r->next.items[i]) {
		const struct thread *thread = &t->threads.items[i];

		if (thread->tid == pid)
			continue;
		status = tell_task(r, EVENT_FORK, pid, thread->tid, pid, err);
		if (!status && !nameless(t, thread->tid, thread->name))
			status = tell_name(r, pid, thread->tid, thread->name, err);
	}
	return status;
}

/*
 * The first thread ended before the other threads. The event with the process's name creates it
 * again, so its end is written too.
 */
static int tell_end(const struct replay *r, uint32_t process, struct error *err)
{
	int32_t pid = r->t->processes.items[process].pid;
	uint32_t leader = process_table_find_thread(r->t, pid, pid);

	if (leader == ID_NONE || thread_lives(r->t, leader) || r->first.items[process] == ID_NONE)
		return 0;
	return tell_task(r, EVENT_EXIT, pid, pid, pid, err);
}

static int tell_map(const struct replay *r, const struct event *of, const struct mapping *m,
                    struct error *err)
{
	const struct image *image = &r->t->images->images.items[m->image];
	struct event e = *of;

	e.mmap = (struct event_mmap){.addr = m->start,
	                             .size = m->end - m->start,
	                             .pgoff = m->pgoff,
	                             .major = image->major,
	                             .minor = image->minor,
	                             .inode = image->inode,
	                             .prot = PROT_READ | (m->executable ? PROT_EXEC : 0),
	                             .flags = MAP_PRIVATE,
	                             .build_id = image->build_id,
	                             .executable = m->executable,
	                             .filename = image_path(r->t->images, m->image)};
	return r->deliver(r->ctx, &e, err);
}

static int tell_maps(const struct replay *r, uint32_t process, struct error *err)
{
	const struct map_set *maps = r->t->states.items[process].maps;
	int32_t pid = r->t->processes.items[process].pid;
	struct event e = event_of(r, EVENT_MMAP, pid, pid);
	int status = 0;

	for (size_t i = 0; !status && maps && i < maps->maps.count; i++)
		status = tell_map(r, &e, &maps->maps.items[i], err);
	return status;
}

/*
 * A reader takes the start of a mapping as the start of its module. If the front of a module's
 * mapping was replaced (`cut`), the mapping is written from its old start, the highest first. Later
 * events replace the front again.
 */
static int tell_kernel(const struct replay *r, bool cut, struct error *err)
{
	struct event e = event_of(r, EVENT_MMAP, -1, 0);
	int status = 0;

	e.mode = CPU_MODE_KERNEL;
	for (size_t i = r->t->kernel->maps.count; !status && i > 0; i--) {
		struct mapping m = r->t->kernel->maps.items[i - 1];
		const struct image *image = &r->t->images->images.items[m.image];
		bool front = image->kind == IMAGE_MODULE && m.start > image->base;

		if (front != cut)
			continue;
		if (front)
			m.start = image->base;
		e.mmap = (struct event_mmap){.addr = m.start,
		                             .size = m.end - m.start,
		                             .pgoff = m.pgoff,
		                             .build_id = image->build_id,
		                             .prot = PROT_READ | PROT_EXEC,
		                             .flags = MAP_PRIVATE,
		                             .executable = m.executable,
		                             .filename = image_path(r->t->images, m.image)};
		/* The offset is the address of the symbol at the end of the name. */
		if (image->kind == IMAGE_KERNEL) {
			e.mmap.pgoff = image->base;
			e.mmap.filename = KERNEL_IMAGE_NAME "_text";
		}
		status = r->deliver(r->ctx, &e, err);
	}
	return status;
}

int process_table_replay(const struct process_table *t, uint64_t time_ns,
                         int (*deliver)(void *ctx, const struct event *e, struct error *err),
                         void *ctx, struct error *err)
{
	struct replay r = {.t = t, .time_ns = time_ns, .deliver = deliver, .ctx = ctx};
	int status = tell_kernel(&r, true, err);

	if (!status)
		status = tell_kernel(&r, false, err);
	if (!status)
		status = process_kernel_code_replay(t, time_ns, deliver, ctx, err);
	if (!status && t->labels != ID_NONE)
		status = tell_labels(&r, 0, t->labels, NULL, err);
	list_threads(&r);
	for (uint32_t i = 0; !status && i < t->processes.count; i++) {
		if (!process_lives(t, i))
			continue;
		status = tell_process(&r, i, err);
		if (!status)
			status = tell_cgroup(&r, i, err);
		if (!status)
			status = tell_own_labels(&r, i, err);
		if (!status)
			status = tell_threads(&r, i, err);
		if (!status)
			status = tell_maps(&r, i, err);
		if (!status)
			status = tell_end(&r, i, err);
	}
	vec_done(&r.first);
	vec_done(&r.next);
	return status;
}
