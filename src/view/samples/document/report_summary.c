/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/document/report_summary.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/account/rates.h"
#include "view/samples/flat_cell.h"
#include "view/samples/document/report_document.h"
#include "view/summary/summary.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Figures below these values are not mentioned as limits. */
#define ACCOUNT_SHARE 0.01
#define NAMELESS_SHARE 0.01
#define STACKS_SHARE 0.05
#define ENOUGH_SAMPLES 200
#define ENOUGH_NS 1000000000

/* A function with a smaller share does not decide where to look next. */
#define NEXT_SHARE 0.01
/* If waiting has at least these shares of the threads' time, it is listed as a reason. */
#define WAITING_SHARE 0.5
#define RUNNABLE_SHARE 0.2

struct report_summing {
	const struct report *report;
	struct summary *summary;
	const struct flat *reasons;
	const char *process; /* the largest process that is not idle; NULL: there is none */
};

static void recorded(const struct report *r, struct buf *out)
{
	const struct profile_event *e = report_event(r);
	const char *before = NULL;
	size_t whole;

	/* The sessions of a store have one name. */
	vec_each (rec, &r->view->profile->recordings) {
		if ((*rec)->path && (!before || strcmp(before, (*rec)->path) != 0))
			buf_addf(out, "%s%s", before ? ", " : "", (*rec)->path);
		before = (*rec)->path ? (*rec)->path : before;
	}
	buf_puts(out, out->size ? ": " : "");
	whole = out->size;
	report_whole_text(r, out);
	if (out->size > whole)
		out->data[whole] = (char)tolower((unsigned char)out->data[whole]);
	if (!e)
		return;
	buf_puts(out, ", ");
	text_counted(out, e->samples, "sample", "samples");
	buf_addf(out, " of %s", e->name);
}

static void time_part(struct report_summing *g, const char *key, const char *name, int64_t ns)
{
	uint64_t wall = g->report->account->total.wall_ns;

	summary_part(g->summary, key, name, cell_int(ns), wall ? (double)ns / (double)wall : 0);
}

static void account_parts(struct report_summing *g)
{
	const struct account_view *a = g->report->account;
	const struct account_terms *t = &a->total;

	g->summary->whole = cell_int((int64_t)t->wall_ns);
	time_part(g, "user", "user", (int64_t)t->user_ns);
	time_part(g, "kernel_exit", KERNEL_EXIT_NAME, (int64_t)t->exit_ns);
	if (a->has_kernel) {
		time_part(g, "kernel", "kernel", (int64_t)account_kernel_ns(t));
		time_part(g, "interrupts", "interrupts", (int64_t)account_irq_ns(t));
	}
	if (a->machine_wide) {
		time_part(g, "idle", "idle", (int64_t)t->idle_ns);
		time_part(g, "steal", "steal", (int64_t)t->steal_ns);
	} else {
		time_part(g, "runnable", "runnable", (int64_t)a->runnable_ns);
		time_part(g, "blocked", "blocked", (int64_t)a->blocked_ns);
		time_part(g, "unknown", "off CPU at the start", (int64_t)t->unknown_ns);
	}
	if (a->has_unobserved)
		time_part(g, "unobserved", "unobserved", t->unobserved_ns);
	time_part(g, "residual", "residual", t->residual_ns);
}

/* Without an account: the samples by the mode of the CPU. */
static void mode_parts(struct report_summing *g)
{
	static const char *const names[] = {
	        [VIEW_USER] = "user", [VIEW_KERNEL] = "kernel", [VIEW_IRQ] = "interrupts",
	        [VIEW_IDLE] = "idle", [VIEW_GUEST] = "guest",   [VIEW_UNKNOWN] = "unknown"};
	const struct report *r = g->report;
	uint64_t weights[sizeof(names) / sizeof(*names)] = {0};
	uint64_t samples[sizeof(names) / sizeof(*names)] = {0};

	vec_each (row, &r->functions->rows) {
		weights[flat_mode(r->functions, row)] += row->weight;
		samples[flat_mode(r->functions, row)] += row->samples;
	}
	g->summary->parts_label = "samples";
	g->summary->unit = &unit_count;
	g->summary->unit_name = "samples";
	g->summary->whole = cell_int((int64_t)r->selection.base_samples);
	if (r->exits) {
		weights[VIEW_USER] -= r->exits->weight;
		samples[VIEW_USER] -= r->exits->samples;
		if (r->exits->samples)
			summary_part(g->summary, "kernel_exit", KERNEL_EXIT_NAME,
			             cell_int((int64_t)r->exits->samples),
			             flat_share(r->functions, r->exits->weight, r->exits->samples));
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (samples[i])
			summary_part(g->summary, names[i], names[i], cell_int((int64_t)samples[i]),
			             flat_share(r->functions, weights[i], samples[i]));
}

/* Idle time has a part of its own. */
static double process_share(const void *model, size_t line)
{
	const struct process_line *l = &((const struct processes *)model)->names.items[line];

	bool ran = l->user_samples + l->kernel_samples > l->idle_samples;

	return ran || l->runnable_ns + l->blocked_ns ? l->share : 0;
}

static void processes(struct report_summing *g)
{
	const struct processes *p = g->report->processes;
	size_t largest[SUMMARY_REASONS];
	size_t count = summary_largest(p->names.count, process_share, p, largest);

	for (size_t i = 0; i < count; i++) {
		const struct process_line *line = &p->names.items[largest[i]];

		if (line->name != ID_NONE && !g->process)
			g->process = processes_name(p, line);
		if (count > 1)
			summary_process(g->summary, processes_name(p, line), line->share);
	}
}

static double busy_share(const void *model, size_t row)
{
	const struct flat *f = model;

	return flat_mode(f, &f->rows.items[row]) == VIEW_IDLE ? 0 : f->rows.items[row].share;
}

static char *cell_of(const struct report_summing *g, const struct flat_row *row, enum flat_key key)
{
	struct buf text = {0};
	char *copy;

	flat_cell(g->reasons, row, key, true, &text);
	copy = xstrdup(buf_text(&text));
	buf_done(&text);
	return copy;
}

struct flat *report_reasons(struct view *v, const struct selection *s)
{
	static const struct flat_request request = {
	        .keys = {FLAT_PROCESS, FLAT_IMAGE, FLAT_FUNCTION, FLAT_MODE},
	        .key_count = 4,
	        .groups = true};
	struct flat *f = flat_new(v, s, &request);
	size_t largest[SUMMARY_REASONS];
	size_t count = summary_largest(f->rows.count, busy_share, f, largest);

	flat_intervals(f, s, largest, count);
	flat_keep(f, largest, count);
	return f;
}

static void reasons(struct report_summing *g)
{
	g->summary->share_title = "of samples";
	vec_each (row, &g->reasons->rows) {
		struct summary_reason *reason = summary_reason(g->summary, row->share);

		reason->low = row->low;
		reason->high = row->high;
		reason->process = cell_of(g, row, FLAT_PROCESS);
		reason->image = cell_of(g, row, FLAT_IMAGE);
		reason->function = cell_of(g, row, FLAT_FUNCTION);
	}
}

static void account_limits(const struct report_summing *g)
{
	const struct account_view *a = g->report->account;
	const struct account_terms *t = &a->total;
	double wall = (double)t->wall_ns, share;

	if (!a->present) {
		summary_limit(g->summary, "no_account", 1, "no account of all time");
		return;
	}
	share = wall > 0 ? (double)t->residual_ns / wall : 0;
	if (fabs(share) >= ACCOUNT_SHARE)
		summary_limit(g->summary, "residual", share,
		              "the account has a residual of %.1f %%", 100 * share);
	share = wall > 0 && a->has_unobserved ? (double)t->unobserved_ns / wall : 0;
	if (fabs(share) >= ACCOUNT_SHARE)
		summary_limit(g->summary, "unobserved", share,
		              "%.1f %% of the time was not observed", 100 * share);
	if (a->ticks.throttled)
		summary_limit(g->summary, "throttled", (double)a->ticks.throttled,
		              "the kernel throttled sampling %" PRIu64 " %s", a->ticks.throttled,
		              plural(a->ticks.throttled, "time", "times"));
}

/* Functions of user code have samples that are the kernel's. */
static void exit_limits(const struct report_summing *g)
{
	const struct account_terms *t = &g->report->account->total;
	uint64_t busy = account_sampled_ns(t);
	double share = busy ? (double)t->exit_ns / (double)busy : 0;

	if (share >= ACCOUNT_SHARE)
		summary_limit(g->summary, "kernel_exit", share,
		              "%.1f %% of the busy time is the return from the kernel, at "
		              "instructions of user functions",
		              100 * share);
}

static void recording_limits(const struct report_summing *g)
{
	const struct report *r = g->report;
	uint64_t slowest_ns, slowed = 0, lost = r->observer.lost;
	struct buf text = {0};

	vec_each (rec, &r->view->profile->recordings) {
		slowed += rates_slowed(*rec, &slowest_ns);
		buf_clear(&text);
		if (report_document_calibration(*rec, &text))
			summary_limit(g->summary, "slowdown",
			              (double)(*rec)->account.calibration.slowdown_ppm / 1e6, "%s",
			              buf_text(&text));
		if ((*rec)->truncated)
			summary_limit(g->summary, "truncated", 1, "the file was cut short");
	}
	if (lost)
		summary_limit_count(g->summary, "lost_records", lost, "record was lost",
		                    "records were lost");
	if (slowed)
		summary_limit(g->summary, "slowed", (double)slowed,
		              "sampling was slowed %" PRIu64 " %s", slowed,
		              plural(slowed, "time", "times"));
	buf_done(&text);
}

static void sample_limits(const struct report_summing *g)
{
	const struct report *r = g->report;
	uint64_t busy = 0, nameless = 0, weight = 0;
	struct buf text = {0};
	double share;

	vec_each (row, &r->functions->rows) {
		if (flat_mode(r->functions, row) == VIEW_IDLE)
			continue;
		busy += row->samples;
		if (row->frame != ID_NONE && view_function(r->view, row->frame)->named)
			continue;
		nameless += row->samples;
		weight += row->weight;
	}
	if (busy < ENOUGH_SAMPLES) {
		if (busy)
			text_counted(&text, busy, "sample", "samples");
		summary_limit(g->summary, "few_samples", (double)busy, "%s%s of running code",
		              busy ? "only " : "no samples", buf_text(&text));
	}
	buf_clear(&text);
	text_time(&text, (int64_t)r->elapsed_ns);
	if (busy && r->elapsed_ns && r->elapsed_ns < ENOUGH_NS)
		summary_limit(g->summary, "short", (double)r->elapsed_ns, "a short recording (%s)",
		              buf_text(&text));
	share = flat_share(r->functions, weight, nameless);
	if (share >= NAMELESS_SHARE)
		summary_limit(g->summary, "no_symbols", share, "%.1f %% is in code without symbols",
		              100 * share);
	buf_done(&text);
}

static void stack_limits(const struct report_summing *g)
{
	const struct stacks *s = &g->report->stacks;
	const struct profile_event *e = report_event(g->report);
	uint64_t bad = s->quality_samples[STACK_QUALITY_TRUNCATED] +
	               s->quality_samples[STACK_QUALITY_BROKEN];
	double share = s->samples ? (double)bad / (double)s->samples : 0;

	if (e && !e->callchain)
		summary_limit(g->summary, "no_call_chains", 1, "no call chains were recorded");
	if (!g->report->account->has_kernel)
		summary_limit(g->summary, "no_kernel", 1, "the kernel was not sampled");
	if (share >= STACKS_SHARE)
		summary_limit(g->summary, "incomplete_stacks", share,
		              "%.1f %% of the call chains are incomplete", 100 * share);
}

static void limits(const struct report_summing *g)
{
	size_t remarks = g->report->warnings.count;

	sample_limits(g);
	recording_limits(g);
	account_limits(g);
	exit_limits(g);
	stack_limits(g);
	if (remarks)
		summary_limit(g->summary, "remarks", (double)remarks,
		              "%zu %s under \"What could not be seen\"", remarks,
		              plural(remarks, "remark", "remarks"));
}

/* The code after the last symbol of a stripped file has no known end. */
static bool has_code(const struct symbol *function)
{
	return function->named && (function->size || !function->range);
}

/* A function of a file that can be disassembled. */
static const struct summary_reason *in_a_file(const struct report_summing *g)
{
	const struct profile *p = g->report->view->profile;

	for (size_t i = 0; i < g->reasons->rows.count; i++) {
		const struct flat_row *row = &g->reasons->rows.items[i];
		uint32_t image = row->frame == ID_NONE ? IMAGE_ID_UNKNOWN
		                                       : p->frames.items[row->frame].frame.image;

		if (row->share >= NEXT_SHARE && flat_mode(g->reasons, row) == VIEW_USER &&
		    has_code(view_function(g->report->view, row->frame)) &&
		    *image_path(&p->images, image) == '/')
			return &g->summary->reasons.items[i];
	}
	return NULL;
}

/* The share of the threads' lifetime in that state; 0 for the whole machine. */
static double waiting_share(const struct report *r, uint64_t ns)
{
	const struct account_view *a = r->account;

	return a->present && !a->machine_wide && a->total.wall_ns
	               ? (double)ns / (double)a->total.wall_ns
	               : 0;
}

static void next_for_waiting(const struct report_summing *g)
{
	const struct report *r = g->report;
	const struct account_view *a = r->account;

	if (r->off_cpu && waiting_share(r, a->runnable_ns + a->blocked_ns) > WAITING_SHARE)
		summary_next(g->summary, "report --sort process,function", NULL,
		             "where the threads waited");
	else if (waiting_share(r, a->blocked_ns) > WAITING_SHARE)
		summary_elsewhere(g->summary, "record -g --off-cpu -- COMMAND",
		                  "also where the threads wait");
	if (waiting_share(r, a->runnable_ns) > RUNNABLE_SHARE)
		summary_elsewhere(g->summary, "record -a -- COMMAND",
		                  "which programs used the CPUs while it ran");
}

static void next(const struct report_summing *g)
{
	const struct report *r = g->report;
	const struct profile_event *e = report_event(r);
	const struct summary_reason *code = in_a_file(g);

	if (!r->selection.samples && !r->selection.waits.count)
		summary_elsewhere(g->summary, "doctor", "what this machine allows to record");
	if (e && e->callchain && g->process)
		summary_next(g->summary, "report -g --comm", g->process, "the call tree of %s",
		             g->process);
	if (code)
		summary_next(g->summary, "annotate", code->function, "its instructions and lines");
	next_for_waiting(g);
	if (g->summary->reader->brief)
		summary_next(g->summary, "report --full", NULL, "the account and all tables");
}

void report_summary(struct document *d, const struct report *r,
                    const struct document_reader *reader)
{
	struct flat *made = r->reasons ? NULL : report_reasons(r->view, &r->selection);
	struct report_summing g = {.report = r, .reasons = made ? made : r->reasons};
	struct summary s;

	summary_init(&s, reader, &unit_time, "ns");
	g.summary = &s;
	recorded(r, &s.recorded);
	if (r->account->present)
		account_parts(&g);
	else
		mode_parts(&g);
	processes(&g);
	reasons(&g);
	limits(&g);
	next(&g);
	summary_write(&s, d);
	summary_done(&s);
	flat_free(made);
}
