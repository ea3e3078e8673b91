/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a walk: frames of earlier samples and the memory of the thread. */
#include "profile/stack/sample_walk.h"

/* The thread's memory above the copy is valid if this many bytes of the copy are unchanged. */
#define PROOF_BYTES 512
/* Live: this part of the stack above a match is compared with the known frames. */
#define COMPARED_BYTES 16384
/* Of frequent samples, one of so many is compared. A prime number, since callers may come in turn.
 */
#define COMPARED_EVERY 61
/* So many unchanged comparisons in a row end the doubt in the outer frames of a thread. */
#define DOUBTED_SAMPLES 64
/* After so many reads in a row that failed, one of READ_EVERY samples is read. */
#define FAILED_MAX 8
#define READ_EVERY 8

/* How the stack ends beyond this known frame. */
static enum stack_end known_end(const struct known_stack *k, uint32_t frame)
{
	for (size_t i = k->gaps.count; i > 0; i--)
		if (k->gaps.items[i - 1] <= frame)
			return k->gaps.items[i - 1] ? STACK_CUT_COPY : k->end;
	return k->end;
}

/*
 * Compares the return addresses of known frames with the stack, from frame `match` outward, to
 * frame `first` or `reach` bytes above the match. UNWIND_CALLER: all are unchanged; UNWIND_BEYOND:
 * the memory ends before; UNWIND_WRONG: an address has changed. A frame that stands for hidden ones
 * has no return address.
 */
static enum unwind_result compare_callers(const struct sample_walk *s, uint32_t match,
                                          uint32_t first, uint64_t reach)
{
	const struct unwind_frame *frames = s->known->frames.items;
	uint64_t start = frames[match].cfa, floor = start - sizeof(start), word;
	enum unwind_result r;

	for (uint32_t i = match; i > first && frames[i].cfa - start < reach; i--) {
		if (frames[i].pc == SAMPLE_WALK_HIDDEN || frames[i - 1].pc == SAMPLE_WALK_HIDDEN)
			continue;
		r = unwind_read(&s->memory, floor, frames[i].cfa - sizeof(word), &word);
		if (r != UNWIND_CALLER)
			return r;
		if (word != frames[i - 1].pc)
			return UNWIND_WRONG;
	}
	return UNWIND_CALLER;
}

/* True if the return address of each frame is directly below its CFA. */
static bool addresses_are_pushed(const struct sample_walk *s)
{
	return s->w->machine->ra == s->w->machine->pc;
}

/*
 * Live: compares the known frames outside of the match with the stack, up to a limit that keeps
 * this cheap. A thread may have returned and reached an equal frame through other callers.
 */
static bool still_there(const struct sample_walk *s)
{
	return !addresses_are_pushed(s) ||
	       compare_callers(s, s->match, known_stack_joined(s->known), COMPARED_BYTES) ==
	               UNWIND_CALLER;
}

/* Walks to the end of the stack. `join`: a known frame whose callers are complete ends it too. */
static enum stack_end walk_frames(struct sample_walk *s, bool join)
{
	enum stack_end end;

	do {
		if (s->w->frames.count >= STACK_DEPTH_MAX)
			return STACK_CUT_LIMIT;
		end = sample_walk_frame(s);
		if (!join || end != STACK_END_UNKNOWN || s->base == s->w->frames.count)
			continue;
		s->match = known_stack_find(s->known, vec_last(&s->w->frames));
		if (s->match == STACK_UNKNOWN || known_end(s->known, s->match) != STACK_WHOLE)
			continue;
		if (still_there(s))
			return STACK_STITCHED;
		join = false;
	} while (end == STACK_END_UNKNOWN);
	return end;
}

/* The lowest address of the outermost known frame whose caller is in the copy. */
static uint64_t last_floor(const struct sample_walk *s, uint32_t match)
{
	const struct unwind_frame *frames = s->known->frames.items;

	while (match > 0 && frames[match - 1].cfa - s->memory.start <= s->memory.size)
		match--;
	return frames[match].cfa;
}

bool sample_walk_rest_stands(struct sample_walk *s, enum stack_end *end)
{
	const struct known_stack *k = s->known;
	uint32_t match = known_stack_find(k, vec_last(&s->w->frames));

	if (s->base || k->gaps.count || k->end != STACK_WHOLE || !addresses_are_pushed(s) ||
	    match == STACK_UNKNOWN || match < sample_walk_checked(s))
		return false;
	switch (compare_callers(s, match, 0, UINT64_MAX)) {
	case UNWIND_CALLER:
		s->match = match;
		*end = STACK_WHOLE;
		return true;
	case UNWIND_BEYOND:
		s->floor = last_floor(s, match);
		*end = STACK_CUT_COPY;
		return true;
	default:
		return false;
	}
}

/*
 * The index of the known frame that equals the last frame. If the CFA of the last frame is beyond
 * the copy, its callee decides: the callee must be known, and its known caller must have the same
 * place.
 */
static uint32_t find_match(const struct sample_walk *s)
{
	size_t count = s->w->frames.count;
	const struct unwind_frame *last = &s->w->frames.items[count - 1];
	uint32_t match;

	if (s->base == count)
		return STACK_UNKNOWN;
	if (s->cursor.cfa)
		return known_stack_find(s->known, last);
	if (count < s->base + 2)
		return STACK_UNKNOWN;
	match = known_stack_find(s->known, last - 1);
	if (match == STACK_UNKNOWN || !match || s->known->frames.items[match - 1].pc != last->pc)
		return STACK_UNKNOWN;
	vec_each (gap, &s->known->gaps)
		if (*gap == match)
			return STACK_UNKNOWN;
	return match - 1;
}

/* Replaces the known frames by the sample's frames of the outermost stack. */
static void keep_alone(struct sample_walk *s, enum stack_end end)
{
	/* Frames that were read are found again, if the thread comes back to them. */
	if (s->known->beyond)
		known_stack_keep_other(s->known);
	known_stack_keep(s->known, 0, s->w->frames.items + s->base,
	                 (uint32_t)s->w->frames.count - s->base, true);
	s->known->end = end;
	s->kept = true;
}

enum stack_end sample_walk_stitch(struct sample_walk *s)
{
	uint32_t added = (uint32_t)s->w->frames.count - s->base - 1;
	enum stack_end end = known_end(s->known, s->match);

	if (s->match + added >= STACK_DEPTH_MAX) {
		keep_alone(s, STACK_CUT_LIMIT);
		return STACK_CUT_LIMIT;
	}
	known_stack_keep(s->known, s->match + 1, s->w->frames.items + s->base, added, true);
	s->kept = true;
	s->w->counts.stitched_frames += s->match - known_stack_joined(s->known);
	return end == STACK_WHOLE ? STACK_STITCHED : end;
}

/* No known frame matches: known frames that may still exist above are kept, behind a gap. */
static void keep_island(struct sample_walk *s)
{
	uint32_t count = (uint32_t)s->w->frames.count - s->base;
	uint32_t outer = 0;

	if (count && !s->known->beyond)
		outer = known_stack_above(s->known, vec_last(&s->w->frames)->cfa);
	if (!outer || outer + count > STACK_DEPTH_MAX) {
		keep_alone(s, STACK_CUT_COPY);
		return;
	}
	known_stack_keep(s->known, outer, s->w->frames.items + s->base, count, false);
	s->kept = true;
}

/*
 * Begins reads of the thread's memory. The proof is the part of the copy with the outermost frames,
 * most often its end.
 */
static bool begin_live(struct sample_walk *s)
{
	pid_t pid = process_table_process(s->w->processes, s->process)->pid;
	const struct unwind_memory *m = &s->memory;
	uint64_t from = s->floor - 16, to = m->start + m->size; /* with the last return address */

	if (from < m->start)
		from = m->start;
	if (s->base && to - from > PROOF_BYTES)
		to = from + PROOF_BYTES; /* memory above the signal's frame may not be a stack */
	else if (to - from < PROOF_BYTES)
		from = m->size > PROOF_BYTES ? to - PROOF_BYTES : m->start;
	s->w->counts.memory_reads++;
	if (!remote_stack_begin(s->w->live, pid, s->process, m, from, to))
		return false;
	s->memory.read = remote_stack_read;
	s->memory.ctx = s->w->live;
	return true;
}

/*
 * Memory of functions that have returned may still hold their frames, partly overwritten. A walk
 * that does not reach the first function most likely read such frames.
 */
static bool credible(enum stack_end end)
{
	return end != STACK_CUT_COPY && end != STACK_NOT_CODE && end != STACK_BAD_RULE;
}

/* Continues the walk in the thread's memory. False: that failed, and the walk is unchanged. */
static bool walk_live(struct sample_walk *s, bool join, enum stack_end *end)
{
	size_t count = s->w->frames.count;
	uint32_t last = s->at;
	struct sample_walk before = *s;

	s->w->frames.count = s->at; /* the frames from the cursor outward are walked again */
	*end = walk_frames(s, join);
	if (credible(*end) && remote_stack_end(s->w->live) && sample_walk_agrees(s, last)) {
		s->recalled = false;
		return true;
	}
	*s = before;
	s->w->frames.count = count;
	return false;
}

/*
 * Searches the callers of an interrupted frame among those of the previous interruption, since a
 * signal handler's own stack does not contain them. A frame with the same place, CFA and registers
 * almost certainly has the same callers.
 */
static bool interrupted_before(struct sample_walk *s)
{
	const struct unwind_frame *last = vec_last(&s->w->frames);

	if (!s->base || s->base + 1 != s->w->frames.count || !s->cursor.cfa ||
	    !known_stack_take_back(s->known, last, s->tag))
		return false;
	s->match = find_match(s);
	return s->match != STACK_UNKNOWN;
}

/* Searches the last frame in the stack of the thread, then in its other stacks. */
static void find_known(struct sample_walk *s)
{
	s->match = find_match(s);
	if (!s->w->trusts)
		return;
	for (uint8_t i = 0; s->match == STACK_UNKNOWN && i < s->known->other_count; i++) {
		known_stack_exchange(s->known, i);
		s->match = find_match(s);
		if (s->match == STACK_UNKNOWN)
			known_stack_exchange(s->known, i);
	}
}

/*
 * Frequent samples: whether the known frames are taken as they are. If those of a thread had
 * changed once, its next samples are compared.
 */
static bool is_trusted(struct sample_walk *s)
{
	struct known_stack *k = s->known;

	if (!s->w->trusts || s->match == STACK_UNKNOWN || known_end(k, s->match) != STACK_WHOLE ||
	    k->doubtful || ++k->unchecked >= COMPARED_EVERY)
		return false;
	s->w->counts.trusted++;
	return true;
}

/* Frequent samples of a thread that runs on before it is read are read now and then. */
static bool is_read(struct sample_walk *s)
{
	struct known_stack *k = s->known;

	if (!s->w->live || !s->memory.size)
		return false;
	if (s->w->trusts && k->failed >= FAILED_MAX && k->failed++ % READ_EVERY)
		return false;
	if (!begin_live(s)) {
		k->failed += k->failed < FAILED_MAX;
		return false;
	}
	k->failed = 0;
	return true;
}

static bool is_unchanged(struct sample_walk *s, bool live)
{
	bool same;

	if (known_end(s->known, s->match) != STACK_WHOLE)
		return false;
	s->known->unchecked = 0;
	if (!live) {
		s->w->counts.trusted += s->w->trusts;
		return true;
	}
	same = still_there(s);
	if (!s->w->trusts)
		return same;
	s->w->counts.compared++;
	s->w->counts.changed += !same;
	if (!same)
		s->known->doubtful = DOUBTED_SAMPLES;
	else if (s->known->doubtful)
		s->known->doubtful--;
	return same;
}

/* The stack is deeper than the copy: finds the outer frames. */
static enum stack_end beyond_copy(struct sample_walk *s)
{
	enum stack_end end;
	bool live, join;

	find_known(s);
	if (is_trusted(s))
		return sample_walk_stitch(s);
	live = is_read(s);
	join = s->match == STACK_UNKNOWN;
	if (!join && is_unchanged(s, live))
		return sample_walk_stitch(s);
	if (live && walk_live(s, join, &end)) {
		if (end == STACK_STITCHED)
			return sample_walk_stitch(s);
		keep_alone(s, end);
		s->known->beyond = s->w->trusts && end == STACK_WHOLE;
		return end == STACK_WHOLE ? STACK_STITCHED : end;
	}
	if (s->match != STACK_UNKNOWN || interrupted_before(s))
		return sample_walk_stitch(s);
	keep_island(s);
	return STACK_CUT_COPY;
}

enum stack_end sample_walk_remember(struct sample_walk *s, enum stack_end end)
{
	switch (end) {
	case STACK_CUT_COPY:
		end = beyond_copy(s);
		if (s->base && s->kept && end == STACK_STITCHED)
			known_stack_set_aside(s->known, s->tag);
		return end;
	case STACK_WHOLE:
	case STACK_CUT_LIMIT:
		keep_alone(s, end);
		return end;
	default:
		/* A frame without a valid caller does not replace the known frames. */
		if (s->w->frames.count > STACK_WALK_CHAIN || !s->known->frames.count ||
		    stack_quality(s->known->end) == STACK_QUALITY_BROKEN)
			keep_alone(s, end);
		return end;
	}
}
