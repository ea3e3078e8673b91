/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/critical_path.h"

#include "base/memory/xalloc.h"
#include "profile/waits/critical_sums.h"

#include <stdlib.h>

/* Wake-ups at the same time that are followed; more can only be a circle. */
#define JUMPS_MAX 64

/* The waits of all threads, by thread and in the order of time. */
struct wait_index {
	const struct wait_log *log;
	size_t threads;
	size_t *first;   /* of a thread in `waits`; [threads] is the end */
	uint32_t *waits; /* indices of single waits */
	uint32_t *birth; /* by thread: index into births, or ID_NONE */
};

struct finder {
	const struct profile *p;
	const struct critical_request *request;
	struct wait_index index;
	struct critical_path *c;
	uint32_t thread;
	uint64_t time_ns, from_ns; /* segments after time_ns are complete */
	uint64_t jumped_ns;        /* time of the last jump */
	unsigned jumps;            /* at that time */
};

static uint32_t thread_of(const struct wait_log *l, size_t wait)
{
	return l->sums.items[l->waits.items[wait].sum].key.thread;
}

static void index_init(struct wait_index *x, const struct profile *p)
{
	const struct wait_log *l = &p->waits;
	size_t *next;

	*x = (struct wait_index){.log = l, .threads = process_table_thread_count(p->processes)};
	x->first = xcalloc(x->threads + 2, sizeof(*x->first));
	x->waits = xmalloc((l->waits.count + 1) * sizeof(*x->waits));
	x->birth = xmalloc((x->threads + 1) * sizeof(*x->birth));
	for (size_t i = 0; i < l->waits.count; i++)
		x->first[thread_of(l, i) + 2]++;
	for (size_t i = 2; i < x->threads + 2; i++)
		x->first[i] += x->first[i - 1];
	/* first[t + 1] is the next free place of thread t, and at last the first of t + 1. */
	next = x->first + 1;
	for (size_t i = 0; i < l->waits.count; i++)
		x->waits[next[thread_of(l, i)]++] = (uint32_t)i;
	for (size_t i = 0; i < x->threads; i++)
		x->birth[i] = ID_NONE;
	vec_each (b, &l->births)
		x->birth[b->thread] = (uint32_t)(b - l->births.items);
}

static void index_done(struct wait_index *x)
{
	free(x->first);
	free(x->waits);
	free(x->birth);
}

/* The last wait of the thread that began before `time_ns`; ID_NONE: none. */
static uint32_t last_wait(const struct wait_index *x, uint32_t thread, uint64_t time_ns)
{
	size_t low = x->first[thread], high = x->first[thread + 1], begin = low;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->log->waits.items[x->waits[middle]].out_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low == begin ? ID_NONE : x->waits[low - 1];
}

/* Adds the segment from `start_ns`, or the begin of the range, to the present time. */
static void add_segment(struct finder *f, uint64_t start_ns, enum critical_kind kind, uint32_t wait)
{
	struct critical_segment s = {.start_ns = start_ns > f->from_ns ? start_ns : f->from_ns,
	                             .end_ns = f->time_ns,
	                             .thread = f->thread,
	                             .wait = wait,
	                             .path = ID_NONE,
	                             .kind = (uint8_t)kind};
	const struct wait_log *l = &f->p->waits;

	if (s.start_ns >= s.end_ns)
		return;
	if (wait != ID_NONE) {
		const struct wait_key *key = &l->sums.items[l->waits.items[wait].sum].key;

		s.path = key->path;
		s.woken = key->woken;
	}
	vec_push(&f->c->segments, s);
	f->c->ns[kind] += s.end_ns - s.start_ns;
	f->time_ns = s.start_ns;
}

/* Continues in the waker at the present time; false: it is unknown, or this is a circle. */
static bool jump(struct finder *f, uint32_t waker, uint32_t wait, uint32_t waker_path)
{
	f->jumps = f->jumped_ns == f->time_ns ? f->jumps + 1 : 0;
	f->jumped_ns = f->time_ns;
	if (waker == ID_NONE || waker >= f->index.threads || waker == f->thread ||
	    f->jumps > JUMPS_MAX)
		return false;
	vec_push(&f->c->edges, (struct critical_edge){.time_ns = f->time_ns,
	                                              .thread = f->thread,
	                                              .waker = waker,
	                                              .wait = wait,
	                                              .waker_path = waker_path});
	f->thread = waker;
	return true;
}

/* A kernel thread that passes on the end of an I/O request waited for work before, which did not
 * decide. */
static bool is_kernel_thread(const struct finder *f, uint32_t thread)
{
	const struct process_table *t = f->p->processes;

	return thread < process_table_thread_count(t) &&
	       process_table_process(t, process_table_thread_at(t, thread)->process)->kernel;
}

static bool is_by_thread(const struct finder *f, const struct wait_key *key)
{
	const struct critical_request *r = f->request;

	if (is_kernel_thread(f, key->waker))
		return false;
	return key->woken == WAIT_BY_THREAD ||
	       (key->woken == WAIT_BY_SOFTIRQ && key->waker_path != ID_NONE && r->is_own_softirq &&
	        r->is_own_softirq(r->ctx, key->waker_path));
}

/* The thread is off the CPU at the present time. */
static void pass_wait(struct finder *f, uint32_t wait)
{
	const struct wait_log *l = &f->p->waits;
	const struct wait *w = &l->waits.items[wait];
	const struct wait_key *key = &l->sums.items[w->sum].key;
	bool is_woken = w->woken_ns && w->woken_ns <= f->time_ns;

	if (is_woken)
		add_segment(f, w->woken_ns, CRITICAL_RUNNABLE, wait);
	/* If it was woken at its switch out or before, it ran itself until then. */
	if (is_woken && w->woken_ns > w->out_ns && f->time_ns > f->from_ns &&
	    is_by_thread(f, key) && jump(f, key->waker, wait, key->waker_path))
		return;
	add_segment(f, w->out_ns, CRITICAL_BLOCKED, wait);
}

static bool has_samples(const struct profile *p, uint32_t thread)
{
	vec_each (row, &p->rows)
		if (row->thread == thread && row->samples)
			return true;
	return false;
}

/* A thread without waits in the log ran if it has a sample, or was switched in before the log. */
static bool has_run(const struct profile *p, uint32_t thread)
{
	const struct wait_log *l = &p->waits;

	return (thread < l->running.count && l->running.items[thread]) || has_samples(p, thread);
}

/* The thread has no wait before the present time: to its begin, and to the thread before it. */
static void pass_begin(struct finder *f)
{
	const struct wait_log *l = &f->p->waits;
	uint32_t id = f->index.birth[f->thread];
	const struct wait_birth *birth = id == ID_NONE ? NULL : &l->births.items[id];
	bool has_waits = f->index.first[f->thread] < f->index.first[f->thread + 1];

	if (birth && birth->is_exec && birth->time_ns < f->time_ns)
		add_segment(f, birth->time_ns, CRITICAL_ON_CPU, ID_NONE);
	if (f->time_ns <= f->from_ns ||
	    (birth && jump(f, birth->parent, ID_NONE, birth->parent_path)))
		return;
	/* It was on a CPU since the begin of the recording, or has no records at all. */
	add_segment(f, f->from_ns,
	            !birth && (has_waits || has_run(f->p, f->thread)) ? CRITICAL_ON_CPU
	                                                              : CRITICAL_UNKNOWN,
	            ID_NONE);
}

static void follow(struct finder *f)
{
	const struct wait_log *l = &f->p->waits;

	while (f->time_ns > f->from_ns) {
		uint32_t wait = last_wait(&f->index, f->thread, f->time_ns);

		if (wait == ID_NONE)
			pass_begin(f);
		else if (l->waits.items[wait].in_ns < f->time_ns)
			add_segment(f, l->waits.items[wait].in_ns, CRITICAL_ON_CPU, ID_NONE);
		else
			pass_wait(f, wait);
	}
}

static void reverse(struct critical_path *c)
{
	for (size_t i = 0, j = c->segments.count; i + 1 < j; i++) {
		struct critical_segment s = c->segments.items[i];

		c->segments.items[i] = c->segments.items[--j];
		c->segments.items[j] = s;
	}
	for (size_t i = 0, j = c->edges.count; i + 1 < j; i++) {
		struct critical_edge e = c->edges.items[i];

		c->edges.items[i] = c->edges.items[--j];
		c->edges.items[j] = e;
	}
}

/* The end of the range: not after the exit of the thread. */
static uint64_t end_of(const struct profile *p, const struct critical_request *request)
{
	uint64_t to_ns = request->to_ns ? request->to_ns : p->waits.end_ns;
	uint64_t exit_ns = process_table_thread_at(p->processes, request->thread)->end_ns;

	return exit_ns && exit_ns < to_ns ? exit_ns : to_ns;
}

void critical_path_find(struct critical_path *c, const struct profile *p,
                        const struct critical_request *request)
{
	struct finder f = {.p = p, .request = request, .c = c, .thread = request->thread};

	*c = (struct critical_path){.thread = request->thread,
	                            .from_ns =
	                                    request->from_ns ? request->from_ns : p->waits.start_ns,
	                            .beyond = p->waits.beyond};
	if (request->thread >= process_table_thread_count(p->processes))
		return;
	c->to_ns = end_of(p, request);
	if (c->to_ns < c->from_ns)
		c->to_ns = c->from_ns;
	f.time_ns = c->to_ns;
	f.from_ns = c->from_ns;
	index_init(&f.index, p);
	follow(&f);
	index_done(&f.index);
	reverse(c);
	critical_sums(c, p);
}

void critical_path_done(struct critical_path *c)
{
	vec_done(&c->segments);
	vec_done(&c->sums);
	vec_done(&c->edges);
}

/* The last time at which the thread was on a CPU before `to_ns`, 0: it did not run. */
static uint64_t last_run(const struct wait_index *x, const struct profile *p, uint32_t thread,
                         uint64_t to_ns)
{
	uint64_t exit_ns = process_table_thread_at(p->processes, thread)->end_ns;
	uint64_t end_ns = exit_ns && exit_ns < to_ns ? exit_ns : to_ns;
	uint32_t wait = last_wait(x, thread, end_ns);
	const struct wait *w = wait == ID_NONE ? NULL : &x->log->waits.items[wait];

	if (!w)
		return has_run(p, thread) ? end_ns : 0;
	return w->in_ns < end_ns ? end_ns : w->out_ns > x->log->start_ns ? w->out_ns : 0;
}

uint32_t critical_path_last_thread(const struct profile *p, uint32_t process, uint64_t to_ns)
{
	struct wait_index x;
	uint32_t found = ID_NONE;
	uint64_t latest = 0;

	index_init(&x, p);
	for (uint32_t i = 0; i < x.threads; i++) {
		uint64_t ran;

		if (process_table_thread_at(p->processes, i)->process != process)
			continue;
		ran = last_run(&x, p, i, to_ns ? to_ns : p->waits.end_ns);
		if (ran > latest) {
			latest = ran;
			found = i;
		}
	}
	index_done(&x);
	return found;
}
