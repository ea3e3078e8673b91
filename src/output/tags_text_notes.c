/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the figures of event tags leave open: what was lost, mended or guessed. */
#include "output/tags_text.h"

#include "base/plural.h"

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

/* "1,234 events were lost": of nothing nothing is said. `one` of one of them. */
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
	count(n, d->lost, "event was lost", "events were lost",
	      ": there was no room for them where they were recorded");
	count(n, d->gaps, "gap", "gaps",
	      ": events are missing there, or capture was off; what was open is not known behind "
	      "one");
	count(n, d->missing_exits, "call ended without an exit", "calls ended without an exit",
	      ": left by a jump or an exit that is lost, or of a function that never returns");
	count(n, d->unmatched_exits, "exit has no entry", "exits have no entry",
	      ": called before the capture began, or the entry is lost; their time is their "
	      "callers' or (outside)");
	count(n, d->inherited_exits, "exit is", "exits are",
	      " of a function that a fork's child did not enter: its parent did, and has the call");
	count(n, d->unknown_tags, "event has a tag", "events have tags",
	      " that no names file has: shown as \"tag N\"");
	count(n, d->guesses, "switch could have been", "switches could have been",
	      " to several processes: the one that waited longest was taken");
	count(n, d->backwards, "packet begins", "packets begin",
	      " before the one before it ended: the clock did not go on evenly");
}

static void calls(struct notes *n, const struct tag_report *r)
{
	count(n, r->uncertain, "call has an uncertain time", "calls have uncertain times",
	      " (~N behind a name: so many of its calls)");
	count(n, r->open, "call had not ended", "calls had not ended",
	      " when the capture did (open N behind a name); the time up to there counts");
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
		say(&n, "there are no events: nothing that is tagged ran while they were taken");
	who(&n, r);
	if (!r->separated && r->summary->tags)
		say(&n, "waiting is not separated: times include it");
	count(&n, r->switches_lost, "switch of a thread is", "switches of threads are",
	      " missing: some waiting is counted as running");
	damage(&n, &r->summary->damage);
	calls(&n, r);
}
