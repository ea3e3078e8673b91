/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_report_summary.h"

#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "view/summary/summary.h"
#include "view/tags/tag_rows.h"

#include <inttypes.h>

static int64_t ns_of(const struct tag_report *r, uint64_t ticks)
{
	return (int64_t)tag_clock_ns(&r->recording->clock, ticks);
}

static void recorded(const struct tag_report *r, struct buf *out)
{
	const struct tag_summary *s = r->summary;
	uint64_t runners = r->devices ? s->streams : s->threads;

	if (r->recording->command && *r->recording->command)
		buf_addf(out, "%s: ", r->recording->command);
	unit_text_add(&unit_count, cell_int((int64_t)s->tags), out);
	buf_addf(out, " %s, ", plural(s->tags, "event", "events"));
	buf_addf(out, "%" PRIu64 " %s", runners,
	         r->devices ? plural(runners, "CPU", "CPUs")
	                    : plural(runners, "thread", "threads"));
}

static void part(struct summary *s, const struct tag_report *r, const char *key, const char *name,
                 uint64_t ticks)
{
	summary_part(s, key, name, cell_int(ns_of(r, ticks)),
	             tag_share(ticks, r->summary->elapsed));
}

/* The parts add up to the elapsed time. */
static void parts(struct summary *s, const struct tag_report *r)
{
	const struct tag_summary *sum = r->summary;
	bool waits = !r->devices && r->separated;
	uint64_t waiting = waits ? sum->blocked + sum->preempted : 0;

	s->whole = cell_int(ns_of(r, sum->elapsed));
	part(s, r, "functions", "functions", r->run - sum->outside - sum->unknown);
	part(s, r, "outside", "outside of functions", sum->outside);
	part(s, r, "unknown", "unknown after gaps", sum->unknown);
	part(s, r, "gap", "in gaps", sum->gap);
	if (waits) {
		part(s, r, "blocked", "blocked", sum->blocked);
		part(s, r, "preempted", "preempted", sum->preempted);
	}
	part(s, r, "idle", "idle", sum->idle - waiting);
	part(s, r, "own_cost", "measuring", sum->own);
}

static double row_net(const void *model, size_t row)
{
	const struct tag_report *r = model;
	const struct tag_row *of = &r->functions.rows.items[row];

	return of->kind == TAG_ROW_FUNCTION ? (double)of->net : 0;
}

static void reasons(struct summary *s, const struct tag_report *r)
{
	size_t largest[SUMMARY_REASONS];
	size_t count = summary_largest(r->functions.rows.count, row_net, r, largest);

	s->share_title = "of run time";
	s->value_title = "net";
	for (size_t i = 0; i < count; i++) {
		const struct tag_row *row = &r->functions.rows.items[largest[i]];
		struct summary_reason *reason = summary_reason(s, tag_share(row->net, r->run));
		struct buf name = {0};

		reason->value = cell_int(ns_of(r, row->net));
		tag_row_name(row, &name);
		reason->function = xstrdup(buf_text(&name));
		buf_done(&name);
	}
}

static void limits(struct summary *s, const struct tag_report *r)
{
	const struct tag_damage *d = &r->summary->damage;
	const struct {
		const char *key;
		uint64_t number;
		const char *one, *many;
	} all[] = {
	        {"lost", d->lost, "event was lost", "events were lost"},
	        {"gaps", d->gaps, "gap", "gaps"},
	        {"switches_lost", r->switches_lost, "switch of a thread is missing",
	         "switches of threads are missing"},
	        {"missing_exits", d->missing_exits, "call ended without an exit",
	         "calls ended without an exit"},
	        {"unmatched_exits", d->unmatched_exits, "exit has no entry", "exits have no entry"},
	        {"unknown_tags", d->unknown_tags, "event has an unknown tag",
	         "events have unknown tags"},
	        {"left_out_functions", tag_report_left_out(r),
	         "small function was left out, its time is its callers'",
	         "small functions were left out, their time is their callers'"},
	        {"guesses", d->guesses, "switch is a guess", "switches are guesses"},
	        {"backwards", d->backwards, "packet goes backwards in time",
	         "packets go backwards in time"},
	        {"uncertain", r->uncertain, "call has an uncertain time",
	         "calls have uncertain times"},
	        {"open", r->open, "call had not ended", "calls had not ended"},
	        {"cut", r->cut, "call was open at a gap", "calls were open at a gap"},
	};

	if (!r->summary->tags)
		summary_limit(s, "no_events", 0, "there are no events");
	else if (!r->separated)
		summary_limit(s, "waiting_not_separated", 1, "times include waiting");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].number)
			summary_limit_count(s, all[i].key, all[i].number, all[i].one, all[i].many);
}

static void next(struct summary *s, const struct tag_report *r)
{
	size_t largest[SUMMARY_REASONS];

	if (summary_largest(r->functions.rows.count, row_net, r, largest)) {
		const char *name = r->functions.rows.items[largest[0]].function;

		summary_next(s, "report --function", name,
		             "the distribution of the times of its calls");
		summary_next(s, "report -g", NULL, "the call tree");
		summary_next(s, "tags trace", NULL, "each call in the order of time");
	}
	if (s->reader->brief)
		summary_next(s, "report --full", NULL, "all functions");
}

void tag_report_summary(struct document *d, const struct tag_report *r,
                        const struct document_reader *reader)
{
	struct summary s;

	summary_init(&s, reader, &unit_time, "ns");
	recorded(r, &s.recorded);
	parts(&s, r);
	reasons(&s, r);
	limits(&s, r);
	next(&s, r);
	summary_write(&s, d);
	summary_done(&s);
}
