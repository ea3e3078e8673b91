/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stack/stack_walk.h"

#include "base/memory/hash.h"
#include "base/memory/xalloc.h"
#include "profile/stack/stack_chain.h"
#include "profile/stack/stack_code.h"
#include "profile/stack/remote_stack.h"
#include "unwind/stack_memory.h"

#include <linux/perf_event.h>
#include <stdlib.h>

/* The bytes of a copy that must be unchanged for the memory above to be valid. */
#define PROOF_BYTES 512
/* Of known frames, so much of the stack is compared with what the memory holds. */
#define COMPARED_BYTES 16384
/* Prefetched: the lines of so many frames, and the bytes below a CFA where most registers are
 * saved.
 */
#define PREFETCHED_FRAMES 64
#define SAVED_BYTES 64
/* From so many frames on it is looked whether the rest is known, and at each doubling. */
#define LOOK_FRAMES 64

struct stack_walk {
	struct process_table *processes;
	struct stack_walk_options options;
	const struct unwind_machine *machine;
	struct stack_code *code;
	struct stack_memory *memory;
	struct remote_stack *live;
	VEC(struct unwind_frame) frames; /* of the sample, innermost first */
	struct stack_chain chain;
	struct stack_walk_counts counts;
	bool opens; /* the next sample's tables are not put off */
};

/* One sample on its way. */
struct stack_walk_walk {
	struct stack_walk *w;
	uint32_t process;
	uint64_t version; /* of its maps */
	struct unwind_cursor cursor;
	struct unwind_memory memory;
	struct known_stack *known;
	uint64_t floor; /* the last frame's, of those that stand in the copy */
	uint32_t base;  /* frames on other stacks than the outermost: signal handlers' */
	uint32_t match; /* the known frame that the last one is, or STACK_UNKNOWN */
	uint64_t tag;   /* of the registers of what the handler at base interrupted */
	bool kept;      /* the known stack goes on where the frames before base end */
};

struct stack_walk *stack_walk_new(struct process_table *processes, struct image_table *images,
                                  const struct stack_walk_options *options)
{
	struct stack_walk *w = xcalloc(1, sizeof(*w));

	w->processes = processes;
	w->options = *options;
	w->machine = unwind_native();
	w->chain.last_outer = options->outer_given;
	if (w->machine)
		w->code = stack_code_new(processes, images, w->machine, &w->options, &w->counts);
	w->memory = stack_memory_new();
	if (options->live)
		w->live = remote_stack_new(options->foreign);
	return w;
}

void stack_walk_free(struct stack_walk *w)
{
	if (!w)
		return;
	stack_code_free(w->code);
	stack_memory_free(w->memory);
	remote_stack_free(w->live);
	vec_done(&w->frames);
	free(w);
}

void stack_walk_take_tables(struct stack_walk *w, struct stack_walk *before,
                            const struct image_table *images_before)
{
	if (w->code && before->code)
		stack_code_take_tables(w->code, before->code, images_before);
}

static const struct stack_code_place *code_at(const struct stack_walk_walk *s, uint64_t address)
{
	return stack_code_at(s->w->code, s->process, s->version, address);
}

/*
 * Frame pointers lead through code without a table. The register may
 * hold another value, so the result is checked: the return address must be in
 * code, and the chain must continue if the caller needs it too.
 */
static enum unwind_result by_frame_pointer(struct stack_walk_walk *s, enum stack_code_kind kind)
{
	struct unwind_cursor before = s->cursor;
	const struct stack_code_place *caller;
	enum unwind_result r;
	bool linked;

	if (s->w->options.method != STACK_METHOD_AUTO)
		return UNWIND_WRONG;
	r = unwind_frame_pointer(&s->cursor, s->w->machine, &s->memory, &linked);
	if (r == UNWIND_FIRST && (kind == STACK_CODE_NO_FILE || before.exact))
		r = UNWIND_WRONG; /* the register may be used for anything, or for nothing */
	if (r != UNWIND_CALLER)
		return r;
	caller = code_at(s, s->cursor.regs.pc - 1);
	if (caller->kind == STACK_CODE_LATER)
		return UNWIND_WRONG;
	if (caller->kind == STACK_CODE_RULE || (caller->kind != STACK_CODE_NONE && linked)) {
		s->w->counts.by_frame_pointer++;
		return r;
	}
	s->cursor = before;
	s->cursor.cfa = 0;
	return UNWIND_WRONG;
}

static enum stack_end broken_by(enum stack_code_kind kind)
{
	switch (kind) {
	case STACK_CODE_RULE:
		return STACK_BAD_RULE;
	case STACK_CODE_NO_RULE:
		return STACK_NO_TABLE;
	case STACK_CODE_NO_FILE:
		return STACK_NO_FILE;
	default:
		return STACK_NOT_CODE;
	}
}

/*
 * Code that was put on the stack as a return address without a call: what ends
 * a signal handler, and what ends a coroutine. Tables begin at its first
 * instruction, or end at its last, a system call.
 */
static enum unwind_result by_neighbour(struct stack_walk_walk *s, enum stack_code_kind kind)
{
	struct unwind_cursor *c = &s->cursor;
	const struct stack_code_place *p = code_at(s, c->exact ? c->regs.pc - 1 : c->regs.pc);

	if (p->kind == STACK_CODE_RULE && p->rule->flags & CFI_SIGNAL)
		return unwind_step(c, s->w->machine, p->table, p->rule, &s->memory);
	if (p->kind == STACK_CODE_RULE && !c->exact)
		return UNWIND_FIRST;
	return by_frame_pointer(s, kind);
}

/* Identifies a function's caller by the registers that the function must preserve. */
static uint64_t tag_of(const struct unwind_cursor *c, const struct unwind_machine *m)
{
	uint64_t held = c->regs.known & m->callee_saved, tag = held;

	for (; held; held &= held - 1)
		tag = hash_pair(tag, c->regs.value[__builtin_ctzll(held)]);
	return tag;
}

/* Notes the frame at which the cursor stands, and goes to its caller. NOT_TOLD: go on. */
static enum stack_end walk_frame(struct stack_walk_walk *s)
{
	struct unwind_cursor *c = &s->cursor;
	struct unwind_frame frame = {.pc = c->regs.pc};
	const struct stack_code_place *p = code_at(s, unwind_place(c));
	enum stack_code_kind kind = p->kind;
	enum unwind_result r = UNWIND_WRONG;
	uint8_t switches = c->switches;

	c->cfa = 0;
	if (c->floor - s->memory.start < s->memory.size)
		s->floor = c->floor;
	if (kind == STACK_CODE_RULE)
		r = unwind_step(c, s->w->machine, p->table, p->rule, &s->memory);
	else if (kind == STACK_CODE_NO_RULE)
		r = by_neighbour(s, kind);
	else if (kind == STACK_CODE_NO_FILE)
		r = by_frame_pointer(s, kind);
	frame.cfa = c->cfa ? c->cfa : c->floor + 1;
	vec_push(&s->w->frames, frame);
	if (c->switches != switches && r == UNWIND_CALLER) {
		s->base = (uint32_t)s->w->frames.count;
		s->tag = tag_of(c, s->w->machine);
	}
	switch (r) {
	case UNWIND_CALLER:
		return STACK_END_UNKNOWN;
	case UNWIND_FIRST:
		return STACK_WHOLE;
	case UNWIND_BEYOND:
		return STACK_CUT_COPY;
	default:
		return broken_by(kind);
	}
}

/* How the stack ends for a walk that reaches this known frame. */
static enum stack_end known_end(const struct known_stack *k, uint32_t frame)
{
	for (size_t i = k->gaps.count; i > 0; i--)
		if (k->gaps.items[i - 1] <= frame)
			return k->gaps.items[i - 1] ? STACK_CUT_COPY : k->end;
	return k->end;
}

/*
 * Whether the return addresses of known frames, from `match` outward, are where
 * they were: UNWIND_CALLER if all are, to frame `first` or `reach` bytes above the
 * match; UNWIND_BEYOND if there is no more to be read; else UNWIND_WRONG.
 */
static enum unwind_result compare_callers(const struct stack_walk_walk *s, uint32_t match,
                                          uint32_t first, uint64_t reach)
{
	const struct unwind_frame *frames = s->known->frames.items;
	uint64_t start = frames[match].cfa, floor = start - sizeof(start), word;
	enum unwind_result r;

	for (uint32_t i = match; i > first && frames[i].cfa - start < reach; i--) {
		r = unwind_read(&s->memory, floor, frames[i].cfa - sizeof(word), &word);
		if (r != UNWIND_CALLER)
			return r;
		if (word != frames[i - 1].pc)
			return UNWIND_WRONG;
	}
	return UNWIND_CALLER;
}

/* True if the place of a frame's return address is known: directly below its CFA. */
static bool addresses_are_pushed(const struct stack_walk_walk *s)
{
	return s->w->machine->ra == s->w->machine->pc;
}

/*
 * Live: whether the known frames above the matched one are those that are
 * there, as far as it costs little. A thread that returned and came back by
 * another way has frames of the same place and size below others.
 */
static bool still_there(const struct stack_walk_walk *s)
{
	return !addresses_are_pushed(s) ||
	       compare_callers(s, s->match, known_stack_joined(s->known), COMPARED_BYTES) ==
	               UNWIND_CALLER;
}

/* Walks on to an end. `join`: where known frames are met that are whole, they
 * end it too. */
static enum stack_end walk_frames(struct stack_walk_walk *s, bool join)
{
	enum stack_end end;

	do {
		if (s->w->frames.count >= STACK_DEPTH_MAX)
			return STACK_CUT_LIMIT;
		end = walk_frame(s);
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

/*
 * Whether the last frame is a known one whose callers' return addresses are all
 * where they were: to the first function (whole), or to the end of the copy.
 * Comparing a word costs a tenth of walking a frame.
 */
static bool rest_stands(struct stack_walk_walk *s, enum stack_end *end)
{
	const struct known_stack *k = s->known;
	uint32_t match = known_stack_find(k, vec_last(&s->w->frames));

	if (s->base || k->gaps.count || k->end != STACK_WHOLE || !addresses_are_pushed(s) ||
	    match == STACK_UNKNOWN || match < LOOK_FRAMES)
		return false;
	switch (compare_callers(s, match, 0, UINT64_MAX)) {
	case UNWIND_CALLER:
		s->match = match;
		*end = STACK_WHOLE;
		return true;
	case UNWIND_BEYOND:
		*end = STACK_CUT_COPY;
		return true;
	default:
		return false;
	}
}

/* Walks the frames in the copy. After a match, the rest is taken from the known frames. */
static enum stack_end walk_copy(struct stack_walk_walk *s)
{
	size_t look = LOOK_FRAMES;
	enum stack_end end;

	do {
		if (s->w->frames.count >= STACK_DEPTH_MAX)
			return STACK_CUT_LIMIT;
		end = walk_frame(s);
		if (end != STACK_END_UNKNOWN || s->w->frames.count != look)
			continue;
		look *= 2;
		if (rest_stands(s, &end))
			return end;
	} while (end == STACK_END_UNKNOWN);
	return end;
}

/*
 * The known frame that the last one is. Where its CFA stands beyond the copy,
 * the one before it tells, if it was called from the same place.
 */
static uint32_t find_match(const struct stack_walk_walk *s)
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

/* The sample's frames of the outermost stack are all that is known of the
 * thread from now on. */
static void keep_alone(struct stack_walk_walk *s, enum stack_end end)
{
	known_stack_keep(s->known, 0, s->w->frames.items + s->base,
	                 (uint32_t)s->w->frames.count - s->base, true);
	s->known->end = end;
	s->kept = true;
}

/* The last frame is the known one `match`: what stands above that is stitched.
 */
static enum stack_end stitch(struct stack_walk_walk *s)
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

/* Nothing known joins: the frames that may still stand above are kept, behind a
 * gap. */
static void keep_island(struct stack_walk_walk *s)
{
	uint32_t count = (uint32_t)s->w->frames.count - s->base;
	uint32_t outer = 0;

	if (count)
		outer = known_stack_above(s->known, vec_last(&s->w->frames)->cfa);
	if (!outer || outer + count > STACK_DEPTH_MAX) {
		keep_alone(s, STACK_CUT_COPY);
		return;
	}
	known_stack_keep(s->known, outer, s->w->frames.items + s->base, count, false);
	s->kept = true;
}

/* What must not have changed: where the last frames stand, most often the
 * copy's end. */
static bool begin_live(struct stack_walk_walk *s)
{
	pid_t pid = process_table_process(s->w->processes, s->process)->pid;
	const struct unwind_memory *m = &s->memory;
	uint64_t from = s->floor - 16, to = m->start + m->size; /* the last return address */

	if (from < m->start)
		from = m->start;
	if (s->base && to - from > PROOF_BYTES)
		to = from + PROOF_BYTES; /* the signal's frame; what is above it may be no stack */
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
 * What a thread left behind when it returned may still be in its memory,
 * written over in part: frames that lead nowhere are most likely that.
 */
static bool credible(enum stack_end end)
{
	return end != STACK_CUT_COPY && end != STACK_NOT_CODE && end != STACK_BAD_RULE;
}

/* From the process's own memory. False: nothing came of it, all is as it was.
 */
static bool walk_live(struct stack_walk_walk *s, bool join, enum stack_end *end)
{
	size_t count = s->w->frames.count;
	struct stack_walk_walk before = *s;

	s->w->frames.count--; /* the frame whose caller was not found: once more */
	*end = walk_frames(s, join);
	if (credible(*end) && remote_stack_end(s->w->live))
		return true;
	*s = before;
	s->w->frames.count = count;
	return false;
}

/*
 * A handler's own stack holds nothing of what it interrupted. The same place of the
 * same frame with the same registers was almost certainly called by the same functions.
 */
static bool interrupted_before(struct stack_walk_walk *s)
{
	const struct unwind_frame *last = vec_last(&s->w->frames);

	if (!s->base || s->base + 1 != s->w->frames.count || !s->cursor.cfa ||
	    !known_stack_take_back(s->known, last, s->tag))
		return false;
	s->match = find_match(s);
	return s->match != STACK_UNKNOWN;
}

/* The copy ends before the stack does. */
static enum stack_end beyond_copy(struct stack_walk_walk *s)
{
	bool live = s->w->live && s->memory.size && begin_live(s), join;
	enum stack_end end;

	s->match = find_match(s);
	join = s->match == STACK_UNKNOWN;
	if (!join && known_end(s->known, s->match) == STACK_WHOLE && (!live || still_there(s)))
		return stitch(s);
	if (live && walk_live(s, join, &end)) {
		if (end == STACK_STITCHED)
			return stitch(s);
		keep_alone(s, end);
		return end == STACK_WHOLE ? STACK_STITCHED : end;
	}
	if (s->match != STACK_UNKNOWN || interrupted_before(s))
		return stitch(s);
	keep_island(s);
	return STACK_CUT_COPY;
}

/* Stores this sample's frames as known, and adds the earlier known frames. */
static enum stack_end remember(struct stack_walk_walk *s, enum stack_end end)
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

static void without_registers(struct stack_walk *w, const struct event *e,
                              struct stack_walk_result *result)
{
	const struct event_sample *sample = &e->sample;
	struct unwind_cursor cursor;

	result->end = STACK_NO_REGISTERS;
	result->chain = w->chain.addresses;
	if (e->mode == CPU_MODE_USER) {
		w->chain.addresses[result->count++] = sample->ip;
	} else if (!sample->regs) {
		result->end = STACK_NONE;
	} else if (w->machine &&
	           unwind_start(&cursor, w->machine, sample->regs, sample->regs_mask)) {
		/* A 32-bit program: only the place where it entered the kernel is known. */
		w->chain.addresses[result->count++] = cursor.regs.pc;
	}
}

/*
 * Most lines of the copy are in no cache: the kernel wrote them on another CPU, or long ago. A walk
 * would wait for one line after the other. The thread's outer frames are mostly those of its last
 * sample, so their lines are prefetched together.
 */
static void prefetch_frames(const struct stack_walk_walk *s)
{
	const struct unwind_memory *m = &s->memory;
	size_t count = s->known->frames.count,
	       last = count > PREFETCHED_FRAMES ? count - PREFETCHED_FRAMES : 0;

	for (size_t i = count; i > last; i--) {
		uint64_t into = s->known->frames.items[i - 1].cfa - m->start;

		if (into > m->size || into < SAVED_BYTES)
			continue;
		__builtin_prefetch(m->bytes + into - 1);
		__builtin_prefetch(m->bytes + into - SAVED_BYTES);
	}
}

static void begin_walk(struct stack_walk_walk *s, uint32_t process, uint32_t thread,
                       const struct event_sample *sample)
{
	struct stack_walk *w = s->w;

	s->process = process;
	s->version = process_table_maps_version(w->processes, process, CPU_MODE_USER);
	s->known = stack_memory_of(w->memory, thread);
	s->memory.bytes = sample->stack;
	s->memory.start = s->cursor.floor;
	s->memory.size = sample->stack ? sample->stack_size : 0;
	s->memory.read = NULL;
	s->base = 0;
	s->tag = 0;
	s->floor = s->memory.start;
	s->match = STACK_UNKNOWN;
	s->kept = false;
	w->frames.count = 0;
	prefetch_frames(s);
}

/*
 * Walks the copy. False: a table is needed that is not open. Nothing was remembered until then. A
 * table that is met only beyond the copy is opened at once.
 */
static bool walk_copy_or_wait(struct stack_walk_walk *s, enum stack_end *end)
{
	struct stack_walk *w = s->w;
	uint64_t by_frame_pointer = w->counts.by_frame_pointer;

	stack_code_put_off(w->code, w->options.puts_off && !w->opens);
	*end = walk_copy(s);
	if (stack_code_later(w->code)) {
		w->counts.by_frame_pointer = by_frame_pointer;
		return false;
	}
	stack_code_put_off(w->code, false);
	w->opens = false;
	w->counts.samples++;
	return true;
}

void stack_walk_sample(struct stack_walk *w, uint32_t process, uint32_t thread,
                       const struct event *e, struct stack_walk_result *result)
{
	const struct event_sample *sample = &e->sample;
	enum stack_end end;
	struct stack_walk_walk s;

	*result = (struct stack_walk_result){.end = STACK_NONE};
	if (!w->machine || !sample->regs || sample->regs_abi != PERF_SAMPLE_REGS_ABI_64 ||
	    !unwind_start(&s.cursor, w->machine, sample->regs, sample->regs_mask)) {
		w->counts.samples++;
		without_registers(w, e, result);
		return;
	}
	s.w = w;
	begin_walk(&s, process, thread, sample);
	if (!walk_copy_or_wait(&s, &end)) {
		result->later = true;
		return;
	}
	/* In the kernel between two programs: the registers are the old one's, the maps the new's.
	 */
	if (end == STACK_NOT_CODE && w->frames.count == 1 && e->mode == CPU_MODE_KERNEL)
		return;
	if (end == STACK_WHOLE && s.match != STACK_UNKNOWN)
		result->end = stitch(&s) == STACK_STITCHED ? STACK_WHOLE : STACK_CUT_LIMIT;
	else
		result->end = remember(&s, end);
	w->counts.frames += w->frames.count;
	stack_chain_give(&w->chain, &w->options, w->frames.items, s.kept ? s.base : w->frames.count,
	                 s.kept ? s.known : NULL, result);
}

void stack_walk_open(struct stack_walk *w)
{
	w->opens = !w->code || !stack_code_open(w->code);
}

void stack_walk_forget(struct stack_walk *w, uint32_t thread)
{
	stack_memory_forget(w->memory, thread);
}

const struct stack_walk_counts *stack_walk_counts(const struct stack_walk *w)
{
	return &w->counts;
}
