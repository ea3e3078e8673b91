/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads wait again and again at the same places. The frames of such a place are kept, and a later
 * sample with the same registers compares its return addresses with them, without unwind tables.
 */
#include "base/memory/hash.h"
#include "profile/stack/sample_walk.h"

/* The entry for these registers; others may use it. */
static struct walked_place *place_of(const struct sample_walk *s)
{
	uint64_t hash = hash_pair(hash_pair(s->pc, s->memory.start), s->known->thread);

	return &s->w->places[hash & (WALKED_PLACES - 1)];
}

static bool is_here(const struct walked_place *p, const struct sample_walk *s)
{
	return p->count && p->pc == s->pc && p->sp == s->memory.start && p->fp == s->fp &&
	       p->thread == s->known->thread && p->version == s->version;
}

/* Takes the frames as far as the copy has their return addresses. */
static enum unwind_result take_frames(struct sample_walk *s, const struct walked_place *p)
{
	uint64_t word;
	enum unwind_result r;

	vec_push(&s->w->frames, p->frames[0]);
	for (uint32_t i = 1; i < p->count; i++) {
		r = unwind_read(&s->memory, p->sp, p->frames[i - 1].cfa - sizeof(word), &word);
		if (r != UNWIND_CALLER)
			return r;
		if (word != p->frames[i].pc)
			return UNWIND_WRONG;
		s->floor = p->frames[i - 1].cfa;
		vec_push(&s->w->frames, p->frames[i]);
	}
	return UNWIND_CALLER;
}

bool sample_walk_recall(struct sample_walk *s, enum stack_end *end)
{
	const struct walked_place *p = place_of(s);
	enum unwind_result r;

	if (!s->w->trusts || !is_here(p, s))
		return false;
	r = take_frames(s, p);
	s->cursor.cfa = vec_last(&s->w->frames)->cfa;
	*end = r == UNWIND_BEYOND ? STACK_CUT_COPY : STACK_WHOLE;
	s->recalled = r == UNWIND_BEYOND || (r == UNWIND_CALLER && p->complete) ||
	              (r == UNWIND_CALLER && sample_walk_rest_stands(s, end));
	if (s->recalled)
		return true;
	s->w->frames.count = 0;
	s->floor = s->memory.start;
	s->cursor.cfa = 0;
	return false;
}

void sample_walk_keep_place(struct sample_walk *s)
{
	const struct known_stack *k = s->known;
	struct walked_place *p = place_of(s);
	size_t count = k->frames.count;

	/* Only then a return address is directly below the CFA of each frame. */
	if (!s->w->trusts || s->recalled || s->base || !s->kept || k->gaps.count ||
	    s->w->machine->ra != s->w->machine->pc || !count)
		return;
	p->version = s->version;
	p->pc = s->pc;
	p->sp = s->memory.start;
	p->fp = s->fp;
	p->thread = k->thread;
	p->complete = count <= WALKED_PLACE_FRAMES;
	p->count = p->complete ? (uint16_t)count : WALKED_PLACE_FRAMES;
	for (uint32_t i = 0; i < p->count; i++) {
		p->frames[i] = k->frames.items[count - 1 - i];
		if (p->frames[i].pc == SAMPLE_WALK_HIDDEN) { /* has no return address */
			p->count = (uint16_t)i;
			p->complete = false;
		}
	}
}
