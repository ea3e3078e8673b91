/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_document.h"

#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/waits/wait_tree.h"

#include <inttypes.h>

static int64_t residual_ns(const struct wait_account *a)
{
	return (int64_t)a->wall_ns - (int64_t)a->oncpu_ns - (int64_t)a->runnable_ns -
	       (int64_t)a->blocked_ns - (int64_t)a->unseen_ns;
}

void wait_term(struct grid *g, enum row_kind kind, const char *name, int64_t ns, uint64_t whole)
{
	grid_row(g, kind);
	grid_add(g, cell_text(name));
	grid_add(g, cell_int(ns));
	grid_add(g, cell_real(whole ? (double)ns / (double)whole : 0));
}

static void part(struct grid *g, const char *name, uint64_t ns, uint64_t whole)
{
	if (ns)
		wait_term(g, ROW_PART, name, (int64_t)ns, whole);
}

static void missing(struct grid *g, const char *name)
{
	grid_row(g, ROW_ITEM);
	grid_add(g, cell_text(name));
	grid_add(g, cell_text("missing"));
}

static void waiting_terms(struct grid *g, const struct wait_account *a, uint64_t whole)
{
	wait_term(g, ROW_ITEM, "runnable", (int64_t)a->runnable_ns, whole);
	part(g, "  preempted", a->preempted_ns, whole);
	part(g, "  after a wake-up", a->runnable_ns - a->preempted_ns, whole);
	wait_term(g, ROW_ITEM, "blocked", (int64_t)a->blocked_ns, whole);
	part(g, "  for a named object", a->named_ns, whole);
	part(g, "  for an object without a name", a->blocked_ns - a->named_ns - a->unknown_ns,
	     whole);
	part(g, "  of unknown cause", a->unknown_ns, whole);
}

/* The account for readers: the terms are measured one by one, and the residual is printed. */
static void ledger(struct document *d, const struct wait_report *r)
{
	static const struct grid_column columns[] = {
	        {"", &unit_text, false}, {"time", &unit_time, false}, {"share", &unit_share, true}};
	const struct wait_account *a = &r->account;
	uint64_t whole = wait_account_whole(a);
	struct grid *g = grid_new(columns, sizeof(columns) / sizeof(*columns));
	struct buf text = {0};

	if (a->is_closed)
		wait_term(g, ROW_ITEM, "on CPU", (int64_t)a->oncpu_ns, whole);
	else
		missing(g, "on CPU");
	waiting_terms(g, a, whole);
	if (a->is_closed) {
		wait_term(g, ROW_ITEM, "not seen", (int64_t)a->unseen_ns, whole);
		part(g, "  off the CPU from the start", a->before_ns, whole);
		wait_term(g, ROW_ITEM, "residual", residual_ns(a), whole);
		text_counted(&text, a->threads, "thread", "threads");
		buf_puts(&text, " x time");
	} else {
		buf_puts(&text, "waits");
	}
	wait_term(g, ROW_TOTAL, buf_text(&text), (int64_t)whole, whole);
	document_grid(d, "Where the threads' time went", "ledger", g);
	buf_done(&text);
}

static const char *scope_name(const struct wait_report *r)
{
	return r->selection.scope == WAITS_OF_TARGETS  ? "command"
	       : r->selection.scope == WAITS_OF_FILTER ? "filter"
	                                               : "all";
}

static void facts(struct document *d, const struct wait_report *r)
{
	const struct wait_account *a = &r->account;

	document_string(d, "kind", "waits");
	document_string(d, "scope", scope_name(r));
	document_int(d, "elapsed_ns", (int64_t)(r->end_ns - r->start_ns));
	document_int(d, "threads", (int64_t)a->threads);
	document_int(d, "silent_threads", (int64_t)a->silent);
	document_int(d, "waits", (int64_t)a->count);
	document_bool(d, "has_wakings", r->log->has_wakings);
	document_int(d, "wakings", (int64_t)r->log->wakings);
	document_int(d, "beyond", (int64_t)r->log->beyond);
	document_int(d, "damaged_histograms", (int64_t)r->damaged);
	document_object(d, "ledger");
	document_known(d, "wall_ns", (int64_t)a->wall_ns, a->is_closed);
	document_known(d, "oncpu_ns", (int64_t)a->oncpu_ns, a->is_closed);
	document_int(d, "runnable_ns", (int64_t)a->runnable_ns);
	document_int(d, "preempted_ns", (int64_t)a->preempted_ns);
	document_int(d, "blocked_ns", (int64_t)a->blocked_ns);
	document_known(d, "unseen_ns", (int64_t)a->unseen_ns, a->is_closed);
	document_int(d, "before_ns", (int64_t)a->before_ns);
	document_known(d, "residual_ns", residual_ns(a), a->is_closed);
	document_int(d, "named_ns", (int64_t)a->named_ns);
	document_int(d, "unnamed_ns", (int64_t)(a->blocked_ns - a->named_ns - a->unknown_ns));
	document_int(d, "unknown_ns", (int64_t)a->unknown_ns);
	document_int(d, "other_ns", (int64_t)a->other_ns);
	document_int(d, "no_stack_ns", (int64_t)a->no_stack_ns);
	document_int(d, "lost_ns", (int64_t)a->lost_ns);
	document_int(d, "no_waker_ns", (int64_t)a->no_waker_ns);
	document_end(d);
}

/* Attributes of blocked time: a wait may have several, so they are no parts of the account. */
static void note_blocked(struct section *s, uint64_t ns, const char *what)
{
	struct buf text = {0};

	text_time(&text, (int64_t)ns);
	buf_addf(&text, " of the blocked time %s.", what);
	if (ns)
		section_note(s, buf_text(&text));
	buf_done(&text);
}

static void notes(struct document *d, const struct wait_report *r)
{
	struct section *s = document_notes(d, MEDIA_READERS, "Notes", NULL);

	if (!r->account.is_closed && r->selection.scope == WAITS_OF_FILTER)
		section_note(s, "The time on the CPU is known for whole processes, and the filters "
		                "select some threads of a process.");
	else if (!r->account.is_closed)
		section_note(s, "The recording has no switch records, so the time on the CPU is "
		                "not known.");
	note_blocked(s, r->account.lost_ns, "overlaps lost records");
	note_blocked(s, r->account.no_waker_ns,
	             "has no wake-up: none was seen, or the wait lasted to the end");
	if (r->log->has_wakings)
		section_note(s,
		             "\"released by\" is the thread whose wake-up ended the wait, in the "
		             "function that it was in. A holder is only shown with evidence.");
	if (!r->view) {
		section_note(s, "A store has sums of causes: no call paths, and not what decided "
		                "the elapsed time. A wait counts when it ends; until then its time "
		                "has no releaser.");
		return;
	}
	section_note(s, "What decided the elapsed time: the path goes back from the end of the "
	                "process, through each wait to the thread that ended it. Something that "
	                "takes 10 % less time saves at most a tenth of its time there.");
	vec_each (recording, &r->view->profile->recordings)
		vec_each (note, &(*recording)->account.notes)
			section_note(s, *note);
}

static void free_path(void *path)
{
	wait_path_done(path);
	free(path);
}

/* What decided the elapsed time. */
static void add_path(struct document *d, struct wait_report *r)
{
	struct wait_path *p = xcalloc(1, sizeof(*p));

	wait_path_init(p, r);
	document_own(d, free_path, p);
	if (r->options->request.reader.program) {
		document_known(d, "path_ns", (int64_t)(p->path.to_ns - p->path.from_ns),
		               p->present);
		document_known(d, "path_beyond", (int64_t)p->path.beyond, p->present);
	}
	document_table(d, p->present ? MEDIA_ALL : MEDIA_PROGRAMS, "What decided the elapsed time",
	               "path", wait_path_rows(p));
}

void wait_document(struct document *d, struct wait_report *r)
{
	const struct report_request *q = &r->options->request;

	if (q->reader.program)
		facts(d, r);
	wait_summary(d, r);
	if (!q->reader.program)
		ledger(d, r);
	if (q->reader.program || !q->tree)
		document_table(d, MEDIA_ALL, "Waits by cause", "causes", wait_rows(r));
	if (r->view && (q->reader.program || !q->tree))
		add_path(d, r);
	if (q->tree)
		document_tree(d, MEDIA_ALL, "Call paths of waiters, with their wakers below",
		              "tree", wait_tree(r), request_limit(q, &q->reader), q->lines);
	notes(d, r);
}
