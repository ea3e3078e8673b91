/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes on event tags: lost, repaired or guessed events. */
#include "output/tags/tags_text.h"

#include "base/text/plural.h"

#include <string.h>

#define INDENT 2

struct notes {
	const struct tags_scale *scale;
	const struct text_style *style;
	struct buf *out;
	bool any;
};

static void say(struct notes *n, const char *text)
{
	if (!n->any)
		buf_putc(n->out, '\n');
	n->any = true;
	text_fill(n->out, n->style, "", INDENT, text);
}

/* Adds "1,234 events were lost"; nothing for 0. `one` is the singular form. */
static void count(struct notes *n, uint64_t number, const char *one, const char *many,
                  const char *more)
{
	struct buf text = {0};

	if (!number)
		return;
	tags_text_number(n->scale, number, &text);
	buf_addf(&text, " %s%s", plural(number, one, many), more);
	say(n, buf_text(&text));
	buf_done(&text);
}

static void damage(struct notes *n, const struct tag_damage *d)
{
	count(n, d->lost, "event was lost", "events were lost", ": the recorder's buffer was full");
	count(n, d->gaps, "gap", "gaps",
	      ": events are missing there, or capture was off; the calls open after a gap are not "
	      "known");
	count(n, d->missing_exits, "call ended without an exit", "calls ended without an exit",
	      ": left by a jump, or the exit was lost, or the function never returns");
	count(n, d->unmatched_exits, "exit has no entry", "exits have no entry",
	      ": called before the capture began, or the entry was lost; their time counts for "
	      "their callers or as (outside)");
	count(n, d->inherited_exits, "exit is", "exits are",
	      " of a function that was entered before a fork: the call counts for the parent");
	count(n, d->unknown_tags, "event has a tag", "events have tags",
	      " that no names file has: shown as \"tag N\"");
	count(n, d->guesses, "switch could have been", "switches could have been",
	      " to several processes: the one that waited longest was taken");
	count(n, d->backwards, "packet begins", "packets begin",
	      " before the end of the previous packet: the clock went backwards");
}

static void calls(struct notes *n, const struct tag_report *r)
{
	count(n, r->uncertain, "call has an uncertain time", "calls have uncertain times",
	      " (~N after a name: N of its calls)");
	count(n, r->open, "call had not ended", "calls had not ended",
	      " at the end of the capture (open N after a name); the time up to there counts");
}

/* "2 CPUs, 5 processes" */
static void who(struct notes *n, const struct tag_report *r)
{
	const struct tag_summary *s = r->summary;
	uint64_t runners = r->devices ? s->streams : s->threads;
	struct buf text = {0};

	if (runners <= 1 && s->processes <= 1)
		return;
	tags_text_number(n->scale, runners, &text);
	buf_addf(&text, " %s, ",
	         r->devices ? plural(runners, "CPU", "CPUs")
	                    : plural(runners, "thread", "threads"));
	tags_text_number(n->scale, s->processes, &text);
	buf_addf(&text, " %s", plural(s->processes, "process", "processes"));
	say(n, buf_text(&text));
	buf_done(&text);
}

void tags_text_notes(const struct tag_report *r, const struct tags_scale *s,
                     const struct text_style *style, struct buf *out)
{
	struct notes n = {.scale = s, .style = style, .out = out};

	if (!r->summary->tags)
		say(&n, "there are no events: no tagged code ran during the capture");
	who(&n, r);
	if (!r->separated && r->summary->tags)
		say(&n, "waiting is not separated: times include it");
	count(&n, r->switches_lost, "switch of a thread is", "switches of threads are",
	      " missing: some waiting is counted as running");
	damage(&n, &r->summary->damage);
	calls(&n, r);
}
