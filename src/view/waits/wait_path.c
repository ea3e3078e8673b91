/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_path.h"

#include <string.h>

static const struct process_table *table_of(const struct wait_report *r)
{
	return r->view->profile->processes;
}

/* A process that was asked for, and not a child of one. */
static bool is_root(const struct wait_report *r, const uint8_t *chosen, uint32_t process)
{
	uint32_t parent = process_table_process(table_of(r), process)->parent;

	return chosen[process] && (parent == ID_NONE || !chosen[parent]);
}

/* The thread of a process that ran last; after its exit, a thread has the number -1. */
static uint32_t last_of(const struct wait_report *r, uint32_t process, uint32_t main_thread)
{
	uint32_t thread = critical_path_last_thread(r->view->profile, process, 0);

	return thread == ID_NONE || process_table_thread_at(table_of(r), thread)->tid > 0
	               ? thread
	               : main_thread;
}

/* The thread in which the path ends; ID_NONE: several processes are selected, or all. */
static uint32_t last_thread(const struct wait_report *r)
{
	const struct process_table *t = table_of(r);
	size_t threads = process_table_thread_count(t);
	uint8_t *chosen = xcalloc(process_table_process_count(t) + 1, 1);
	uint32_t found = ID_NONE;
	int32_t pid = 0;

	for (uint32_t i = 0; i < threads; i++)
		chosen[process_table_thread_at(t, i)->process] |= r->selection.selected[i];
	for (uint32_t i = 0; r->selection.scope != WAITS_OF_ALL && i < threads; i++) {
		const struct thread *at = process_table_thread_at(t, i);
		uint32_t last;

		if (!r->selection.selected[i] || !is_root(r, chosen, at->process) ||
		    at->tid != process_table_process(t, at->process)->pid)
			continue;
		/* Programs of one process, one after the other, are one. */
		if (pid && process_table_process(t, at->process)->pid != pid) {
			found = ID_NONE;
			break;
		}
		pid = process_table_process(t, at->process)->pid;
		last = last_of(r, at->process, i);
		found = last == ID_NONE ? found : last;
	}
	free(chosen);
	return found;
}

static bool is_own_softirq(void *ctx, uint32_t waker_path)
{
	struct wait_report *r = ctx;
	const struct wait_key key = {.woken = WAIT_BY_SOFTIRQ, .waker_path = waker_path};

	return wait_waker_of(&r->causes, &key, &(struct wait_cause){0}).is_thread;
}

bool wait_path_follows(struct wait_report *r, const struct wait_key *key)
{
	return key->woken == WAIT_BY_THREAD ||
	       (key->woken == WAIT_BY_SOFTIRQ && key->waker_path != ID_NONE &&
	        is_own_softirq(r, key->waker_path));
}

static bool same_row(const void *ctx, uint32_t id, const void *key)
{
	const struct wait_path_row *a = &((const struct wait_path *)ctx)->rows.items[id], *b = key;

	return !strcmp(a->kind, b->kind) && a->thread == b->thread && a->name == b->name &&
	       a->function == b->function;
}

static void add(struct wait_path *p, const struct wait_path_row *key)
{
	uint64_t hash = hash_pair((uint64_t)key->thread << 32 | key->name,
	                          (uint64_t)key->function << 8 | (uint8_t)key->kind[0]);
	uint32_t id = id_table_find(&p->index, hash, same_row, p, key);

	if (id == ID_NONE) {
		id_table_add(&p->index, hash, (uint32_t)p->rows.count);
		vec_push(&p->rows, *key);
		return;
	}
	p->rows.items[id].ns += key->ns;
	p->rows.items[id].count += key->count;
}

/* The time on the CPU, by the functions of the samples. */
static void add_oncpu(struct wait_path *p)
{
	struct wait_report *r = p->report;

	vec_each (sum, &p->path.sums)
		if (sum->kind == CRITICAL_ON_CPU)
			add(p, &(struct wait_path_row){
			               .kind = "on_cpu",
			               .thread = wait_thread_text(r, sum->thread),
			               .function = wait_function_text(
			                       r, wait_path_leaf(&r->causes, sum->path)),
			               .ns = sum->ns,
			               .count = sum->count,
			               .can_shorten = true});
}

static void add_blocked(struct wait_path *p, const struct critical_segment *s,
                        struct wait_path_row *row)
{
	struct wait_report *r = p->report;
	struct wait_row of;
	uint32_t releaser;
	struct wait_cause cause =
	        wait_report_describe(r, r->log->waits.items[s->wait].sum, &of, &releaser);

	row->kind = wait_kind_name(cause.kind);
	row->name = of.name;
	row->function = wait_function_text(r, cause.place);
	row->can_shorten = true;
}

static void add_segment(struct wait_path *p, const struct critical_segment *s)
{
	struct wait_path_row row = {.thread = wait_thread_text(p->report, s->thread),
	                            .ns = s->end_ns - s->start_ns,
	                            .count = 1};

	if (s->kind == CRITICAL_ON_CPU)
		return;
	row.kind = s->kind == CRITICAL_RUNNABLE ? "runnable" : "unknown";
	if (s->kind == CRITICAL_BLOCKED && s->wait != ID_NONE)
		add_blocked(p, s, &row);
	add(p, &row);
}

void wait_path_init(struct wait_path *p, struct wait_report *r)
{
	struct critical_request q = {.is_own_softirq = is_own_softirq, .ctx = r};

	*p = (struct wait_path){.report = r};
	q.thread = last_thread(r);
	if (q.thread == ID_NONE)
		return;
	p->present = true;
	critical_path_find(&p->path, r->view->profile, &q);
	add_oncpu(p);
	vec_each (segment, &p->path.segments)
		add_segment(p, segment);
}

void wait_path_done(struct wait_path *p)
{
	if (p->present)
		critical_path_done(&p->path);
	vec_done(&p->rows);
	id_table_done(&p->index);
}
