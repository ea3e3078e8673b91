/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/methods/methods_document.h"

#include "base/text/figure.h"

#include <math.h>
#include <string.h>

struct method {
	const char *name, *commands, *sees, *hampered;
	const char *costs;           /* on usual machines */
	enum method_cost_kind kind;  /* its event */
	const char *event;           /* "a sample" */
	enum method_cost_kind kind2; /* a second kind of event, if `event2` is set */
	const char *event2;
	double hz; /* usual rate of its event; 0: the program decides */
};

static const struct method methods[] = {
        {.name = "Sampling by a timer",
         .commands = "record, start (event cpu-clock)",
         .sees = "All programs and the kernel, without rebuilding them: the share of each process, "
                 "function, line and instruction, with an interval; with -g the call paths.",
         .hampered = "Code with interrupts off: its samples come late, where interrupts are "
                     "enabled again. Programs in step with the timer (a second clock detects "
                     "them). Functions with few samples: their intervals are wide. No calls are "
                     "counted.",
         .costs = "1 to 60 us a sample, the most in virtual machines and large programs",
         .kind = COST_SAMPLE,
         .event = "a sample",
         .kind2 = COST_SAMPLE_STACK,
         .event2 = "with -g",
         .hz = 997},
        {.name = "Sampling by hardware events",
         .commands = "record, start (event cycles, cache-misses, ...)",
         .sees = "The same, also in code with interrupts off. Other events show where they occur: "
                 "cache misses, wrong branches, instructions.",
         .hampered = "It needs counters of the processor (a PMU), which most virtual machines do "
                     "not have. Cycles are no time: the frequency changes, and an idle CPU counts "
                     "none. Samples may be some instructions late (skid).",
         .costs = "1 to 5 us a sample",
         .kind = COST_SAMPLE,
         .event = "a sample",
         .kind2 = COST_SAMPLE_STACK,
         .event2 = "with -g",
         .hz = 997},
        {.name = "Context switches",
         .commands = "record, start: the account of all time; record --off-cpu",
         .sees = "How long each thread ran, waited for a CPU, or was blocked, and how long each "
                 "CPU "
                 "was idle, without sampling error. --off-cpu: the call path of each wait.",
         .hampered = "It names no functions (except with --off-cpu). A woken thread counts as "
                     "blocked until it runs. Programs that switch very often cost most.",
         .costs = "about 1 us a switch",
         .kind = COST_SWITCH,
         .event = "a switch"},
        {.name = "Counted calls",
         .commands = "calls",
         .sees = "Each call of each function, by call path: the exact number, net and total time, "
                 "shortest and longest call, waiting apart. Where calls are frequent, times come "
                 "from samples, with an interval; else from the clock.",
         .hampered = "Programs must be built with -finstrument-functions. Libraries: only calls "
                     "into them (--libraries). Inlined functions and assembly are part of their "
                     "caller. Hooks prevent optimisations, and very short functions are slowed "
                     "many times. The kernel (--kernel): 100 to 300 ns a call, needs root.",
         .costs = "4 to 25 ns a call",
         .kind = COST_CALL,
         .event = "a call"},
        {.name = "Event tags",
         .commands = "tags",
         .sees = "Each entry and exit of chosen functions, and marked places in the source, each "
                 "with its time: the order of events, times of single calls, several programs "
                 "and the kernel together.",
         .hampered = "It needs GCC with the plugin of assay, on x86-64. A trace grows by 8 bytes "
                     "an event; events that do not fit are dropped and counted. The time of a "
                     "trigger is in the time of its function; the report bounds its effect.",
         .costs = "10 to 20 ns an event",
         .kind = COST_TAG,
         .event = "an event"},
        {.name = "Continuous recording",
         .commands = "start --store, report --store, diff, sql",
         .sees = "What sampling and context switches see, for days and years in one file: any time "
                 "range can be reported or compared afterwards.",
         .hampered = "The rate is low, so a rare function shows only in a long time range. Samples "
                     "are sums of windows of ten seconds, and old windows are merged.",
         .costs = "as sampling, at 97 Hz",
         .kind = COST_SAMPLE,
         .event = "a sample",
         .hz = 97},
};

#define METHODS (sizeof(methods) / sizeof(*methods))

/* The measured samples were of another kind of clock. */
static bool applies(const struct method *m, const struct method_costs *c)
{
	bool timer = c->clock && !strncmp(c->clock, "cpu-clock", 9);

	return c->items[m->kind].ns > 0 && (m != &methods[0] || timer) &&
	       (m != &methods[1] || !timer);
}

static double share_of(const struct method *m, const struct method_costs *c)
{
	return m->hz > 0 && applies(m, c) ? m->hz * c->items[m->kind].ns / 1e9 : NAN;
}

static void costs_text(const struct method *m, const struct method_costs *c, struct buf *text)
{
	double share = share_of(m, c);

	if (!applies(m, c)) {
		buf_puts(text, m->costs);
		return;
	}
	text_fine_time(text, c->items[m->kind].ns);
	buf_addf(text, " %s", m->event);
	if (m->event2 && c->items[m->kind2].ns > 0) {
		buf_addf(text, ", %s ", m->event2);
		text_fine_time(text, c->items[m->kind2].ns);
	}
	if (isfinite(share)) {
		buf_puts(text, ": ");
		text_share(text, share);
		buf_addf(text, " of a CPU at %.0f Hz", m->hz);
	}
	buf_puts(text, " (measured here)");
}

static void for_readers(struct document *d, const struct method *m, const struct method_costs *c)
{
	struct buf text = {0};

	document_heading(d, "%s", m->name);
	document_line(d, "commands", m->commands);
	document_line(d, "sees", m->sees);
	document_line(d, "hampered by", m->hampered);
	costs_text(m, c, &text);
	document_line(d, "costs", buf_text(&text));
	buf_done(&text);
}

static void for_programs(struct document *d, const struct method *m, const struct method_costs *c)
{
	bool known = applies(m, c);

	document_object(d, NULL);
	document_string(d, "method", m->name);
	document_string(d, "commands", m->commands);
	document_string(d, "sees", m->sees);
	document_string(d, "hampered_by", m->hampered);
	document_string(d, "usual_costs", m->costs);
	document_real(d, "event_ns", known ? c->items[m->kind].ns : NAN);
	document_real(d, "cpu_share", share_of(m, c));
	document_end(d);
}

static void origin(struct document *d, const struct method_costs *c)
{
	struct buf text = {0};

	if (c->wall_ns) {
		buf_puts(&text, "Costs of this machine were measured at ");
		text_date(&text, c->wall_ns);
		buf_addf(&text, " with %s. 'assay doctor --measure' measures them again.",
		         c->kernel ? c->kernel : "an unknown kernel");
	} else {
		buf_puts(&text,
		         "Costs are those of usual machines. 'assay doctor --measure' measures "
		         "them on this one.");
	}
	document_text(d, "", buf_text(&text));
	buf_done(&text);
}

void methods_document(struct document *d, const struct method_costs *costs)
{
	document_known(d, "measured_ns", (int64_t)costs->wall_ns, costs->wall_ns);
	document_array(d, "methods");
	for (size_t i = 0; i < METHODS; i++)
		for_programs(d, &methods[i], costs);
	document_end(d);
	for (size_t i = 0; i < METHODS; i++)
		for_readers(d, &methods[i], costs);
	origin(d, costs);
}
