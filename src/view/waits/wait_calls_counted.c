/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits in counted calls: by the innermost counted function of each call path. Of the kernel's
 * calls, that is the innermost one that does more than to take a lock or to call the scheduler.
 */
#include "view/waits/wait_calls.h"

#include <math.h>
#include <stdlib.h>

#define INLINES_MAX 64

/* The names of the functions that a process called. */
struct counted_names {
	struct wait_calls *calls;
	bool of_kernel;   /* the kernel's calls were counted */
	bool is_filtered; /* only those within entries */
	struct id_table index;
	VEC(struct counted_name {
		int32_t pid;
		uint32_t name; /* text of calls->texts */
		bool is_entry; /* no counted function called it, at least once */
	})
	items;
};

static bool same_name(const void *ctx, uint32_t id, const void *key)
{
	const struct counted_name *a = &((const struct counted_names *)ctx)->items.items[id],
	                          *b = key;

	return a->pid == b->pid && a->name == b->name;
}

static struct counted_name *names_find(const struct counted_names *n, int32_t pid, const char *name)
{
	struct counted_name key = {pid, intern_add(&n->calls->texts, name), false};
	uint32_t id =
	        id_table_find(&n->index, hash_pair((uint32_t)pid, key.name), same_name, n, &key);

	return id == ID_NONE ? NULL : &n->items.items[id];
}

static bool names_have(const struct counted_names *n, int32_t pid, const char *name)
{
	return names_find(n, pid, name) != NULL;
}

static void names_add(struct counted_names *n, int32_t pid, const char *name, bool is_entry)
{
	struct counted_name key = {pid, intern_add(&n->calls->texts, name), is_entry};
	struct counted_name *known = names_find(n, pid, name);

	if (known) {
		known->is_entry |= is_entry;
		return;
	}
	id_table_add(&n->index, hash_pair((uint32_t)pid, key.name), (uint32_t)n->items.count);
	vec_push(&n->items, key);
}

static void collect_names(struct counted_names *n, const struct call_paths *paths,
                          struct call_names *names)
{
	vec_each (p, &paths->processes) {
		n->of_kernel |= (p->flags & CALL_KERNEL) != 0;
		n->is_filtered |= (p->flags & CALL_FILTERED) != 0;
		for (uint32_t i = 1; i < p->paths.count; i++) {
			uint32_t function = p->paths.items[i].function;

			if (paths->functions.items[function].kind == CALL_FUNCTION)
				names_add(n, p->pid, call_names_of(names, function),
				          !p->paths.items[i].parent);
		}
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

static const char *user_function(const struct counted_names *n, struct view *v, int32_t pid,
                                 uint32_t path)
{
	const struct profile *p = v->profile;
	const char *name;

	for (uint32_t at = path; at != PATH_ROOT; at = p->paths.items[at].parent) {
		uint32_t frame = p->paths.items[at].frame;

		if (p->frames.items[frame].kernel)
			continue;
		name = counted_at(n, v, pid, frame);
		if (name)
			return name;
	}
	return WAIT_CALLS_OUTSIDE;
}

/*
 * With --kernel=FUNCTION only calls within that function were counted, its entry, and other calls
 * of the same functions were not. Without it each wait is in a counted call. The entry of a system
 * call may have jumped to the function that does its work, and is then not on the stack.
 */
static const char *kernel_function(const struct counted_names *n, struct view *v, int32_t pid,
                                   uint32_t path)
{
	const struct profile *p = v->profile;
	const char *best = NULL, *innermost = NULL, *found = NULL;

	for (uint32_t at = path; at != PATH_ROOT; at = p->paths.items[at].parent) {
		uint32_t frame = p->paths.items[at].frame;
		const struct symbol *symbol = view_function(v, frame);
		const struct counted_name *counted;

		if (!p->frames.items[frame].kernel)
			break;
		counted = symbol->named ? names_find(n, pid, symbol->name) : NULL;
		if (!counted)
			continue;
		if (!innermost)
			innermost = symbol->name;
		if (!best && !wait_rule_is_locking(symbol->name))
			best = symbol->name;
		if (counted->is_entry || !n->is_filtered)
			found = best ? best : innermost;
	}
	return found ? found : WAIT_CALLS_OUTSIDE;
}

static const char *function_of(const struct counted_names *n, const struct wait_report *r,
                               uint32_t sum)
{
	const struct wait_key *key = &r->log->sums.items[sum].key;
	const struct process_table *processes = r->view->profile->processes;
	const struct thread *thread = process_table_thread_at(processes, key->thread);
	int32_t pid = process_table_process(processes, thread->process)->pid;

	if (key->path == r->log->unknown_path)
		/* A new thread is in no call before its first run. */
		return r->rows.items[r->row_of[sum]].kind == WAIT_CPU ? WAIT_CALLS_OUTSIDE
		                                                      : WAIT_CALLS_NO_STACK;
	return n->of_kernel ? kernel_function(n, r->view, pid, key->path)
	                    : user_function(n, r->view, pid, key->path);
}

/* The waits of a sum that began before the kernel's calls were counted: in no call. */
struct waits_before {
	uint64_t count, blocked_ns, runnable_ns;
};

/*
 * The command waits for the set-up of the tracer. Returns one entry for each sum of the log; the
 * caller frees them.
 */
static struct waits_before *waits_before(const struct wait_calls *c, const struct call_paths *paths)
{
	const struct wait_log *log = c->report->log;
	struct waits_before *before = xcalloc(log->sums.count + 1, sizeof(*before));
	uint64_t offset_ns = recording_wall_offset(c->report->view->profile->recordings.items[0]);
	uint64_t start_ns = UINT64_MAX, blocked_ns, runnable_ns;

	vec_each (p, &paths->processes)
		if (p->flags & CALL_KERNEL && p->start_ns < start_ns)
			start_ns = p->start_ns;
	vec_each (w, &log->waits) {
		if (start_ns == UINT64_MAX || w->out_ns + offset_ns >= start_ns)
			continue;
		wait_calls_parts(c, w, &blocked_ns, &runnable_ns);
		before[w->sum].count++;
		before[w->sum].blocked_ns += blocked_ns;
		before[w->sum].runnable_ns += runnable_ns;
	}
	return before;
}

void wait_calls_counted(struct wait_calls *c, const struct call_paths *paths,
                        struct call_names *names)
{
	struct counted_names n = {.calls = c};
	struct waits_before *before = waits_before(c, paths);
	double counted_ns = 0;

	collect_names(&n, paths, names);
	for (uint32_t i = 0; i < c->report->log->sums.count; i++) {
		const struct wait_sum *sum = &c->report->log->sums.items[i];

		if (c->report->row_of[i] != ID_NONE && sum->count > before[i].count)
			wait_calls_add(c, function_of(&n, c->report, i), i,
			               sum->count - before[i].count,
			               sum->blocked_ns - before[i].blocked_ns,
			               sum->runnable_ns - before[i].runnable_ns);
	}
	free(before);
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
