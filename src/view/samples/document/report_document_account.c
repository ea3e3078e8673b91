/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of all time: as tables for readers, as an object for programs. */
#include "view/samples/document/report_document.h"

#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/document/grid.h"

#include <inttypes.h>
#include <stdio.h>

#define CPUS_SHOWN 8
/* In the table of CPUs; left out if there is no such time. */
#define RETURN_COLUMN 2

static double of(const struct account_terms *t, int64_t ns)
{
	return t->wall_ns ? (double)ns / (double)t->wall_ns : 0;
}

static void term(struct grid *g, const struct account_view *a, enum row_kind kind, const char *name,
                 int64_t ns)
{
	grid_row(g, kind);
	grid_add(g, cell_text(name));
	grid_add(g, cell_int(ns));
	grid_add(g, cell_real(of(&a->total, ns)));
}

/* A part of a term; only printed if it is not zero. */
static void part(struct grid *g, const struct account_view *a, const char *name, uint64_t ns)
{
	if (ns)
		term(g, a, ROW_PART, name, (int64_t)ns);
}

static void missing(struct grid *g, const char *name, const char *why)
{
	grid_row(g, ROW_ITEM);
	grid_add(g, cell_text(name));
	grid_add(g, cell_text(why));
}

/* The kernel's part of it is an estimate. */
static void kernel_exit(struct grid *g, const struct account_view *a, enum row_kind kind,
                        const char *name, const char *of_kernel)
{
	if (!a->total.exit_ns)
		return;
	term(g, a, kind, name, (int64_t)a->total.exit_ns);
	part(g, a, of_kernel, (uint64_t)a->exit.mean);
}

static void sampled_terms(struct grid *g, const struct account_view *a)
{
	const struct account_terms *s = &a->total;

	term(g, a, ROW_ITEM, "user", (int64_t)s->user_ns);
	kernel_exit(g, a, ROW_ITEM, KERNEL_EXIT_NAME, "  estimated kernel time");
	if (!a->has_kernel) {
		missing(g, "kernel", "missing");
		return;
	}
	term(g, a, ROW_ITEM, "kernel", (int64_t)account_kernel_ns(s));
	if (!a->has_split)
		return;
	part(g, a, "  syscalls", s->syscalls_ns);
	part(g, a, "  faults", s->faults_ns);
	part(g, a, "  kernel threads", s->threads_ns);
	part(g, a, "  other", s->other_ns);
	term(g, a, ROW_ITEM, "interrupts", (int64_t)account_irq_ns(s));
	part(g, a, "  hard", s->hardirq_ns);
	part(g, a, "  softirqs", s->softirq_ns);
}

static void unobserved(struct grid *g, const struct account_view *a)
{
	if (a->has_unobserved)
		term(g, a, ROW_ITEM, "unobserved", a->total.unobserved_ns);
	else
		missing(g, "unobserved", "missing");
	part(g, a, "  lost", a->total.lost_ns);
}

static struct grid *term_grid(const char *unit_title, const struct unit *unit)
{
	const struct grid_column columns[] = {
	        {"", &unit_text, false}, {unit_title, unit, false}, {"share", &unit_share, true}};

	return grid_new(columns, sizeof(columns) / sizeof(*columns));
}

static void total(struct grid *g, const struct account_view *a, const char *name)
{
	term(g, a, ROW_ITEM, "residual", a->total.residual_ns);
	grid_row(g, ROW_TOTAL);
	grid_add(g, cell_text(name));
	grid_add(g, cell_int((int64_t)a->total.wall_ns));
	grid_add(g, cell_real(1));
}

static void machine(struct report_writing *w, const struct account_view *a)
{
	struct grid *g = term_grid("time", &unit_time);
	char name[64] = "wall of all CPUs";
	uint64_t cpus;

	sampled_terms(g, a);
	term(g, a, ROW_ITEM, "idle", (int64_t)a->total.idle_ns);
	part(g, a, "  interrupts in it", a->total.idle_irq_ns);
	if (a->has_steal)
		term(g, a, ROW_ITEM, "steal", (int64_t)a->total.steal_ns);
	unobserved(g, a);
	if (report_machines(w->report->view->profile, 0, &cpus) < 2)
		snprintf(name, sizeof(name), "wall x %" PRIu32 " %s", a->cpus,
		         plural(a->cpus, "CPU", "CPUs"));
	total(g, a, name);
	document_grid(w->document, "Where the time went", "ledger", g);
}

static void cpu_cells(struct grid *g, const struct account_view *a, const struct account_terms *s)
{
	grid_add(g, cell_real(of(s, (int64_t)s->user_ns)));
	if (a->total.exit_ns)
		grid_add(g, cell_real(of(s, (int64_t)s->exit_ns)));
	grid_add(g, cell_real(of(s, (int64_t)account_kernel_ns(s))));
	grid_add(g, cell_real(of(s, (int64_t)account_irq_ns(s))));
	grid_add(g, cell_real(of(s, (int64_t)s->idle_ns)));
	grid_add(g, cell_real(of(s, (int64_t)s->steal_ns)));
	if (a->has_unobserved)
		grid_add(g, cell_real(of(s, s->unobserved_ns)));
	else
		grid_add(g, cell_text("-"));
	grid_add(g, cell_real(of(s, s->residual_ns)));
}

static void per_cpu(struct report_writing *w, const struct account_view *a)
{
	static const struct grid_column columns[] = {
	        {"CPU", &unit_count, false},     {"user", &unit_share, false},
	        {"return", &unit_share, false},  {"kernel", &unit_share, false},
	        {"irq", &unit_share, false},     {"idle", &unit_share, false},
	        {"steal", &unit_share, false},   {"unobserved", &unit_share, false},
	        {"residual", &unit_share, false}};
	struct grid_column shown[sizeof(columns) / sizeof(*columns)];
	size_t count = 0;
	struct grid *g;

	if (a->lines.count < 2)
		return;
	if (!w->reader->wide && a->lines.count > CPUS_SHOWN) {
		buf_addf(&w->text, "(--wide lists the %zu CPUs)", a->lines.count);
		document_text(w->document, NULL, buf_text(&w->text));
		buf_clear(&w->text);
		return;
	}
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (i != RETURN_COLUMN || a->total.exit_ns)
			shown[count++] = columns[i];
	g = grid_new(shown, count);
	vec_each (l, &a->lines) {
		grid_row(g, ROW_ITEM);
		grid_add(g, cell_int(l->cpu));
		cpu_cells(g, a, &l->terms);
	}
	grid_row(g, ROW_TOTAL);
	grid_add(g, cell_text("all"));
	cpu_cells(g, a, &a->total);
	document_grid(w->document, "", "cpus", g);
}

static void process(struct report_writing *w, const struct account_view *a)
{
	struct grid *g = term_grid("time", &unit_time);
	char name[64];

	term(g, a, ROW_ITEM, "on CPU", (int64_t)a->oncpu_ns);
	part(g, a, "  user", a->total.user_ns);
	kernel_exit(g, a, ROW_PART, "  " KERNEL_EXIT_NAME, "    estimated kernel time");
	if (a->has_kernel)
		part(g, a, "  kernel", account_kernel_ns(&a->total));
	else
		missing(g, "  kernel", "missing");
	part(g, a, "    syscalls", a->has_split ? a->total.syscalls_ns : 0);
	part(g, a, "    faults", a->has_split ? a->total.faults_ns : 0);
	part(g, a, "    other", a->has_split ? a->total.other_ns + a->total.threads_ns : 0);
	part(g, a, "  interrupts during it", account_irq_ns(&a->total));
	if (a->has_unobserved)
		term(g, a, ROW_PART, "  unobserved", a->total.unobserved_ns);
	term(g, a, ROW_ITEM, "runnable", (int64_t)a->runnable_ns);
	term(g, a, ROW_ITEM, "blocked", (int64_t)a->blocked_ns);
	if (a->total.unknown_ns)
		term(g, a, ROW_ITEM, "off CPU at the start", (int64_t)a->total.unknown_ns);
	snprintf(name, sizeof(name), "lifetime of %" PRIu32 " %s", a->threads,
	         plural(a->threads, "thread", "threads"));
	total(g, a, name);
	if (a->counted_oncpu_ns)
		term(g, a, ROW_PART, "on CPU by switch records", (int64_t)a->switched_oncpu_ns);
	document_grid(w->document, "Where the time went", "ledger", g);
}

static void ticks(struct report_writing *w, const struct account_view *a)
{
	const struct account_ticks *k = &a->ticks;
	struct {
		const char *name;
		uint64_t count;
	} parts[] = {{"user", k->seen.user},
	             {"kernel", k->seen.kernel},
	             {"interrupts", k->seen.irq},
	             {"idle", k->seen.idle},
	             {"missing in busy time", k->missing_busy},
	             {"missing in idle time", k->missing_idle},
	             {"lost", k->lost}};

	text_count(&w->text, k->seen.all);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].count)
			continue;
		buf_puts(&w->text, i ? ", " : ": ");
		text_count(&w->text, parts[i].count);
		buf_addf(&w->text, " %s", parts[i].name);
	}
	if (a->total.chance_ns > 0 && a->total.wall_ns) {
		buf_puts(&w->text, "; a residual of up to ");
		unit_text_add(&unit_share, cell_real(a->total.chance_ns / (double)a->total.wall_ns),
		              &w->text);
		buf_puts(&w->text, " is expected");
	}
	document_text(w->document, "ticks", buf_text(&w->text));
	buf_clear(&w->text);
}

static void kernel_exits(struct report_writing *w, const struct account_view *a)
{
	if (!a->total.exit_ns && !a->exit_chained_ns)
		return;
	if (a->total.exit_ns) {
		text_time(&w->text, (int64_t)a->total.exit_ns);
		buf_puts(&w->text, " at the first instruction after a system call, since the timer "
		                   "waits while the kernel returns; an estimated ");
		text_time(&w->text, (int64_t)a->exit.mean);
		buf_puts(&w->text, " (");
		text_time(&w->text, (int64_t)a->exit.low);
		buf_puts(&w->text, " to ");
		text_time(&w->text, (int64_t)a->exit.high);
		buf_puts(&w->text, ") of it is kernel time");
	}
	if (a->exit_chained_ns) {
		buf_puts(&w->text, w->text.size ? "; up to " : "up to ");
		text_time(&w->text, (int64_t)a->exit_chained_ns);
		buf_puts(&w->text, " of the user time, at instructions that faulted, is the return "
		                   "of the kernel from the faults");
	}
	document_text(w->document, "return", buf_text(&w->text));
	buf_clear(&w->text);
}

static void count_row(struct grid *g, enum row_kind kind, const char *name, uint64_t count,
                      uint64_t all)
{
	double share = all ? (double)count / (double)all : 0;

	grid_row(g, kind);
	grid_add(g, cell_text(name));
	grid_add(g, cell_int((int64_t)count));
	grid_add(g, cell_real(share));
}

/* Event counts of the whole machine, if the event does not count time and there are no switch
 * records. */
static void counts(struct report_writing *w, const struct account_view *a)
{
	const struct account_modes *m = &a->events;
	const struct profile *p = w->report->view->profile;
	uint8_t event = profile_clock_event(p);
	struct grid *g =
	        term_grid(event < p->events.count ? p->events.items[event].name : "", &unit_count);

	count_row(g, ROW_ITEM, "user", m->user, m->all);
	if (a->has_kernel) {
		count_row(g, ROW_ITEM, "kernel", m->kernel, m->all);
		if (a->has_split)
			count_row(g, ROW_ITEM, "interrupts", m->irq, m->all);
	} else {
		missing(g, "kernel", "missing");
	}
	count_row(g, ROW_ITEM, "idle", m->idle, m->all);
	count_row(g, ROW_TOTAL, "all", m->all, m->all);
	document_grid(w->document, "Where the events went", "ledger", g);
}

void report_document_account(struct report_writing *w)
{
	const struct account_view *a = w->report->account;

	if (a->counted)
		counts(w, a);
	if (!a->present)
		return;
	if (a->machine_wide) {
		machine(w, a);
		per_cpu(w, a);
	} else {
		process(w, a);
	}
	kernel_exits(w, a);
	ticks(w, a);
}

/* The ledger for programs. */

static void terms_facts(struct document *d, const struct account_view *a,
                        const struct account_terms *t)
{
	bool timed = account_is_timed(a);

	document_known(d, "user_ns", t->user_ns, timed);
	document_known(d, "kernel_exit_ns", t->exit_ns, timed);
	document_known(d, "kernel_ns", account_kernel_ns(t), timed && a->has_kernel);
	document_known(d, "irq_ns", account_irq_ns(t), timed && a->has_kernel);
	document_known(d, "idle_ns", t->idle_ns, a->present);
	document_known(d, "steal_ns", t->steal_ns, a->present);
	document_known(d, "unobserved_ns", t->unobserved_ns, a->present && a->has_unobserved);
	document_known(d, "residual_ns", t->residual_ns, a->present);
	document_known(d, "residual_expected_ns", (int64_t)t->chance_ns, t->chance_ns > 0);
}

/* Counts of an event that does not measure time. */
static void modes_facts(struct document *d, const struct account_view *a,
                        const struct account_modes *m)
{
	if (!a->counted) {
		document_null(d, "events");
		return;
	}
	document_object(d, "events");
	document_int(d, "user", m->user);
	document_known(d, "kernel", m->kernel, a->has_kernel);
	document_known(d, "irq", m->irq, a->has_kernel);
	document_int(d, "idle", m->idle);
	document_int(d, "all", m->all);
	document_end(d);
}

static void exit_facts(struct document *d, const struct account_view *a)
{
	if (!account_is_timed(a)) {
		document_null(d, "kernel_exit");
		return;
	}
	document_object(d, "kernel_exit");
	document_int(d, "ns", (int64_t)a->exit.mean);
	document_int(d, "low_ns", (int64_t)a->exit.low);
	document_int(d, "high_ns", (int64_t)a->exit.high);
	document_int(d, "after_faults_ns", a->exit_chained_ns);
	document_end(d);
}

static void split_facts(struct document *d, const struct account_view *a)
{
	const struct account_terms *t = &a->total;
	bool has_split = a->has_split && account_is_timed(a);

	if (has_split) {
		document_object(d, "kernel_split");
		document_int(d, "syscalls_ns", t->syscalls_ns);
		document_int(d, "faults_ns", t->faults_ns);
		document_int(d, "threads_ns", t->threads_ns);
		document_int(d, "other_ns", t->other_ns);
		document_end(d);
	} else {
		document_null(d, "kernel_split");
	}
	if (has_split) {
		document_object(d, "interrupt_split");
		document_int(d, "hard_ns", t->hardirq_ns);
		document_int(d, "softirq_ns", t->softirq_ns);
		document_int(d, "in_idle_ns", t->idle_irq_ns);
		document_end(d);
	} else {
		document_null(d, "interrupt_split");
	}
}

static void ticks_facts(struct document *d, const struct account_ticks *k)
{
	document_object(d, "ticks");
	document_int(d, "user", k->seen.user);
	document_int(d, "kernel", k->seen.kernel);
	document_int(d, "irq", k->seen.irq);
	document_int(d, "idle", k->seen.idle);
	document_int(d, "all", k->seen.all);
	document_int(d, "due", k->due);
	document_int(d, "missing", k->missing_busy + k->missing_idle);
	document_int(d, "missing_busy", k->missing_busy);
	document_int(d, "missing_idle", k->missing_idle);
	document_int(d, "lost", k->lost);
	document_int(d, "throttled", k->throttled);
	document_end(d);
}

static void per_cpu_facts(struct document *d, const struct account_view *a)
{
	document_array(d, "per_cpu");
	vec_each (line, &a->lines) {
		document_object(d, NULL);
		document_int(d, "cpu", line->cpu);
		document_known(d, "wall_ns", line->terms.wall_ns, line->terms.wall_ns);
		terms_facts(d, a, &line->terms);
		modes_facts(d, a, &line->events);
		document_end(d);
	}
	document_end(d);
}

static void of_process_facts(struct document *d, const struct account_view *a)
{
	document_int(d, "threads", a->threads);
	document_int(d, "thread_wall_ns", a->total.wall_ns);
	document_int(d, "oncpu_ns", a->oncpu_ns);
	document_int(d, "runnable_ns", a->runnable_ns);
	document_int(d, "blocked_ns", a->blocked_ns);
	document_known(d, "counted_oncpu_ns", a->counted_oncpu_ns, a->counted_oncpu_ns);
	document_int(d, "switches", a->switches);
	document_int(d, "switched_oncpu_ns", a->switched_oncpu_ns);
}

void report_document_ledger(struct report_writing *w)
{
	const struct report *r = w->report;
	struct document *d = w->document;
	const struct account_view *a = r->account;

	document_object(d, "ledger");
	document_string(d, "scope", a->machine_wide ? "machine" : "process");
	document_bool(d, "closed", a->present);
	document_known(d, "wall_ns", a->wall_ns, a->wall_ns);
	document_int(d, "cpus", a->cpus);
	document_known(d, "elapsed_ns", r->elapsed_ns, r->elapsed_ns);
	terms_facts(d, a, &a->total);
	modes_facts(d, a, &a->events);
	document_known(d, "unknown_ns", a->total.unknown_ns, a->present);
	document_known(d, "lost_ns", a->total.lost_ns, a->present);
	document_known(d, "steal_measured_ns", a->total.steal_measured_ns, a->has_steal);
	split_facts(d, a);
	ticks_facts(d, &a->ticks);
	if (a->machine_wide)
		per_cpu_facts(d, a);
	else
		of_process_facts(d, a);
	document_array(d, "remarks");
	vec_each (text, &a->remarks)
		document_string(d, NULL, *text);
	document_end(d);
	document_end(d);
	exit_facts(d, a);
}
