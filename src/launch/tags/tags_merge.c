/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/tags_merge.h"

#include "tags/tag_words.h"

#include <string.h>

#define SPAN_MOST (ASSAY_TAGS_CLOCK_MASK / 2) /* maximum time between two words of a piece */

struct merging {
	const struct tags_merge *m;
	struct tags_merged *into;
	bool ascends;  /* the clock of the events never decreases */
	size_t event;  /* the next */
	uint64_t time; /* of `event`, complete */
	size_t at;     /* index of the next switch */
	uint64_t last; /* time of the last written word */
};

static bool more(const struct merging *g)
{
	return g->event < g->m->count;
}

static void put(struct merging *g, uint64_t time, uint32_t tag)
{
	/*
	 * A word has only the low bits of the clock, so a new packet starts well before they wrap.
	 */
	if (!g->into->words.count || time - g->last > SPAN_MOST)
		vec_push(&g->into->pieces, (struct tags_piece){g->into->words.count, time});
	vec_push(&g->into->words, time << ASSAY_TAGS_TAG_BITS | tag);
	g->last = time;
}

static void put_event(struct merging *g)
{
	put(g, g->time > g->last ? g->time : g->last,
	    (uint32_t)(g->m->words[g->event] & ASSAY_TAGS_TAG_MASK));
	if (++g->event < g->m->count)
		g->time = tag_words_time(g->time, g->m->words[g->event]);
}

static void put_switch(struct merging *g, uint64_t time)
{
	put(g, time > g->last ? time : g->last, g->m->switches[g->at].tag);
	g->at++;
}

/*
 * An event that seems to be after the switch out, and is nearer to it than to the switch in, was
 * before it.
 */
static void switch_out(struct merging *g)
{
	const struct tags_switch *s = &g->m->switches[g->at];
	bool in_known = g->at + 1 < g->m->switch_count;
	uint64_t in = in_known ? s[1].ticks : UINT64_MAX, time = s->ticks;

	while (more(g) && g->time <= s->ticks)
		put_event(g);
	while (more(g) && g->time < in && g->time - s->ticks <= g->m->near &&
	       g->time - s->ticks <= in - g->time) {
		time = g->time;
		put_event(g);
	}
	put_switch(g, time);
}

static void switch_in(struct merging *g)
{
	uint64_t in = g->m->switches[g->at].ticks;

	while (more(g) && g->time < in && in - g->time > g->m->near)
		put_event(g);
	put_switch(g, more(g) && g->time < in ? g->time : in);
}

/* True if the next switch comes before the remaining events. */
static bool is_due(const struct merging *g, uint64_t end)
{
	const struct tags_switch *s = &g->m->switches[g->at];

	if (!more(g))
		return false;
	if (s->ticks <= end)
		return true;
	/* True if the last event seems to come shortly before the switch in, although it came after
	 * it. */
	return s->tag == ASSAY_TAG_SWITCH_IN && s->ticks - end <= g->m->near &&
	       (!g->at || (s[-1].tag != ASSAY_TAG_SWITCH_IN && s[-1].ticks < end));
}

static uint64_t end_of(const struct merging *g)
{
	const struct tags_merge *m = g->m;
	uint64_t time = m->begin;

	if (g->ascends && m->count)
		return tag_words_time(time, m->words[0]) + tag_words_span(m->words, m->count);
	for (size_t i = 0; i < m->count; i++)
		time = tag_words_time(time, m->words[i]);
	return time;
}

/* Copies the remaining events at once if no word changes: most packets have no switch at all. */
static void put_same(struct merging *g)
{
	const uint64_t *words = g->m->words + g->event;
	size_t count = g->m->count - g->event, used = g->into->words.count;
	uint64_t last = g->time + tag_words_span(words, count);

	if (!g->ascends || g->time < g->last || last - g->last > SPAN_MOST)
		return;
	vec_reserve(&g->into->words, used + count);
	memcpy(g->into->words.items + used, words, count * sizeof(*words));
	g->into->words.count += count;
	g->event = g->m->count;
	g->last = last;
}

static void put_rest(struct merging *g)
{
	if (more(g))
		put_event(g); /* this may begin a piece */
	if (more(g))
		put_same(g);
	while (more(g))
		put_event(g);
}

size_t tags_merge(const struct tags_merge *m, bool whole, struct tags_merged *into)
{
	struct merging g = {.m = m,
	                    .into = into,
	                    .ascends = tag_words_ascend(m->words, m->count),
	                    .last = m->floor};
	uint64_t end = end_of(&g);

	into->words.count = into->pieces.count = 0;
	if (m->count)
		g.time = tag_words_time(m->begin, m->words[0]);
	while (g.at < m->switch_count && is_due(&g, end)) {
		if (m->switches[g.at].tag == ASSAY_TAG_SWITCH_IN)
			switch_in(&g);
		else
			switch_out(&g);
	}
	put_rest(&g);
	while (whole && g.at < m->switch_count)
		put_switch(&g, m->switches[g.at].ticks);
	into->end = g.last;
	return g.at;
}

void tags_merge_done(struct tags_merged *merged)
{
	vec_done(&merged->words);
	vec_done(&merged->pieces);
}
