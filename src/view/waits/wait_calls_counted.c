/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits in counted calls: by the innermost counted function of each call path. */
#include "view/waits/wait_calls.h"

#include <math.h>
#include <stdlib.h>

#define INLINES_MAX 64

/* The names of the functions that a process called. */
struct counted_names {
	struct wait_calls *calls;
	struct id_table index;
	VEC(struct counted_name {
		int32_t pid;
		uint32_t name; /* text of calls->texts */
	})
	items;
};

static bool same_name(const void *ctx, uint32_t id, const void *key)
{
	const struct counted_name *a = &((const struct counted_names *)ctx)->items.items[id],
	                          *b = key;

	return a->pid == b->pid && a->name == b->name;
}

static bool names_have(const struct counted_names *n, int32_t pid, const char *name)
{
	struct counted_name key = {pid, intern_add(&n->calls->texts, name)};

	return id_table_find(&n->index, hash_pair((uint32_t)pid, key.name), same_name, n, &key) !=
	       ID_NONE;
}

static void names_add(struct counted_names *n, int32_t pid, const char *name)
{
	struct counted_name key = {pid, intern_add(&n->calls->texts, name)};

	if (names_have(n, pid, name))
		return;
	id_table_add(&n->index, hash_pair((uint32_t)pid, key.name), (uint32_t)n->items.count);
	vec_push(&n->items, key);
}

static void collect_names(struct counted_names *n, const struct call_paths *paths,
                          struct call_names *names)
{
	vec_each (p, &paths->processes)
		for (uint32_t i = 1; i < p->paths.count; i++) {
			uint32_t function = p->paths.items[i].function;

			if (paths->functions.items[function].kind == CALL_FUNCTION)
				names_add(n, p->pid, call_names_of(names, function));
		}
}

/* The name at a frame that was counted, functions inlined there first; NULL: none was. */
static const char *counted_at(const struct counted_names *n, struct view *v, int32_t pid,
                              uint32_t frame)
{
	struct symbol_inline found[INLINES_MAX];
	size_t count = symbolizer_inlines(v->symbols, view_place(v, frame), found, INLINES_MAX);
	const struct symbol *symbol = view_function(v, frame);

	for (size_t i = 0; i < count; i++)
		if (names_have(n, pid, found[i].name))
			return found[i].name;
	return symbol->named && names_have(n, pid, symbol->name) ? symbol->name : NULL;
}

static const char *function_of(const struct counted_names *n, const struct wait_report *r,
                               uint32_t sum)
{
	const struct wait_key *key = &r->log->sums.items[sum].key;
	const struct profile *p = r->view->profile;
	const struct thread *thread = process_table_thread_at(p->processes, key->thread);
	int32_t pid = process_table_process(p->processes, thread->process)->pid;
	const char *name;

	if (key->path == r->log->unknown_path)
		/* A new thread is in no call before its first run. */
		return r->rows.items[r->row_of[sum]].kind == WAIT_CPU ? WAIT_CALLS_OUTSIDE
		                                                      : WAIT_CALLS_NO_STACK;
	for (uint32_t at = key->path; at != PATH_ROOT; at = p->paths.items[at].parent) {
		uint32_t frame = p->paths.items[at].frame;

		if (p->frames.items[frame].kernel)
			continue;
		name = counted_at(n, r->view, pid, frame);
		if (name)
			return name;
	}
	return WAIT_CALLS_OUTSIDE;
}

void wait_calls_counted(struct wait_calls *c, const struct call_paths *paths,
                        struct call_names *names)
{
	struct counted_names n = {.calls = c};
	double counted_ns = 0;

	collect_names(&n, paths, names);
	for (uint32_t i = 0; i < c->report->log->sums.count; i++) {
		const struct wait_sum *sum = &c->report->log->sums.items[i];

		if (c->report->row_of[i] != ID_NONE)
			wait_calls_add(c, function_of(&n, c->report, i), i, sum->count,
			               sum->blocked_ns, sum->runnable_ns);
	}
	c->is_counted_known = true;
	vec_each (p, &paths->processes) {
		c->is_counted_known &= !(p->flags & CALL_UNSWITCHED);
		/* The first path is the time outside of all calls, since the process counts. */
		for (size_t i = 1; i < p->paths.count; i++)
			counted_ns += p->paths.items[i].blocked_ns;
	}
	c->counted_ns = (uint64_t)llrint(fmax(counted_ns, 0));
	id_table_done(&n.index);
	vec_done(&n.items);
}
