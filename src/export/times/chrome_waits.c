/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/chrome_waits.h"

#include "base/memory/xalloc.h"
#include "base/text/json.h"
#include "view/waits/wait_report.h"

#include <inttypes.h>
#include <stdlib.h>

#define WAIT_BYTES 900u /* of JSON: up to four slices and an arrow */

struct chrome_wait_thread {
	uint64_t in_ns; /* the begin of its slice "on CPU" */
	uint64_t arrow; /* that ends in this slice; 0: none */
	bool on_cpu, introduced;
};

struct chrome_waits {
	struct timed_samples *t;
	const struct wait_report *report;
	const struct profile *profile;
	struct trace_events *events;
	struct chrome_wait_thread *threads; /* by thread of the profile */
	uint64_t arrows;
	struct buf name;
};

uint64_t chrome_waits_estimate(const struct timed_samples *t)
{
	return t->waits ? t->waits->log->waits.count * WAIT_BYTES : 0;
}

static const char *name_of(const struct chrome_waits *c, uint32_t thread)
{
	const struct process_table *t = c->profile->processes;

	return process_table_name(t, process_table_thread_at(t, thread)->name);
}

/* The row of the thread's waits. */
static struct trace_place row_of(struct chrome_waits *c, uint32_t thread)
{
	const struct process_table *t = c->profile->processes;
	const struct thread *of = process_table_thread_at(t, thread);
	const struct process *process = process_table_process(t, of->process);
	struct trace_place at = {process->pid, of->tid | CHROME_WAITS_ROW};

	if (c->threads[thread].introduced)
		return at;
	c->threads[thread].introduced = true;
	if (trace_events_new_process(c->events, at.pid))
		trace_event_name(c->events, at, "process_name",
		                 process_table_name(t, process->name));
	buf_clear(&c->name);
	buf_addf(&c->name, "%s (waits)", name_of(c, thread));
	trace_event_name(c->events, at, "thread_name", buf_text(&c->name));
	return at;
}

static uint64_t since_begin(const struct chrome_waits *c, uint64_t ns)
{
	return ns > c->t->begin_ns ? ns - c->t->begin_ns : 0;
}

static void begin_slice(struct chrome_waits *c, struct trace_place at, uint64_t from_ns,
                        uint64_t ns, const char *name)
{
	trace_event(c->events, "X", at, since_begin(c, from_ns), name);
	buf_addf(&c->events->out->buf, ",\"dur\":%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

/* One end of an arrow: "s" or "f". It belongs to the slice around it, which is written before. */
static void put_arrow(struct chrome_waits *c, const char *end, struct trace_place at, uint64_t ns,
                      uint64_t id)
{
	trace_event(c->events, end, at, since_begin(c, ns), "wake-up");
	buf_addf(&c->events->out->buf, ",\"cat\":\"wait\",\"bp\":\"e\",\"id\":%" PRIu64, id);
	trace_event_end(c->events);
}

/*
 * Ends the slice "on CPU" of the thread, if there is one. Without time it has a length of 1 ns if
 * an arrow needs it.
 */
static void end_on_cpu(struct chrome_waits *c, uint32_t thread, uint64_t end_ns)
{
	struct chrome_wait_thread *s = &c->threads[thread];
	uint64_t ns = end_ns > s->in_ns ? end_ns - s->in_ns : s->arrow ? 1 : 0;

	if (s->on_cpu && ns) {
		begin_slice(c, row_of(c, thread), s->in_ns, ns, "on CPU");
		trace_event_end(c->events);
	}
	if (s->arrow)
		put_arrow(c, "f", row_of(c, thread), s->in_ns, s->arrow);
	s->on_cpu = false;
	s->arrow = 0;
}

static void put_text(const struct chrome_waits *c, struct json *j, const char *key, uint32_t text)
{
	if (text)
		json_kstr(j, key, wait_text(c->report, text));
}

static void put_wait_arguments(struct chrome_waits *c, const struct wait *w)
{
	const struct wait_row *row = &c->report->rows.items[c->report->row_of[w->sum]];
	struct json j;

	buf_puts(&c->events->out->buf, ",\"args\":");
	json_init(&j, &c->events->out->buf);
	j.compact = true;
	json_object(&j);
	json_kstr(&j, "kind", wait_kind_name(row->kind));
	put_text(c, &j, "name", row->name);
	put_text(c, &j, "released_by", row->by);
	put_text(c, &j, "holder", row->holder);
	if (wait_evidence_name(row->evidence))
		json_kstr(&j, "evidence", wait_evidence_name(row->evidence));
	json_end_object(&j);
}

static void put_part(struct chrome_waits *c, const struct wait *w, uint64_t from_ns, uint64_t to_ns,
                     const char *name)
{
	uint32_t thread = c->report->log->sums.items[w->sum].key.thread;

	if (to_ns <= from_ns)
		return;
	begin_slice(c, row_of(c, thread), from_ns, to_ns - from_ns, name);
	put_wait_arguments(c, w);
	trace_event_end(c->events);
}

/* "lock table_lock" */
static const char *title_of(struct chrome_waits *c, const struct wait *w)
{
	const struct wait_row *row = &c->report->rows.items[c->report->row_of[w->sum]];

	buf_clear(&c->name);
	buf_puts(&c->name, wait_kind_name(row->kind));
	if (row->name)
		buf_addf(&c->name, " %s", wait_text(c->report, row->name));
	return buf_text(&c->name);
}

static void put_parts(struct chrome_waits *c, const struct wait *w, const struct wait_key *key)
{
	row_of(c, key->thread); /* before the title, which has the same buffer */
	if (key->woken == WAIT_PREEMPTED) {
		put_part(c, w, w->out_ns, w->in_ns, "(preempted)");
	} else {
		uint64_t woken = w->out_ns + wait_log_blocked_ns(c->report->log, w);

		put_part(c, w, w->out_ns, woken, title_of(c, w));
		put_part(c, w, woken, w->in_ns, "(runnable)");
	}
}

/* The begin of an arrow, at the wake-up. */
static void put_waking(struct chrome_waits *c, const struct wait *w, const struct wait_key *key)
{
	uint32_t waker = c->report->releaser_of[w->sum];
	struct trace_place at;

	if (waker == ID_NONE)
		return;
	at = row_of(c, waker);
	buf_clear(&c->name);
	buf_addf(&c->name, "wakes %s", name_of(c, key->thread));
	begin_slice(c, at, w->woken_ns, 1, buf_text(&c->name));
	trace_event_end(c->events);
	c->threads[key->thread].arrow = ++c->arrows;
	put_arrow(c, "s", at, w->woken_ns, c->arrows);
}

static void put_wait(struct chrome_waits *c, const struct wait *w)
{
	const struct wait_key *key = &c->report->log->sums.items[w->sum].key;
	struct chrome_wait_thread *s = &c->threads[key->thread];

	if (!c->report->selection.selected[key->thread])
		return;
	end_on_cpu(c, key->thread, w->out_ns);
	if (c->report->row_of[w->sum] != ID_NONE) {
		c->t->waits_total++;
		if (c->t->limit && c->t->waits_written >= c->t->limit)
			return;
		c->t->waits_written++;
		put_parts(c, w, key);
		put_waking(c, w, key);
	}
	s->on_cpu = key->woken != WAIT_OPEN;
	s->in_ns = w->in_ns;
}

/* The end of a thread is known, or it is the end of the recording. */
static uint64_t end_of(const struct chrome_waits *c, uint32_t thread)
{
	const struct thread *of = process_table_thread_at(c->profile->processes, thread);
	uint64_t end = c->report->log->end_ns;

	return of->end_ns && of->end_ns < end ? of->end_ns : end;
}

void chrome_waits_write(struct timed_samples *t, struct trace_events *events)
{
	struct chrome_waits c = {
	        .t = t, .report = t->waits, .profile = t->waits->view->profile, .events = events};
	size_t threads = process_table_thread_count(c.profile->processes);

	c.threads = xcalloc(threads + 1, sizeof(*c.threads));
	t->waits_written = t->waits_total = 0;
	vec_each (w, &t->waits->log->waits) {
		put_wait(&c, w);
		spill_some(events->out);
	}
	for (uint32_t i = 0; i < threads; i++) {
		end_on_cpu(&c, i, end_of(&c, i));
		spill_some(events->out);
	}
	free(c.threads);
	buf_done(&c.name);
}
