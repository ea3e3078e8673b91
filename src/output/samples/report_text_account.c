/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/report_text.h"

#include "base/text/plural.h"

#include <inttypes.h>
#include <stdio.h>

#define CPUS_SHOWN 8

static double of(const struct account_terms *t, int64_t ns)
{
	return t->wall_ns ? (double)ns / (double)t->wall_ns : 0;
}

static void term(struct table *t, const struct account_view *a, enum table_kind kind,
                 const char *name, int64_t ns)
{
	table_row(t, kind);
	table_text(t, name);
	table_time(t, ns);
	table_share(t, of(&a->total, ns));
	table_bar(t, of(&a->total, ns));
}

/* A part of a term; only printed if it is not zero. */
static void part(struct table *t, const struct account_view *a, const char *name, uint64_t ns)
{
	if (ns)
		term(t, a, TABLE_REST, name, (int64_t)ns);
}

static void missing(struct table *t, const char *name, const char *why)
{
	table_row(t, TABLE_ROW);
	table_text(t, name);
	table_text(t, why);
}

static void sampled_terms(struct table *t, const struct account_view *a)
{
	const struct account_terms *s = &a->total;

	term(t, a, TABLE_ROW, "user", (int64_t)s->user_ns);
	if (!a->has_kernel) {
		missing(t, "kernel", "missing");
		return;
	}
	term(t, a, TABLE_ROW, "kernel", (int64_t)account_kernel_ns(s));
	if (!a->has_split)
		return;
	part(t, a, "  syscalls", s->syscalls_ns);
	part(t, a, "  faults", s->faults_ns);
	part(t, a, "  kernel threads", s->threads_ns);
	part(t, a, "  other", s->other_ns);
	term(t, a, TABLE_ROW, "interrupts", (int64_t)account_irq_ns(s));
	part(t, a, "  hard", s->hardirq_ns);
	part(t, a, "  softirqs", s->softirq_ns);
}

static void unobserved(struct table *t, const struct account_view *a)
{
	if (a->has_unobserved)
		term(t, a, TABLE_ROW, "unobserved", a->total.unobserved_ns);
	else
		missing(t, "unobserved", "missing");
	part(t, a, "  lost", a->total.lost_ns);
}

static void columns(struct table *t)
{
	table_column(t, "", TABLE_LEFT);
	table_column(t, "time", TABLE_RIGHT);
	table_column(t, "share", TABLE_RIGHT);
	table_column(t, "", TABLE_BAR);
}

static void total(struct table *t, const struct account_view *a, const char *name)
{
	term(t, a, TABLE_ROW, "residual", a->total.residual_ns);
	table_row(t, TABLE_TOTAL);
	table_text(t, name);
	table_time(t, (int64_t)a->total.wall_ns);
	table_share(t, 1);
}

static void machine(const struct account_view *a, const struct report_text_options *o,
                    struct buf *out)
{
	struct table t;
	char name[64];

	table_init(&t, &o->style);
	columns(&t);
	sampled_terms(&t, a);
	term(&t, a, TABLE_ROW, "idle", (int64_t)a->total.idle_ns);
	part(&t, a, "  interrupts in it", a->total.idle_irq_ns);
	if (a->has_steal)
		term(&t, a, TABLE_ROW, "steal", (int64_t)a->total.steal_ns);
	unobserved(&t, a);
	snprintf(name, sizeof(name), "wall x %" PRIu32 " %s", a->cpus,
	         plural(a->cpus, "CPU", "CPUs"));
	total(&t, a, name);
	table_print(&t, out);
	table_done(&t);
}

static void cpu_row(struct table *t, const struct account_view *a, const struct account_terms *s,
                    const char *name)
{
	table_text(t, name);
	table_share(t, of(s, (int64_t)s->user_ns));
	table_share(t, of(s, (int64_t)account_kernel_ns(s)));
	table_share(t, of(s, (int64_t)account_irq_ns(s)));
	table_share(t, of(s, (int64_t)s->idle_ns));
	table_share(t, of(s, (int64_t)s->steal_ns));
	if (a->has_unobserved)
		table_share(t, of(s, s->unobserved_ns));
	else
		table_text(t, "-");
	table_share(t, of(s, s->residual_ns));
}

static void per_cpu(const struct account_view *a, const struct report_text_options *o,
                    struct buf *out)
{
	static const char *const titles[] = {"user",  "kernel",     "irq",     "idle",
	                                     "steal", "unobserved", "residual"};
	size_t shown = o->wide || a->lines.count <= CPUS_SHOWN ? a->lines.count : 0;
	struct table t;
	char name[32];

	if (a->lines.count < 2)
		return;
	if (!shown) {
		buf_addf(out, "(--wide lists the %zu CPUs)\n", a->lines.count);
		return;
	}
	buf_putc(out, '\n');
	table_init(&t, &o->style);
	table_column(&t, "CPU", TABLE_RIGHT);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_column(&t, titles[i], TABLE_RIGHT);
	vec_each (l, &a->lines) {
		table_row(&t, TABLE_ROW);
		snprintf(name, sizeof(name), "%" PRIu32, l->cpu);
		cpu_row(&t, a, &l->terms, name);
	}
	table_row(&t, TABLE_TOTAL);
	cpu_row(&t, a, &a->total, "all");
	table_print(&t, out);
	table_done(&t);
}

static void process(const struct account_view *a, const struct report_text_options *o,
                    struct buf *out)
{
	struct table t;
	char name[64];

	table_init(&t, &o->style);
	columns(&t);
	term(&t, a, TABLE_ROW, "on CPU", (int64_t)a->oncpu_ns);
	part(&t, a, "  user", a->total.user_ns);
	if (a->has_kernel)
		part(&t, a, "  kernel", account_kernel_ns(&a->total));
	else
		missing(&t, "  kernel", "missing");
	part(&t, a, "    syscalls", a->has_split ? a->total.syscalls_ns : 0);
	part(&t, a, "    faults", a->has_split ? a->total.faults_ns : 0);
	part(&t, a, "    other", a->has_split ? a->total.other_ns + a->total.threads_ns : 0);
	part(&t, a, "  interrupts during it", account_irq_ns(&a->total));
	if (a->has_unobserved)
		term(&t, a, TABLE_REST, "  unobserved", a->total.unobserved_ns);
	term(&t, a, TABLE_ROW, "runnable", (int64_t)a->runnable_ns);
	term(&t, a, TABLE_ROW, "blocked", (int64_t)a->blocked_ns);
	snprintf(name, sizeof(name), "lifetime of %" PRIu32 " %s", a->threads,
	         plural(a->threads, "thread", "threads"));
	total(&t, a, name);
	if (a->counted_oncpu_ns)
		term(&t, a, TABLE_REST, "on CPU by the kernel's counter",
		     (int64_t)a->counted_oncpu_ns);
	table_print(&t, out);
	table_done(&t);
}

static void ticks(const struct account_view *a, const struct report_text_options *o,
                  struct buf *out)
{
	const struct account_ticks *k = &a->ticks;
	struct buf text = {0};
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

	text_count(&text, k->seen.all);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].count)
			continue;
		buf_puts(&text, i && text.size ? ", " : ": ");
		text_count(&text, parts[i].count);
		buf_addf(&text, " %s", parts[i].name);
	}
	buf_putc(out, '\n');
	text_fill(out, &o->style, "ticks", 7, buf_text(&text));
	buf_done(&text);
}

static void count_row(struct table *t, enum table_kind kind, const char *name, uint64_t count,
                      uint64_t all)
{
	double share = all ? (double)count / (double)all : 0;

	table_row(t, kind);
	table_text(t, name);
	table_count(t, count);
	table_share(t, share);
	if (kind != TABLE_TOTAL)
		table_bar(t, share);
}

/* Event counts of the whole machine, if the event does not count time and there are no switch
 * records. */
static void counts(const struct report *r, const struct report_text_options *o, struct buf *out)
{
	const struct account_modes *m = &r->account->events;
	const struct profile *p = r->view->profile;
	uint8_t event = profile_clock_event(p);
	struct table t;

	text_heading(out, &o->style, "Where the events went");
	table_init(&t, &o->style);
	table_column(&t, "", TABLE_LEFT);
	table_column(&t, event < p->events.count ? p->events.items[event].name : "", TABLE_RIGHT);
	table_column(&t, "share", TABLE_RIGHT);
	table_column(&t, "", TABLE_BAR);
	count_row(&t, TABLE_ROW, "user", m->user, m->all);
	if (r->account->has_kernel) {
		count_row(&t, TABLE_ROW, "kernel", m->kernel, m->all);
		if (r->account->has_split)
			count_row(&t, TABLE_ROW, "interrupts", m->irq, m->all);
	} else {
		missing(&t, "kernel", "missing");
	}
	count_row(&t, TABLE_ROW, "idle", m->idle, m->all);
	count_row(&t, TABLE_TOTAL, "all", m->all, m->all);
	table_print(&t, out);
	table_done(&t);
}

void report_text_account(const struct report *r, const struct report_text_options *o,
                         struct buf *out)
{
	const struct account_view *a = r->account;

	if (a->counted)
		counts(r, o, out);
	if (!a->present)
		return;
	text_heading(out, &o->style, "Where the time went");
	if (a->machine_wide) {
		machine(a, o, out);
		per_cpu(a, o, out);
	} else {
		process(a, o, out);
	}
	ticks(a, o, out);
}
