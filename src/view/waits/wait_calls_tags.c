/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits in calls of event tags: by thread and time. */
#include "view/waits/wait_calls.h"

#include "view/tags/trace/tag_trace_merge.h"

#include <errno.h>
#include <stdlib.h>

/* A thread of the trace: its waits in the order of time, and its open calls. */
struct tagged_thread {
	int32_t pid, tid;
	VEC(uint32_t) waits; /* of the log */
	size_t next;
	VEC(uint32_t) open; /* texts of names */
};

struct tagged {
	struct wait_calls *calls;
	struct tag_trace trace;
	uint64_t offset_ns; /* from the time of the recording to that of the trace */
	VEC(struct tagged_thread) threads;
	VEC(uint32_t) of_who; /* by `who` of the trace: thread + 1 */
};

/* The middle of a wait since 1970. */
static uint64_t middle_ns(const struct tagged *t, const struct wait *w)
{
	return w->out_ns + (w->in_ns - w->out_ns) / 2 + t->offset_ns;
}

/* The log has waits in the order in which they ended, so those of a thread are in order. */
static void collect_waits(struct tagged *t, struct tagged_thread *thread)
{
	const struct wait_report *r = t->calls->report;
	const struct process_table *processes = r->view->profile->processes;

	for (uint32_t i = 0; i < r->log->waits.count; i++) {
		uint32_t sum = r->log->waits.items[i].sum;
		const struct thread *waiter =
		        process_table_thread_at(processes, r->log->sums.items[sum].key.thread);

		if (r->row_of[sum] != ID_NONE && waiter->tid == thread->tid &&
		    process_table_process(processes, waiter->process)->pid == thread->pid)
			vec_push(&thread->waits, i);
	}
}

static struct tagged_thread *thread_of(struct tagged *t, uint32_t who)
{
	const struct tag_identity *identity = &t->trace.whos.items[who];
	struct tagged_thread made = {.pid = identity->pid, .tid = identity->tid};
	uint32_t *known;

	known = vec_at(&t->of_who, who);
	for (uint32_t i = 0; !*known && i < t->threads.count; i++)
		if (t->threads.items[i].pid == made.pid && t->threads.items[i].tid == made.tid)
			*known = i + 1;
	if (!*known) {
		collect_waits(t, &made);
		vec_push(&t->threads, made);
		*known = (uint32_t)t->threads.count;
	}
	return &t->threads.items[*known - 1];
}

/* Adds the waits up to this time to the innermost open call. */
static void add_until(struct tagged *t, struct tagged_thread *thread, uint64_t time_ns)
{
	const struct wait_log *log = t->calls->report->log;

	for (; thread->next < thread->waits.count; thread->next++) {
		const struct wait *w = &log->waits.items[thread->waits.items[thread->next]];
		uint64_t blocked_ns, runnable_ns;
		const char *name = thread->open.count
		                           ? intern_text(&t->calls->texts, *vec_last(&thread->open))
		                           : WAIT_CALLS_OUTSIDE;

		if (middle_ns(t, w) >= time_ns)
			break;
		wait_calls_parts(t->calls, w, &blocked_ns, &runnable_ns);
		wait_calls_add(t->calls, name, w->sum, 1, blocked_ns, runnable_ns);
	}
}

static const char *name_of(const struct tagged *t, const struct trace_line *line)
{
	uint32_t stream = t->trace.whos.items[line->who].stream;
	const struct tag_names *names = t->trace.recording->streams.items[stream].names;
	bool is_exit;
	const struct tag_name *name = names ? tag_names_find(names, line->tag, &is_exit) : NULL;

	return !name ? "[no name]" : name->shown ? name->shown : name->name;
}

static void take_line(struct tagged *t, const struct trace_line *line)
{
	const struct tag_recording *r = t->trace.recording;
	struct tagged_thread *thread = thread_of(t, line->who);

	add_until(t, thread, tag_clock_ns(&r->clock, line->time) + (uint64_t)r->clock.offset_ns);
	if (line->kind == TRACE_LINE_ENTER)
		vec_push(&thread->open, intern_add(&t->calls->texts, name_of(t, line)));
	else if (line->kind == TRACE_LINE_EXIT && thread->open.count)
		thread->open.count--;
	else if (line->kind == TRACE_LINE_THREAD)
		thread->open.count = 0;
}

static int join(struct tagged *t, struct error *err)
{
	struct tag_merge *merge = tag_merge_new(&t->trace, false);
	struct trace_line line;
	int ret;

	while ((ret = tag_merge_next(merge, &line, err)) > 0)
		take_line(t, &line);
	vec_each (thread, &t->threads)
		add_until(t, thread, UINT64_MAX);
	tag_merge_free(merge);
	return ret;
}

int wait_calls_tags(struct wait_calls *c, struct tag_recording *recording, struct error *err)
{
	const struct profile *p = c->report->view->profile;
	struct tagged t = {.calls = c, .trace.recording = recording};
	int ret;

	if (recording->clock.offset_ns == INT64_MIN)
		return error_set(err, EINVAL,
		                 "%s does not have the time of day of its events, so its calls "
		                 "cannot be joined with waits",
		                 recording->path);
	t.offset_ns = recording_wall_offset(p->recordings.items[0]);
	c->is_timed = true;
	c->beyond = c->report->log->beyond;
	ret = join(&t, err);
	vec_each (thread, &t.threads) {
		vec_done(&thread->waits);
		vec_done(&thread->open);
	}
	vec_done(&t.threads);
	vec_done(&t.of_who);
	vec_done(&t.trace.whos);
	return ret;
}
