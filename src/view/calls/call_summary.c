/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_summary.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/calls/call_check.h"
#include "view/summary/summary.h"

#include <inttypes.h>
#include <math.h>

/* A figure is a limit if its share is at least this. */
#define OWN_SHARE 0.1
/* If counting costs at least this share, the summary names functions with many short calls: at
 * least this share of all calls, and at most this long. */
#define SHORT_OWN_SHARE 0.3
#define SHORT_SHARE 0.05
#define SHORT_NS 20
#define RESIDUAL_SHARE 0.01
/* From this share of net on, the functions whose nets are not known are a limit. */
#define UNKNOWN_SHARE 0.05

struct call_summing {
	const struct call_document *document;
	struct summary *summary;
	double *net;                  /* per function, over all processes */
	struct call_sampled *sampled; /* likewise */
	double all_ns;                /* sum of net */
	uint64_t calls;               /* of all functions */
	double sample_ns;             /* the largest value of all processes */
};

/* The error of a function's net, and its calls. */
struct call_sampled {
	double error_ns;
	uint64_t samples, calls;
	bool is_sampled;
};

static const struct call_report *report_of(const struct call_summing *g)
{
	return g->document->report;
}

static void recorded(const struct call_summing *g, struct buf *out)
{
	const struct call_report *r = report_of(g);
	uint64_t calls = 0;

	vec_each (p, &g->document->processes)
		calls += call_process_calls(*p);
	if (g->document->processes.count == 1) {
		const struct call_process *p = g->document->processes.items[0];

		buf_addf(out, "%s (pid %" PRId32 "), ",
		         intern_text(&r->paths->images.names, p->name), p->pid);
		text_fine_time(out, p->wall_ns);
		buf_puts(out, ": ");
	} else {
		buf_addf(out, "%zu processes: ", g->document->processes.count);
	}
	text_counted(out, calls, "counted call", "counted calls");
}

static void sum_functions(struct call_summing *g)
{
	size_t count = report_of(g)->paths->functions.count;

	g->net = xcalloc(count + 1, sizeof(*g->net));
	g->sampled = xcalloc(count + 1, sizeof(*g->sampled));
	vec_each (p, &g->document->processes)
		vec_each (path, &(*p)->paths) {
			g->net[path->function] += path->net_ns;
			g->sampled[path->function].error_ns += path->net_error_ns;
			g->sampled[path->function].samples += path->samples;
			g->sampled[path->function].calls += path->calls;
			g->calls += path->calls;
			g->sampled[path->function].is_sampled |= path->is_sampled;
			g->sample_ns = fmax(g->sample_ns, (*p)->sample_ns);
			g->all_ns += path->net_ns;
		}
}

static bool is_function(const struct call_summing *g, size_t function)
{
	return report_of(g)->paths->functions.items[function].kind == CALL_FUNCTION;
}

static double error_of(const struct call_summing *g, size_t function)
{
	const struct call_sampled *s = &g->sampled[function];

	return call_error_ns(s->error_ns, s->is_sampled, s->samples, g->sample_ns);
}

/* 0: another kind of function, or its net is not known. */
static double function_net(const void *model, size_t function)
{
	const struct call_summing *g = model;

	return is_function(g, function) && error_of(g, function) <= g->net[function]
	               ? g->net[function]
	               : 0;
}

static void part(struct call_summing *g, const char *key, const char *name, double ns)
{
	summary_part(g->summary, key, name, cell_real(ns),
	             call_check_share(ns, cell_number(g->summary->whole)));
}

static struct call_check checks(const struct call_summing *g)
{
	struct call_check sum = {.cpu_ns = 0};

	vec_each (p, &g->document->processes) {
		struct call_check b = call_check_of(*p);

		/* Without figures of threads, net and own cost are all that is known. */
		sum.net_ns += call_check_net_ns(*p);
		sum.own_ns += (*p)->threads.count ? b.own_ns : (*p)->own_ns;
		sum.blocked_ns += b.blocked_ns;
		sum.preempted_ns += b.preempted_ns;
		sum.tail_ns += b.tail_ns;
		sum.wall_ns +=
		        (*p)->threads.count ? b.wall_ns : call_check_net_ns(*p) + (*p)->own_ns;
		sum.wall_residual_ns += b.wall_residual_ns;
		if (isnan(b.cpu_ns))
			continue;
		sum.cpu_ns += b.cpu_ns;
		sum.cpu_residual_ns += b.cpu_residual_ns;
	}
	return sum;
}

/* The parts add up to the wall time of all threads. */
static void parts(struct call_summing *g, const struct call_check *b)
{
	double outside = 0;

	for (size_t f = 0; f < report_of(g)->paths->functions.count; f++)
		outside += is_function(g, f) ? 0 : g->net[f];
	g->summary->whole = cell_real(b->wall_ns);
	part(g, "functions", "functions", b->net_ns - outside);
	part(g, "outside", "outside of functions", outside);
	part(g, "own_cost", "own cost", b->own_ns);
	part(g, "blocked", "blocked", b->blocked_ns);
	part(g, "preempted", "preempted", b->preempted_ns);
	part(g, "tail", "after the last event", b->tail_ns);
	part(g, "residual", "residual", -b->wall_residual_ns);
}

static double process_net(const void *model, size_t process)
{
	return call_check_net_ns(((const struct call_document *)model)->processes.items[process]);
}

static void processes(struct call_summing *g)
{
	const struct call_document *d = g->document;
	size_t largest[SUMMARY_REASONS];
	size_t count = summary_largest(d->processes.count, process_net, d, largest);

	for (size_t i = 0; i < count && count > 1; i++)
		summary_process(g->summary,
		                intern_text(&report_of(g)->paths->images.names,
		                            d->processes.items[largest[i]]->name),
		                call_check_share(process_net(d, largest[i]), g->all_ns));
}

static void reasons(struct call_summing *g)
{
	const struct call_report *r = report_of(g);
	size_t largest[SUMMARY_REASONS];
	size_t count = summary_largest(r->paths->functions.count, function_net, g, largest);

	g->summary->share_title = "of net";
	g->summary->value_title = "net";
	for (size_t i = 0; i < count; i++) {
		uint32_t f = (uint32_t)largest[i];
		struct summary_reason *reason =
		        summary_reason(g->summary, call_check_share(g->net[f], g->all_ns));
		double error = error_of(g, f);
		struct buf name = {0};

		if (error > 0) {
			reason->low = call_check_share(fmax(g->net[f] - error, 0), g->all_ns);
			reason->high = fmin(call_check_share(g->net[f] + error, g->all_ns), 1);
		}
		reason->value = cell_real(g->net[f]);
		call_names_text(r->names, f, &name);
		reason->function = xstrdup(buf_text(&name));
		buf_done(&name);
	}
}

static const struct {
	uint32_t flag;
	const char *text;
} incomplete[] = {
        {CALL_LOST, "events were lost"},
        {CALL_FULL, "the table was full"},
        {CALL_DEEP, "some calls were deeper than the limit"},
        {CALL_DAMAGED, "parts of the table are damaged"},
        {CALL_UNSWITCHED, "waiting is not separated from net"},
        {CALL_UNSAMPLED, "times of short calls are biased: the kernel denied samples"},
        {CALL_SETTLED, "some waiting time comes from the CPU clock"},
        {CALL_UNMATCHED, "some exits had no matching entry"},
        {CALL_RESYNCED, "some calls ended without an exit"},
        {CALL_STACKS, "some stacks could not be distinguished"},
        {CALL_IMAGES, "some libraries have no names"},
        {CALL_UNCOUNTED, "child processes that ran on are missing"},
        {CALL_NO_END, "the end of a process is not known: its last waits are missing"},
        {CALL_RUNNING, "a process was still running"},
};

static void flag_limits(struct call_summing *g)
{
	for (size_t i = 0; i < sizeof(incomplete) / sizeof(*incomplete); i++) {
		unsigned bit = (unsigned)__builtin_ctz(incomplete[i].flag);
		size_t count = 0;

		vec_each (p, &g->document->processes)
			count += ((*p)->flags & incomplete[i].flag) != 0;
		if (count)
			summary_limit(g->summary, call_flag_word(bit), (double)count, "%s",
			              incomplete[i].text);
	}
}

/* The calls of a function that certainly lasts about as long as counting it; else 0. */
static double short_calls(const void *model, size_t function)
{
	const struct call_summing *g = model;
	double calls = (double)g->sampled[function].calls;

	if (!is_function(g, function) || calls < SHORT_SHARE * (double)g->calls ||
	    report_of(g)->paths->functions.items[function].library ||
	    *call_names_of(report_of(g)->names, (uint32_t)function) == '(' ||
	    g->net[function] + error_of(g, function) > SHORT_NS * calls)
		return 0;
	return calls;
}

/* GCC compares parts of names, so parameters are not needed; it separates names by commas. */
static void add_gcc_name(struct buf *out, const char *name)
{
	buf_puts(out, out->size ? "," : "");
	for (; *name && *name != '('; name++) {
		if (*name == ',')
			buf_putc(out, '\\');
		buf_putc(out, *name);
	}
}

/* Which functions make counting expensive, and how the program is built without them. */
static void short_functions(struct call_summing *g)
{
	size_t found[SUMMARY_REASONS];
	size_t count = summary_largest(report_of(g)->paths->functions.count, short_calls, g, found);
	struct buf names = {0};
	double share = 0;

	for (size_t i = 0; i < count; i++) {
		share += short_calls(g, found[i]) / (double)g->calls;
		add_gcc_name(&names, call_names_of(report_of(g)->names, (uint32_t)found[i]));
	}
	if (count)
		summary_limit(g->summary, "short_calls", share,
		              "%.1f %% of the calls last less than %d ns; gcc "
		              "-finstrument-functions-exclude-function-list='%s' leaves them out",
		              100 * share, SHORT_NS, buf_text(&names));
	buf_done(&names);
}

/* The functions whose nets are not known one by one, as a group. */
static void unknown_functions(struct call_summing *g)
{
	struct call_unknown all = {0};
	struct buf text = {0};
	double share;

	vec_each (p, &g->document->processes) {
		struct call_unknown u =
		        call_check_unknown(*p, report_of(g)->paths->functions.count);

		all.net_ns += u.net_ns;
		all.error_ns += u.error_ns;
		all.count += u.count;
	}
	share = call_check_share(all.net_ns, g->all_ns);
	if (share < UNKNOWN_SHARE)
		return;
	text_fine_time(&text, all.net_ns);
	buf_puts(&text, " +/- ");
	text_fine_time(&text, all.error_ns);
	summary_limit(g->summary, "unknown", share,
	              "%.1f %% of net is in %zu %s with too few samples, together %s; a longer run "
	              "or --freq separates them",
	              100 * share, all.count, all.count == 1 ? "function" : "functions",
	              buf_text(&text));
	buf_done(&text);
}

static void limits(struct call_summing *g, const struct call_check *b)
{
	double own = call_check_share(b->own_ns, b->net_ns + b->own_ns);
	double cpu = call_check_share(b->cpu_residual_ns, b->cpu_ns);
	double wall = call_check_share(b->wall_residual_ns, b->wall_ns);

	if (!g->document->processes.count)
		summary_limit(g->summary, "no_processes", 0, "no process matches");
	flag_limits(g);
	unknown_functions(g);
	if (own >= OWN_SHARE)
		summary_limit(g->summary, "own_cost", own, "counting took %.1f %% of the CPU time",
		              100 * own);
	if (own >= SHORT_OWN_SHARE)
		short_functions(g);
	if (fabs(cpu) >= RESIDUAL_SHARE)
		summary_limit(g->summary, "cpu_residual", cpu,
		              "the check against the CPU clock has a residual of %.1f %%",
		              100 * cpu);
	if (fabs(wall) >= RESIDUAL_SHARE)
		summary_limit(g->summary, "wall_residual", wall,
		              "the check against the wall clock has a residual of %.1f %%",
		              100 * wall);
}

static void next(struct call_summing *g)
{
	size_t largest[SUMMARY_REASONS];
	const struct call_report *r = report_of(g);

	if (summary_largest(r->paths->functions.count, function_net, g, largest)) {
		const char *name = call_names_of(r->names, (uint32_t)largest[0]);

		summary_next(g->summary, "report --callers", name, "which functions call %s", name);
	}
	summary_next(g->summary, "report -f", NULL, "the sums of all functions");
	summary_next(g->summary, "report -g", NULL, "the call tree");
	if (g->summary->reader->brief)
		summary_next(g->summary, "report --full", NULL, "all call paths");
}

void call_summary(struct call_document *d)
{
	const struct document_reader *reader = &d->report->request.reader;
	struct call_summing g = {.document = d};
	struct call_check b = checks(&g);
	struct summary s;

	summary_init(&s, reader, &unit_fine_time, "ns");
	g.summary = &s;
	sum_functions(&g);
	recorded(&g, &s.recorded);
	parts(&g, &b);
	processes(&g);
	reasons(&g);
	limits(&g, &b);
	next(&g);
	summary_write(&s, &d->document);
	summary_done(&s);
	free(g.net);
	free(g.sampled);
}
