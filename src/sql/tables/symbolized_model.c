/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sql/tables/symbolized_model.h"

#include "base/memory/path_tree.h"
#include "base/memory/xalloc.h"

#include <string.h>

static uint32_t value_named(const struct symbolized_profile *n, const char *name)
{
	for (unsigned i = 0; i < n->value_count; i++)
		if (!strcmp(n->values[i].name, name))
			return i;
	return NAMED_NONE;
}

static bool is_count(const struct symbolized_profile *n, unsigned i)
{
	return !strcmp(n->values[i].unit, "count");
}

/* The count precedes the value that it belongs to: samples, cpu; inuse_objects, inuse_space. */
static uint32_t find_count(const struct symbolized_profile *n)
{
	if (n->main_value && is_count(n, n->main_value - 1))
		return n->main_value - 1;
	for (unsigned i = 0; i < n->value_count; i++)
		if (is_count(n, i))
			return i;
	return NAMED_NONE;
}

static void find_columns(struct symbolized_model *m)
{
	const struct symbolized_profile *n = m->n;

	m->columns = (struct named_columns){
	        .count = find_count(n),
	        .calls = value_named(n, "calls"),
	        .net = value_named(n, "net"),
	        .blocked = value_named(n, "blocked"),
	        .preempted = value_named(n, "preempted"),
	        .runnable = value_named(n, "runnable"),
	};
	if (m->columns.runnable == NAMED_NONE)
		m->columns.runnable = m->columns.preempted;
}

/* Indexes that find existing rows while ids are assigned. */
struct numbering {
	struct symbolized_model *m;
	struct id_table processes, threads;
	struct path_tree calls; /* by path and owner: call + 1 */
};

static bool process_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct numbering *g = ctx;
	const struct named_process *a = &g->m->processes.items[id], *b = key;

	return a->name == b->name && a->pid == b->pid;
}

static uint32_t process_of(struct numbering *g, const struct named_owner *o, uint32_t *instances)
{
	struct named_process key = {.name = o->process, .pid = o->pid};
	uint64_t hash = hash_pair(key.name, (uint32_t)key.pid);
	uint32_t id = id_table_find(&g->processes, hash, process_equal, g, &key);

	if (id != ID_NONE)
		return id;
	key.instance = ++instances[key.name];
	id = (uint32_t)g->m->processes.count;
	vec_push(&g->m->processes, key);
	id_table_add(&g->processes, hash, id);
	return id;
}

static bool thread_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct numbering *g = ctx;
	const struct named_thread *a = &g->m->threads.items[id], *b = key;

	return a->process == b->process && a->tid == b->tid && a->name == b->name;
}

static uint32_t thread_of(struct numbering *g, const struct named_owner *o, uint32_t process)
{
	struct named_thread key = {process, o->thread, o->tid};
	uint64_t hash = hash_pair(hash_pair(process, key.name), (uint32_t)key.tid);
	uint32_t id;

	if (!o->thread && !o->tid)
		return NAMED_NONE;
	id = id_table_find(&g->threads, hash, thread_equal, g, &key);
	if (id != ID_NONE)
		return id;
	id = (uint32_t)g->m->threads.count;
	vec_push(&g->m->threads, key);
	id_table_add(&g->threads, hash, id);
	return id;
}

static void number_owners(struct numbering *g)
{
	struct symbolized_model *m = g->m;
	uint32_t *instances = xcalloc(m->n->texts.texts.count + 1, sizeof(*instances));
	size_t i = 0;

	m->owner_process = xcalloc(m->n->owners.count + 1, sizeof(*m->owner_process));
	m->owner_thread = xcalloc(m->n->owners.count + 1, sizeof(*m->owner_thread));
	vec_each (o, &m->n->owners) {
		m->owner_process[i] = process_of(g, o, instances);
		m->owner_thread[i] = thread_of(g, o, m->owner_process[i]);
		i++;
	}
	free(instances);
}

/* The innermost inlined function is the first line of a place, and the last frame of a stack. */
static void grow_stacks(struct symbolized_model *m)
{
	const struct symbolized_profile *n = m->n;

	m->line_place = xcalloc(n->lines.count + 1, sizeof(*m->line_place));
	for (uint32_t i = 0; i < n->places.count; i++)
		for (uint32_t l = 0; l < n->places.items[i].count; l++)
			m->line_place[n->places.items[i].first + l] = i;
	m->path_stack = xcalloc(n->paths.count + 1, sizeof(*m->path_stack));
	vec_push(&m->stacks, (struct named_stack){.line = NAMED_NONE});
	for (size_t p = 1; p < n->paths.count; p++) {
		const struct named_place *place = &n->places.items[n->paths.items[p].place];
		uint32_t stack = m->path_stack[n->paths.items[p].parent];

		for (uint32_t l = place->count; l-- > 0;) {
			uint32_t depth = m->stacks.items[stack].depth + 1;

			vec_push(&m->stacks, (struct named_stack){stack, place->first + l, depth});
			stack = (uint32_t)m->stacks.count - 1;
		}
		m->path_stack[p] = stack;
	}
}

static uint32_t find_call(const struct numbering *g, uint32_t path, uint32_t owner)
{
	return path_tree_find(&g->calls, path, owner) - 1;
}

/* Returns the call of a path. Adds it and its missing callers, outermost first. */
static uint32_t call_of(struct numbering *g, uint32_t path, uint32_t owner)
{
	const struct named_path *paths = g->m->n->paths.items;
	uint32_t found = find_call(g, path, owner), parent;
	VEC(uint32_t) missing = {0};

	if (found != ID_NONE)
		return found;
	for (uint32_t p = path; p != NAMED_ROOT && found == ID_NONE;) {
		vec_push(&missing, p);
		p = paths[p].parent;
		found = p != NAMED_ROOT ? find_call(g, p, owner) : ID_NONE;
	}
	if (path == NAMED_ROOT)
		vec_push(&missing, path);
	parent = found == ID_NONE ? NAMED_NONE : found;
	while (missing.count) {
		struct named_call c = {.parent = parent, .owner = owner, .row = NAMED_NONE};

		c.path = missing.items[--missing.count];
		parent = (uint32_t)g->m->calls.count;
		vec_push(&g->m->calls, c);
		path_tree_step(&g->calls, c.path, owner, parent + 1);
	}
	vec_done(&missing);
	return parent;
}

static void add_calls(struct numbering *g)
{
	struct symbolized_model *m = g->m;
	uint32_t row = 0;

	if (m->columns.calls == NAMED_NONE || m->columns.net == NAMED_NONE)
		return;
	vec_each (r, &m->n->rows) {
		uint32_t id = call_of(g, r->path, r->owner);
		struct named_call *c = &m->calls.items[id];

		if (m->calls.count > NAMED_CALLS_MAX) {
			m->too_many = true;
			return;
		}
		c->row = row++;
		c->total = r->values[m->columns.net];
	}
	for (size_t i = m->calls.count; i-- > 0;) {
		const struct named_call *c = &m->calls.items[i];

		if (c->parent != NAMED_NONE)
			m->calls.items[c->parent].total =
			        named_add(m->calls.items[c->parent].total, c->total);
	}
}

struct symbolized_model *symbolized_model_new(const struct symbolized_profile *n)
{
	struct symbolized_model *m = xcalloc(1, sizeof(*m));
	struct numbering g = {.m = m};

	m->n = n;
	find_columns(m);
	number_owners(&g);
	grow_stacks(m);
	add_calls(&g);
	id_table_done(&g.processes);
	id_table_done(&g.threads);
	path_tree_done(&g.calls);
	return m;
}

void symbolized_model_free(struct symbolized_model *m)
{
	if (!m)
		return;
	vec_done(&m->processes);
	vec_done(&m->threads);
	vec_done(&m->stacks);
	vec_done(&m->calls);
	free(m->owner_process);
	free(m->owner_thread);
	free(m->line_place);
	free(m->path_stack);
	free(m);
}
