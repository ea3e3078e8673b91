/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_document.h"

#include "base/text/plural.h"
#include "view/document/grid.h"
#include "view/symbolized/symbolized_document.h"
#include "view/tags/tag_report_summary.h"
#include "view/tags/tag_rows.h"
#include "view/tags/tag_work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SWITCHERS_NAMED 3
#define STEP_LINES 40
#define UNUSED_NAMED 8

struct tag_writing {
	struct document *document;
	const struct tag_document *parts;
	struct tag_report *report;
	const struct document_reader *reader;
	struct buf text; /* text of the line that is being made */
};

static void add(struct tag_writing *w, const struct unit *unit, uint64_t number)
{
	unit_text_add(unit, cell_int((int64_t)number), &w->text);
}

static void add_number(struct tag_writing *w, uint64_t number)
{
	add(w, w->report->scale.number, number);
}

static int64_t ns_of(const struct tag_writing *w, uint64_t ticks)
{
	return (int64_t)tag_clock_ns(&w->report->recording->clock, ticks);
}

/* ---- heading ------------------------------------------------------------- */

static void put(struct tag_writing *w, const char *key, uint64_t number)
{
	document_int(w->document, key, (int64_t)number);
}

static void put_time(struct tag_writing *w, const char *key, uint64_t ticks)
{
	document_int(w->document, key, ns_of(w, ticks));
}

static void put_known_time(struct tag_writing *w, const char *key, uint64_t ticks, bool known)
{
	document_known(w->document, key, ns_of(w, ticks), known);
}

static bool has_waits(const struct tag_report *r)
{
	return !r->devices && r->separated;
}

static void trigger_cost(struct tag_writing *w)
{
	const struct tag_trigger_cost *cost = &w->report->recording->trigger;
	bool known = cost->most_ps && !w->report->devices;

	document_real(w->document, "trigger_least_ns", known ? (double)cost->least_ps / 1e3 : NAN);
	document_real(w->document, "trigger_most_ns", known ? (double)cost->most_ps / 1e3 : NAN);
}

static void facts(struct tag_writing *w)
{
	const struct tag_report *r = w->report;
	const struct tag_summary *s = r->summary;
	const struct tag_damage *d = &s->damage;

	document_string(w->document, "kind", "tags");
	document_string_or_null(w->document, "command", r->recording->command);
	put(w, "clock_hz", r->recording->clock.hz);
	put_time(w, "elapsed_ns", s->elapsed);
	put_time(w, "run_ns", r->run);
	put_time(w, "idle_ns", s->idle);
	put(w, "tags", s->tags);
	put_time(w, "span_ns", r->span);
	document_bool(w->document, "waiting_separated", r->separated);
	put(w, "switches_lost", r->switches_lost);
	put_known_time(w, "blocked_ns", s->blocked, has_waits(r));
	put_known_time(w, "preempted_ns", s->preempted, has_waits(r));
	put_time(w, "own_ns", s->own);
	put_time(w, "gap_ns", s->gap);
	put_time(w, "outside_ns", s->outside);
	put_time(w, "unknown_ns", s->unknown);
	put(w, "streams", s->streams);
	put(w, "threads", s->threads);
	put(w, "processes", s->processes);
	put(w, "switches", s->switches);
	put(w, "lost", d->lost);
	put(w, "gaps", d->gaps);
	put(w, "missing_exits", d->missing_exits);
	put(w, "unmatched_exits", d->unmatched_exits);
	put(w, "inherited_exits", d->inherited_exits);
	put(w, "unknown_tags", d->unknown_tags);
	put(w, "left_out_functions", tag_report_left_out(r));
	put(w, "guesses", d->guesses);
	put(w, "backwards", d->backwards);
	put(w, "uncertain", r->uncertain);
	put(w, "open", r->open);
	put(w, "cut", r->cut);
	trigger_cost(w);
	put(w, "profiled_functions", r->profiled);
	put(w, "triggers", r->triggers);
}

/* A line of the heading: a time, and the text in w->text. */
static void term(struct tag_writing *w, struct grid *g, const char *label, uint64_t ticks)
{
	struct buf time = {0};

	grid_row(g, ROW_ITEM);
	grid_add(g, cell_text(label));
	unit_text_add(&w->report->scale.named.unit, cell_int((int64_t)ticks), &time);
	grid_add(g, cell_text(buf_text(&time)));
	grid_add(g, cell_text(buf_text(&w->text)));
	buf_clear(&w->text);
	buf_done(&time);
}

static void share(struct tag_writing *w, struct grid *g, const char *label, uint64_t ticks)
{
	uint64_t hundredths = tag_hundredths(ticks, w->report->summary->elapsed);

	buf_addf(&w->text, "(%2" PRIu64 ".%02" PRIu64 " %%)", hundredths / 100, hundredths % 100);
	term(w, g, label, ticks);
}

static void switches(struct tag_writing *w, struct grid *g)
{
	const struct tag_report *r = w->report;

	grid_row(g, ROW_ITEM);
	grid_add(g, cell_text("Switches"));
	add_number(w, r->summary->switches);
	/* Aligns the numbers, with or without a unit. */
	buf_pad(&w->text, ' ', 1 + strlen(r->scale.time.name));
	grid_add(g, cell_text(buf_text(&w->text)));
	buf_clear(&w->text);
	for (size_t i = 0; i < r->switchers.count && i < SWITCHERS_NAMED; i++)
		buf_addf(&w->text, "%s%s", i ? ", " : "(", r->switchers.items[i]);
	if (r->switchers.count)
		buf_puts(&w->text, r->switchers.count > SWITCHERS_NAMED ? ", ...)" : ")");
	grid_add(g, cell_text(buf_text(&w->text)));
	buf_clear(&w->text);
}

/* The functions that have triggers. */
static void profiled(struct tag_writing *w, struct grid *g)
{
	const struct tag_report *r = w->report;

	if (!r->triggers)
		return;
	grid_row(g, ROW_ITEM);
	grid_add(g, cell_text("Profiled functions"));
	add_number(w, r->profiled);
	buf_pad(&w->text, ' ', 1 + strlen(r->scale.time.name));
	grid_add(g, cell_text(buf_text(&w->text)));
	buf_clear(&w->text);
	buf_putc(&w->text, '(');
	add_number(w, r->triggers);
	buf_addf(&w->text, " %s)", plural(r->triggers, "trigger", "triggers"));
	grid_add(g, cell_text(buf_text(&w->text)));
	buf_clear(&w->text);
}

/* With the number of streams in the sum of elapsed: "3 threads". */
static void span(struct tag_writing *w, struct grid *g)
{
	const struct tag_report *r = w->report;
	const struct tag_summary *s = r->summary;
	bool threads = !r->devices && s->threads > 1;

	if (s->streams <= 1 && s->threads <= 1)
		return;
	buf_addf(&w->text, "(elapsed is the sum over %" PRIu64 " %s)",
	         threads ? s->threads : s->streams,
	         threads      ? "threads"
	         : r->devices ? "CPUs"
	                      : "streams");
	term(w, g, "Span", r->span);
}

static void heading(struct tag_writing *w)
{
	static const struct grid_column columns[] = {{.title = "", .unit = &unit_text},
	                                             {.title = "", .unit = &unit_count},
	                                             {.title = "", .unit = &unit_text}};
	const struct tag_report *r = w->report;
	const struct tag_summary *s = r->summary;
	struct grid *g = grid_new(columns, 3);

	if (r->recording->command && *r->recording->command)
		document_heading(w->document, "%s", r->recording->command);
	buf_putc(&w->text, '(');
	add_number(w, s->tags);
	buf_addf(&w->text, " %s)", plural(s->tags, "tag", "tags"));
	term(w, g, "Elapsed time", s->elapsed);
	share(w, g, "Accumulated run time", r->run);
	share(w, g, "Idle time", s->idle);
	if (has_waits(r)) {
		share(w, g, "  blocked", s->blocked);
		share(w, g, "  preempted", s->preempted);
	}
	if (s->own)
		share(w, g, "Measuring", s->own);
	if (s->gap)
		share(w, g, "Gaps", s->gap);
	if (s->switches)
		switches(w, g);
	profiled(w, g);
	span(w, g);
	document_grid(w->document, "", "times", g);
}

/* ---- functions and groups ------------------------------------------------ */

/* The functions left out by -n and --percent-limit. The time outside of functions has a key of its
 * own and is not part of the rest. */
static void rest(struct tag_writing *w, const struct row_set *set)
{
	const struct tag_report *r = w->report;
	uint64_t functions = 0, net = 0, calls = 0;

	for (size_t i = set->shown; i < set->order.count; i++) {
		const struct tag_row *row = &r->functions.rows.items[set->order.items[i]];

		if (tag_row_is_part(row))
			continue;
		functions++;
		net += row->net;
		calls += row->calls;
	}
	document_object(w->document, "rest");
	put(w, "functions", functions);
	put_time(w, "net_ns", net);
	put(w, "calls", calls);
	document_real(w->document, "real", tag_share(net, r->summary->elapsed));
	document_real(w->document, "net", tag_share(net, r->run));
	document_end(w->document);
}

static void functions(struct tag_writing *w)
{
	const struct tag_document *p = w->parts;
	struct tag_report *r = w->report;
	bool replaced = p->groups || p->distribution || p->paths;
	struct row_set *inlines = tag_rows_inlines(r), *set = r->table;

	r->table = NULL;
	document_table(w->document, replaced || !set->order.count ? MEDIA_PROGRAMS : MEDIA_ALL, "",
	               "functions", set);
	rest(w, set);
	document_table(w->document, replaced || !inlines->shown ? MEDIA_PROGRAMS : MEDIA_ALL, "",
	               "inline_tags", inlines);
}

/* A pattern that matches no function is usually a mistake. */
static void unused_patterns(struct tag_writing *w)
{
	const struct tag_groups *g = w->parts->groups;
	size_t unused = 0;

	document_array(w->document, "unused_patterns");
	buf_puts(&w->text, "patterns that matched no function:");
	for (uint32_t i = 0; i < group_rules_count(g->rules); i++) {
		if (g->used[i])
			continue;
		document_string(w->document, NULL, group_rules_pattern(g->rules, i));
		if (unused++ < UNUSED_NAMED)
			buf_addf(&w->text, " %s", group_rules_pattern(g->rules, i));
	}
	document_end(w->document);
	if (unused > UNUSED_NAMED)
		buf_addf(&w->text, " and %zu more", unused - UNUSED_NAMED);
	if (unused)
		document_text(w->document, "", buf_text(&w->text));
	buf_clear(&w->text);
}

static void groups(struct tag_writing *w)
{
	const struct tag_groups *g = w->parts->groups;

	if (!g)
		return;
	document_table(w->document, MEDIA_ALL, "", "groups",
	               tag_rows_groups(w->report, g, w->reader->program));
	unused_patterns(w);
}

/* ---- the times of one function ------------------------------------------- */

static void put_step(struct tag_writing *w, const char *key, const struct histogram_step *step,
                     bool count)
{
	document_object(w->document, key);
	put_time(w, "from_ns", step->from);
	put_time(w, "to_ns", step->to);
	if (count)
		put(w, "count", step->count);
	document_end(w->document);
}

static void histogram(struct tag_writing *w, const struct tag_distribution *h)
{
	const struct tag_row *row = &h->row;
	const struct tag_range *range = tag_row_range(row);
	const struct tag_bounds *bounds = h->total ? &range->total : &range->net;
	struct document *d = w->document;
	struct cell average = tag_range_average_ns(w->report, range, bounds);
	char percent[16];

	document_object(d, "histogram");
	document_string(d, "function", row->function);
	document_string_or_null(d, "name", row->name);
	document_string_or_null(d, "program", row->program);
	put(w, "tag", row->tag);
	document_string(d, "time", h->total ? "total" : "net");
	put(w, "count", h->count);
	put_known_time(w, "max_ns", bounds->max, range->calls);
	document_known(d, "avg_ns", average.i, average.kind == CELL_INT);
	put_known_time(w, "min_ns", bounds->min, range->calls);
	document_object(d, "percentiles_ns");
	for (size_t i = 0; i < TAG_PERCENTILES && h->count; i++) {
		snprintf(percent, sizeof(percent), "%u", h->percentiles[i].percent);
		put_step(w, percent, &h->percentiles[i].step, false);
	}
	document_end(d);
	document_array(d, "steps");
	vec_each (step, &h->steps)
		put_step(w, NULL, step, true);
	document_end(d);
	document_end(d);
}

static void add_bound(struct tag_writing *w, const char *before, uint64_t ticks)
{
	buf_puts(&w->text, before);
	add(w, &w->report->scale.bound.unit, ticks);
}

/* A paragraph that continues the heading. */
static void paragraph(struct tag_writing *w)
{
	document_text(w->document, NULL, buf_text(&w->text));
	buf_clear(&w->text);
}

static void distribution_lines(struct tag_writing *w, const struct tag_distribution *h)
{
	const struct tag_range *range = tag_row_range(&h->row);
	const struct tag_bounds *bounds = h->total ? &range->total : &range->net;

	add_number(w, h->count);
	buf_addf(&w->text, " %s", plural(h->count, "call", "calls"));
	if (range->calls) {
		add_bound(w, ": max ", bounds->max);
		add_bound(w, ", avg ", tag_range_average(range, bounds));
		add_bound(w, ", min ", bounds->min);
	}
	paragraph(w);
	if (!h->count)
		return;
	buf_puts(&w->text, "percentiles, as exact as the steps below: ");
	for (size_t i = 0; i < TAG_PERCENTILES; i++) {
		buf_addf(&w->text, "%sp%u ", i ? ", " : "", h->percentiles[i].percent);
		add_bound(w, "", h->percentiles[i].step.from);
		add_bound(w, " to ", h->percentiles[i].step.to);
	}
	paragraph(w);
}

static void steps(struct tag_writing *w, const struct tag_distribution *h)
{
	const struct histogram_form form = {
	        .from = "From",
	        .to = "Below",
	        .count = "Calls",
	        .share = "% calls",
	        .bound_unit = &w->report->scale.bound.unit,
	        .count_unit = w->report->scale.number,
	        .share_unit = &tag_percent,
	};
	histogram_steps steps = {0};

	tag_distribution_coarse(h, STEP_LINES, &steps);
	document_histogram(w->document, NULL, &form, &steps);
}

static void distribution(struct tag_writing *w)
{
	const struct tag_distribution *h = w->parts->distribution;

	if (!h)
		return;
	tag_row_name(&h->row, &w->text);
	document_heading(w->document, "%s, %s time of a call", buf_text(&w->text),
	                 h->total ? "total (with callees)" : "net");
	buf_clear(&w->text);
	distribution_lines(w, h);
	histogram(w, h);
	if (h->count)
		steps(w, h);
}

/* The table by the keys of the request, or of the selected rows. */
static void sums(struct tag_writing *w)
{
	const struct tag_document *p = w->parts;
	struct symbolized_report *of = p->paths ? p->paths->sums : NULL;

	if (!of)
		return;
	if (of->selection.removed)
		without_facts(w->document, &of->selection.without, &of->options, &of->unit.unit);
	buf_puts(&w->text, "Calls by ");
	request_keys_text(&of->options, &w->text);
	if (of->rows)
		document_table(w->document, MEDIA_ALL, buf_text(&w->text), "rows",
		               symbolized_rows(of->rows, of, w->reader));
	buf_clear(&w->text);
	if (of->tree)
		document_tree(w->document, MEDIA_ALL, "", "tree", of->tree,
		              request_limit(&of->options, w->reader), of->options.lines)
		        ->borrowed = true;
}

static void tree(struct tag_writing *w)
{
	const struct tag_document *p = w->parts;
	const struct report_request *q = &w->report->request;

	if (!p->paths)
		return;
	neighbour_tables_add(&p->paths->neighbours, w->document);
	if (!p->paths->tree)
		return;
	document_tree(w->document, MEDIA_ALL, "", request_tree_key(q), p->paths->tree,
	              request_limit(q, w->reader), q->lines);
	p->paths->tree = NULL;
}

/* ---- notes --------------------------------------------------------------- */

static void note(struct tag_writing *w, struct section *s, const char *text)
{
	section_note(s, text);
	buf_clear(&w->text);
}

/* "2 CPUs, 5 processes". */
static void who(struct tag_writing *w, struct section *notes)
{
	const struct tag_report *r = w->report;
	const struct tag_summary *s = r->summary;
	uint64_t runners = r->devices ? s->streams : s->threads;

	if (runners <= 1 && s->processes <= 1)
		return;
	add_number(w, runners);
	buf_addf(&w->text, " %s, ",
	         r->devices ? plural(runners, "CPU", "CPUs")
	                    : plural(runners, "thread", "threads"));
	add_number(w, s->processes);
	buf_addf(&w->text, " %s", plural(s->processes, "process", "processes"));
	note(w, notes, buf_text(&w->text));
}

struct counted_note {
	uint64_t number;
	const char *one, *many; /* "event was lost", "events were lost" */
	const char *more;
};

static void counts(struct tag_writing *w, struct section *notes, const struct counted_note *all,
                   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!all[i].number)
			continue;
		add_number(w, all[i].number);
		buf_addf(&w->text, " %s%s", plural(all[i].number, all[i].one, all[i].many),
		         all[i].more);
		note(w, notes, buf_text(&w->text));
	}
}

static void damage(struct tag_writing *w, struct section *notes)
{
	const struct tag_report *r = w->report;
	const struct tag_damage *d = &r->summary->damage;
	const struct counted_note all[] = {
	        {r->switches_lost, "switch of a thread is", "switches of threads are",
	         " missing: some waiting is counted as running"},
	        {d->lost, "event was lost", "events were lost", ": the recorder's buffer was full"},
	        {d->gaps, "gap", "gaps",
	         ": events are missing there, or capture was off; the calls open after a gap are "
	         "not known"},
	        {d->missing_exits, "call ended without an exit", "calls ended without an exit",
	         ": left by a jump, or the exit was lost, or the function never returns"},
	        {d->unmatched_exits, "exit has no entry", "exits have no entry",
	         ": called before the capture began or a gap ended, or the entry was lost; their "
	         "time counts since a gap, else for their callers or as (outside)"},
	        {d->inherited_exits, "exit is", "exits are",
	         " of a function that was entered before a fork: the call counts for the parent"},
	        {d->unknown_tags, "event has a tag", "events have tags",
	         " that no names file has: shown as \"tag N\""},
	        {tag_report_left_out(r), "function has", "functions have",
	         " no tags, since the plugin left them out as small: their time counts for their "
	         "callers (the names file has their names)"},
	        {d->guesses, "switch could have been", "switches could have been",
	         " to several processes: the one that waited longest was taken"},
	        {d->backwards, "packet begins", "packets begin",
	         " before the end of the previous packet: the clock went backwards"},
	        {r->uncertain, "call has an uncertain time", "calls have uncertain times",
	         " (~N after a name: N of its calls)"},
	        {r->open, "call had not ended", "calls had not ended",
	         " at the end of the capture (open N after a name); the time up to there counts in "
	         "Net, not in (max/avg/min)"},
	        {r->cut, "call was", "calls were",
	         " open at a gap (cut N after a name); the time up to there counts in Net, not in "
	         "(max/avg/min)"},
	};

	counts(w, notes, all, sizeof(all) / sizeof(*all));
}

/* What the triggers add to times, where this changes shares by more than a point. */
static void triggers(struct tag_writing *w, struct section *notes)
{
	const struct tag_report *r = w->report;
	const struct tag_trigger_cost *cost = &r->recording->trigger;

	if (tag_work_is_wide(r))
		buf_addf(&w->text,
		         "a trigger adds %.1f to %.1f ns to its function after each event: %% work "
		         "is the share without that, between these bounds; functions with less "
		         "than %.0f ns an event are mostly triggers",
		         (double)cost->least_ps / 1e3, (double)cost->most_ps / 1e3,
		         (double)cost->most_ps / 1e3);
	else if (tag_work_is_unknown(r))
		buf_addf(&w->text,
		         "the trace does not say how much time triggers add: shares of functions "
		         "with less than %d ns an event may be wrong by many points",
		         TAG_WORK_LONG_NS);
	if (w->text.size)
		note(w, notes, buf_text(&w->text));
}

static void notes(struct tag_writing *w)
{
	const struct tag_report *r = w->report;
	struct section *s = document_notes(w->document, MEDIA_READERS, "", NULL);

	if (!r->summary->tags)
		section_note(s, "there are no events: no tagged code ran during the capture");
	who(w, s);
	if (r->summary->unknown)
		section_note(s, "(unknown): time after a gap in calls that were entered before its "
		                "end, since no exit names their function");
	triggers(w, s);
	if (!r->separated && r->summary->tags)
		section_note(s, "waiting is not separated: times include it");
	damage(w, s);
	if (w->parts->paths)
		vec_each (comment, &w->parts->paths->profile.comments)
			section_note(s, intern_text(&w->parts->paths->profile.texts, *comment));
}

void tag_document_fill(struct document *d, const struct tag_document *parts,
                       const struct document_reader *reader)
{
	struct tag_writing w = {
	        .document = d, .parts = parts, .report = parts->report, .reader = reader};

	facts(&w);
	if (reader->program || reader->summary)
		tag_report_summary(d, parts->report, reader);
	if (reader->brief)
		return;
	heading(&w);
	functions(&w);
	groups(&w);
	distribution(&w);
	sums(&w);
	tree(&w);
	notes(&w);
	buf_done(&w.text);
}
