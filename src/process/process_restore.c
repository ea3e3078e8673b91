/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process_restore.h"

#include "process/process_internal.h"

#include <string.h>

static uint32_t text_of(struct process_table *t, const char *text)
{
	return text ? intern_add(&t->names, text) : ID_NONE;
}

uint32_t process_restore(struct process_table *t, const struct process *like,
                         const struct process_texts *texts)
{
	uint32_t id = (uint32_t)t->processes.count;
	struct process p = *like;

	p.name = intern_add(&t->names, texts->name);
	p.cgroup = text_of(t, texts->cgroup);
	p.version = text_of(t, texts->version);
	p.labels = text_of(t, texts->labels);
	p.parent = ID_NONE;
	if (!p.serial)
		p.serial = id + 1;
	/* Later events continue from the highest number. */
	if (*vec_at(&t->instances, p.name) < p.instance)
		t->instances.items[p.name] = p.instance;
	vec_push(&t->processes, p);
	vec_add(&t->states);
	if (!p.pid && pid_map_get(&t->by_pid, 0) == ID_NONE)
		pid_map_set(&t->by_pid, 0, id);
	return id;
}

uint32_t process_restore_thread(struct process_table *t, const struct thread *like,
                                const char *name)
{
	uint32_t id = (uint32_t)t->threads.count;
	struct thread thread = *like;

	thread.name = intern_add(&t->names, name);
	if (!thread.serial)
		thread.serial = id + 1;
	vec_push(&t->threads, thread);
	if (!thread.tid && pid_map_get(&t->by_tid, 0) == ID_NONE)
		pid_map_set(&t->by_tid, 0, id);
	return id;
}

void process_restore_update(struct process_table *t, uint32_t id, const struct process *like,
                            const char *name)
{
	struct process *p = &t->processes.items[id];

	p->end_ns = like->end_ns;
	if (strcmp(intern_text(&t->names, p->name), name) != 0)
		p->name = intern_add(&t->names, name);
}

void process_restore_thread_update(struct process_table *t, uint32_t id, const struct thread *like,
                                   const char *name)
{
	struct thread *thread = &t->threads.items[id];

	thread->end_ns = like->end_ns;
	if (strcmp(intern_text(&t->names, thread->name), name) != 0)
		thread->name = intern_add(&t->names, name);
}
