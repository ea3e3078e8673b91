/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup of each process. Samples have the cgroup's number; separate events, before or after
 * them, have its path. A process is in the cgroup of its last sample, and before its first sample
 * in the cgroup in which it was when the recording began.
 */
#include "process/process_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CGROUPS_KEPT 4096
#define MADE_UP "[cgroup "

static bool has_id(const void *ctx, uint32_t index, const void *key)
{
	const struct process_table *t = ctx;

	return t->cgroups.items[index].id == *(const uint64_t *)key;
}

static struct cgroup_path *find(const struct process_table *t, uint64_t id)
{
	uint32_t at = id_table_find(&t->cgroup_index, hash_u64(id), has_id, t, &id);

	return at == ID_NONE ? NULL : &t->cgroups.items[at];
}

static void add(struct process_table *t, uint64_t id, uint32_t path)
{
	id_table_add(&t->cgroup_index, hash_u64(id), (uint32_t)t->cgroups.count);
	vec_push(&t->cgroups, (struct cgroup_path){id, path});
}

static void set_path(struct process *p, uint32_t path)
{
	p->changed |= p->cgroup != path;
	p->cgroup = path;
}

void process_cgroup_told(struct process_table *t, uint64_t id, const char *path)
{
	struct cgroup_path *known = find(t, id);
	uint32_t name = intern_add(&t->names, path);

	if (!known) {
		add(t, id, name);
		return;
	}
	if (known->path == name)
		return;
	/* Samples came before the path, so a path was made from the number. */
	known->path = name;
	for (size_t i = 0; i < t->states.count; i++)
		if (t->states.items[i].cgroup == id)
			set_path(&t->processes.items[i], name);
}

void process_cgroup_event(struct process_table *t, const struct event *e)
{
	uint32_t process = e->cgroup.member ? pid_map_get(&t->by_pid, e->pid) : ID_NONE;

	process_cgroup_told(t, e->cgroup.id, e->cgroup.path);
	if (process != ID_NONE)
		process_table_in_cgroup(t, process, e->cgroup.id);
}

static uint32_t made_up_path(struct process_table *t, uint64_t id)
{
	char text[40];

	snprintf(text, sizeof(text), MADE_UP "%" PRIu64 "]", id);
	return intern_add(&t->names, text);
}

bool process_cgroup_is_made_up(const char *path)
{
	return !strncmp(path, MADE_UP, strlen(MADE_UP));
}

void process_table_in_cgroup(struct process_table *t, uint32_t process, uint64_t cgroup)
{
	struct process_state *state = &t->states.items[process];
	const struct cgroup_path *known;

	if (!cgroup || state->cgroup == cgroup)
		return;
	state->cgroup = cgroup;
	known = find(t, cgroup);
	if (!known) {
		add(t, cgroup, made_up_path(t, cgroup));
		known = vec_last(&t->cgroups);
	}
	set_path(&t->processes.items[process], known->path);
}

static uint32_t text_of(struct process_table *t, const char *text)
{
	return text ? intern_add(&t->names, text) : ID_NONE;
}

void process_table_label(struct process_table *t, uint32_t process, const char *version,
                         const char *labels)
{
	struct process *p = &t->processes.items[process];
	uint32_t v = text_of(t, version), l = text_of(t, labels);

	p->changed |= p->version != v || p->labels != l;
	p->version = v;
	p->labels = l;
}

/* Labels of all processes are also those of processes that begin later. */
static void label_all(struct process_table *t, uint32_t labels)
{
	vec_each (p, &t->processes)
		if (p->labels == t->labels && !p->end_ns) {
			p->changed |= p->labels != labels;
			p->labels = labels;
		}
	t->labels = labels;
}

void process_labels_event(struct process_table *t, const struct event *e)
{
	uint32_t labels = e->labels.text && *e->labels.text ? text_of(t, e->labels.text) : ID_NONE;
	struct process *p;
	uint32_t process;

	if (e->labels.all) {
		label_all(t, labels);
		return;
	}
	process = process_of_pid(t, e->pid); /* may move the items */
	p = &t->processes.items[process];
	p->changed |= p->labels != labels;
	p->labels = labels;
}

void process_cgroup_inherit(struct process_table *t, uint32_t process, uint32_t from)
{
	t->states.items[process].cgroup = t->states.items[from].cgroup;
	t->processes.items[process].cgroup = t->processes.items[from].cgroup;
}

/*
 * Copies the cgroups reported last, since a process may still enter them, and the cgroups of all
 * carried processes.
 */
void process_cgroups_carry(struct process_table *t, const struct process_table *old)
{
	size_t count = old->cgroups.count, from = count > CGROUPS_KEPT ? count - CGROUPS_KEPT : 0;

	vec_each (state, &t->states)
		if (state->cgroup && !find(t, state->cgroup))
			add(t, state->cgroup, t->processes.items[state - t->states.items].cgroup);
	for (size_t i = from; i < count; i++) {
		const struct cgroup_path *c = &old->cgroups.items[i];

		if (!find(t, c->id))
			add(t, c->id, intern_add(&t->names, intern_text(&old->names, c->path)));
	}
}
