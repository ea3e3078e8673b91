/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above a process's tables: flags, own cost, and whether the account closes. */
#include "output/calls/calls_text.h"

#include "base/text/plural.h"
#include "view/calls/call_check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LABEL 12
#define NAMES_MAX 12 /* maximum number of functions named in a sentence */

struct lines {
	const struct call_report *report;
	const struct call_process *process;
	const struct calls_text_options *options;
	struct buf *out, text;
	bool unseparated;
};

static void put(struct lines *l, const char *label)
{
	if (l->text.size)
		text_fill(l->out, &l->options->style, label, LABEL, buf_text(&l->text));
	buf_clear(&l->text);
}

static void add(struct lines *l, const char *before, double ns)
{
	buf_puts(&l->text, before);
	text_fine_time(&l->text, ns);
}

static void flags(struct lines *l)
{
	const char *label = "flags";

	for (unsigned bit = 0; bit < CALL_FLAGS; bit++) {
		if (!call_flag_sentence(l->process, bit, &l->text))
			continue;
		put(l, label);
		label = "";
	}
}

static void own_cost(struct lines *l)
{
	const struct call_process *p = l->process;

	add(l, "", p->own_ns);
	if (p->own_error_ns > 0 && (l->options->wide || p->own_error_ns > p->own_ns / 100))
		add(l, " +/- ", p->own_error_ns);
	buf_puts(&l->text, ", ");
	calls_text_percent(&l->text, call_check_own_share(p));
	buf_puts(&l->text, " of net + own cost");
	if (p->inner_ns != 0 || p->outer_ns != 0) {
		add(l, "; taken out of each call: ", p->inner_ns);
		add(l, " of its own time and ", p->outer_ns);
		buf_puts(&l->text, " of its caller's");
	}
	put(l, "own cost");
}

static void residual(struct lines *l, double ns, double of_ns)
{
	add(l, "; residual ", ns);
	buf_puts(&l->text, " (");
	calls_text_percent(&l->text, call_check_share(ns, of_ns));
	buf_puts(&l->text, ")");
}

static void cpu_book(struct lines *l, const struct call_check *b)
{
	if (isnan(b->cpu_ns)) {
		buf_puts(&l->text, "not known: net + own cost cannot be checked");
		put(l, "CPU clock");
		return;
	}
	add(l, "", b->cpu_ns);
	if (l->unseparated) {
		add(l, "; net + own cost are wall times, and ", b->cpu_residual_ns);
		buf_puts(&l->text, " more: waiting that could not be separated");
	} else {
		add(l, " against net ", b->cpu_net_ns);
		add(l, " + own cost ", b->cpu_own_ns);
		residual(l, b->cpu_residual_ns, b->cpu_ns);
	}
	if (b->clockless)
		buf_addf(&l->text, "; without %" PRIu64 " %s whose clock is not known",
		         b->clockless, plural(b->clockless, "thread", "threads"));
	put(l, "CPU clock");
}

static void wall_book(struct lines *l, const struct call_check *b)
{
	add(l, "", b->wall_ns);
	if (b->threads != 1)
		buf_addf(&l->text, " of %" PRIu64 " threads", b->threads);
	add(l, " against net ", b->net_ns);
	add(l, " + own cost ", b->own_ns);
	if (!l->unseparated) {
		add(l, " + blocked ", b->blocked_ns);
		add(l, " + preempted ", b->preempted_ns);
	}
	if (b->tail_ns != 0)
		add(l, " + after the last event ", b->tail_ns);
	residual(l, b->wall_residual_ns, b->wall_ns);
	put(l, "wall");
}

static void counted(struct lines *l)
{
	call_function_list list;

	call_report_counted(l->report, l->process, &list);
	for (size_t i = 0; i < list.count && i < NAMES_MAX; i++) {
		buf_puts(&l->text, i ? ", " : "");
		call_names_text(l->report->names, list.items[i], &l->text);
	}
	if (list.count > NAMES_MAX)
		buf_addf(&l->text, " and %zu more", list.count - NAMES_MAX);
	if (list.count)
		buf_puts(&l->text, list.count == 1
		                           ? ": counted, not timed; its time is its callers'"
		                           : ": counted, not timed; their time is their callers'");
	put(l, "counted");
	vec_done(&list);
}

static void cell(struct table *t, double ns)
{
	struct buf text = {0};

	text_fine_time(&text, ns);
	table_text(t, buf_text(&text));
	buf_done(&text);
}

static void percent(struct table *t, double share)
{
	struct buf text = {0};

	if (!isnan(share))
		calls_text_percent(&text, share);
	table_text(t, buf_text(&text));
	buf_done(&text);
}

static void thread_row(struct table *t, const struct lines *l, const struct call_thread *thread)
{
	struct call_check b = call_check_thread(thread);
	const char *name = intern_text(&l->report->paths->images.names, thread->name);

	table_row(t, TABLE_ROW);
	cell(t, b.wall_ns);
	cell(t, b.cpu_ns);
	cell(t, b.net_ns);
	cell(t, b.own_ns);
	cell(t, l->unseparated ? NAN : b.blocked_ns);
	cell(t, l->unseparated ? NAN : b.preempted_ns);
	cell(t, b.tail_ns);
	cell(t, isnan(b.cpu_ns) ? NAN : b.cpu_residual_ns);
	percent(t, isnan(b.cpu_ns) ? NAN : call_check_share(b.cpu_residual_ns, b.cpu_ns));
	cell(t, b.wall_residual_ns);
	percent(t, call_check_share(b.wall_residual_ns, b.wall_ns));
	if (b.threads > 1)
		table_format(t, "%s (%" PRIu64 " threads)", name, b.threads);
	else if (thread->tid)
		table_format(t, "%s (%" PRId32 ")", name, thread->tid);
	else
		table_format(t, "%s (ended)", name);
}

static void threads(struct lines *l)
{
	static const char *const titles[] = {"wall",    "CPU clock",     "net",  "own cost",
	                                     "blocked", "preempted",     "tail", "CPU residual",
	                                     "",        "wall residual", ""};
	struct table t;

	buf_putc(l->out, '\n');
	table_init(&t, &l->options->style);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_column(&t, titles[i], TABLE_RIGHT);
	table_column(&t, "thread", TABLE_LEFT);
	vec_each (thread, &l->process->threads)
		thread_row(&t, l, thread);
	table_print(&t, l->out);
	table_done(&t);
}

void calls_text_books(const struct call_report *r, const struct call_process *p,
                      const struct calls_text_options *o, struct buf *out)
{
	struct lines l = {.report = r, .process = p, .options = o, .out = out};
	struct call_check b = call_check_of(p);

	l.unseparated = call_check_unseparated(p);
	buf_puts(&l.text, intern_text(&r->paths->images.names, p->command));
	put(&l, "command");
	flags(&l);
	own_cost(&l);
	if (p->threads.count) {
		cpu_book(&l, &b);
		wall_book(&l, &b);
	}
	counted(&l);
	if (o->wide && p->threads.count)
		threads(&l);
	buf_done(&l.text);
}
