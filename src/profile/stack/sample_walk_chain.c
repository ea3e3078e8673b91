/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers from the kernel's chain: of a function of Go that moved the stack pointer to another
 * stack, and of frames at the end of the copy.
 *
 * The sample has a copy of a part of one stack. Other memory may have changed when it is read,
 * since the innermost frames return often. The kernel followed the frame pointers at the time of
 * the sample, and all Go functions with a frame set one, as does C code with frame pointers. Both
 * walks are at the same frame where the frame pointer is the same.
 */
#include "profile/stack/sample_walk.h"

#define WORD sizeof(uint64_t)

static bool copied_word(const struct sample_walk *s, uint64_t address, uint64_t *word)
{
	uint64_t into = address - s->memory.start;

	if (into >= s->memory.size || s->memory.size - into < WORD)
		return false;
	memcpy(word, s->memory.bytes + into, WORD);
	return true;
}

/*
 * The index in the kernel's chain of the return address of the frame with that frame pointer; 0:
 * the chain did not pass it. The frame pointers before it are in the copy, as are their addresses.
 */
static uint32_t chain_index(const struct sample_walk *s, uint64_t frame)
{
	const struct unwind_machine *m = s->w->machine;
	uint64_t fp = s->fp, next, ra;

	for (uint32_t i = 1; i < s->chain_count && fp; i++, fp = next) {
		if (fp == frame)
			return i;
		if (!copied_word(s, fp + m->fp_ra, &ra) || ra != s->chain[i])
			return 0;
		if (copied_word(s, fp + m->fp_saved, &next))
			continue;
		/* Callers of Go's duffzero() and duffcopy() save it below the stack pointer. */
		if (i > 1 || s->w->frames.count < 2 || fp + m->fp_ra != s->memory.start)
			return 0;
		next = s->w->frames.items[1].cfa - m->fp_size;
	}
	return 0;
}

static bool saves_frame_pointer(const struct sample_walk *s, const struct cfi_table *table,
                                const struct cfi_rule *rule)
{
	for (uint32_t i = rule->saves; i < rule->saves + rule->save_count; i++)
		if (table->saves[i].reg == s->w->machine->fp)
			return table->saves[i].how == CFI_AT_CFA;
	return false;
}

/* No CFA is known: the number is above the last one, and never that of a frame. */
static void add_frame(struct sample_walk *s, uint64_t pc)
{
	struct unwind_frame frame = {.pc = pc, .cfa = s->cursor.floor | 1};

	if (s->w->frames.count > s->base && vec_last(&s->w->frames)->cfa >= frame.cfa)
		frame.cfa = (vec_last(&s->w->frames)->cfa | 1) + 2 * WORD;
	vec_push(&s->w->frames, frame);
}

/* Adds the frames of the chain from an index on, as far as they are those of the Go program. */
static enum stack_end add_chain(struct sample_walk *s, const struct cfi_table *table, uint32_t i)
{
	const struct stack_code_place *p;

	for (; i < s->chain_count && s->w->frames.count < STACK_DEPTH_MAX; i++) {
		p = stack_code_at(s->w->code, s->process, s->version, s->chain[i] - 1);
		if (p->kind != STACK_CODE_RULE || p->table != table)
			break;
		add_frame(s, s->chain[i]);
		if (p->rule->flags & (CFI_SWITCHES | CFI_LOST))
			break;
		if (p->rule->flags & CFI_OUTERMOST)
			return STACK_WHOLE;
		if (!saves_frame_pointer(s, table, p->rule))
			add_frame(s, SAMPLE_WALK_HIDDEN);
	}
	return STACK_OTHER_STACK;
}

enum stack_end sample_walk_switch(struct sample_walk *s, const struct cfi_table *table,
                                  const struct cfi_rule *rule)
{
	const struct unwind_regs *regs = &s->cursor.regs;
	unsigned fp = s->w->machine->fp;
	uint32_t i = 0;

	s->joined = true;
	add_frame(s, regs->pc);
	s->at = (uint32_t)s->w->frames.count - 1;
	if (!(rule->flags & CFI_LOST) && regs->known >> fp & 1)
		i = chain_index(s, regs->value[fp]);
	if (!i)
		return STACK_OTHER_STACK;
	if (rule->flags & CFI_HIDES)
		add_frame(s, SAMPLE_WALK_HIDDEN);
	return add_chain(s, table, i);
}

/* Whether the frame pointer of code with this rule leads to the frame of its function. */
static bool is_linked(const struct sample_walk *s, const struct stack_code_place *p)
{
	if (p->kind != STACK_CODE_RULE)
		return false;
	return p->rule->flags & CFI_LINKED || (sample_walk_by_frame_pointer(s, p->rule) &&
	                                       saves_frame_pointer(s, p->table, p->rule));
}

bool sample_walk_agrees(struct sample_walk *s, uint32_t last)
{
	const struct unwind_frame *frames = s->w->frames.items;
	uint32_t i = 0;

	if (s->chain_count && !s->base && last < s->w->frames.count)
		i = chain_index(s, frames[last].cfa - s->w->machine->fp_size);
	if (!i)
		return true;
	for (uint32_t k = last; k + 1 < s->w->frames.count && i < s->chain_count; k++, i++) {
		if (!is_linked(s, stack_code_at(s->w->code, s->process, s->version,
		                                frames[k].pc - !frames[k].exact)))
			return true;
		if (frames[k + 1].pc == SAMPLE_WALK_HIDDEN)
			return true;
		if (frames[k + 1].pc != s->chain[i])
			return false;
	}
	return true;
}

/*
 * Adds the known callers of the last frame, which came from the chain and has no CFA: it must be at
 * one place of the thread's stack alone, above the copy.
 */
static bool add_known_callers(struct sample_walk *s)
{
	const struct known_stack *k = s->known;
	size_t count = k->gaps.count ? k->gaps.items[0] : k->frames.count, found = count;
	uint64_t pc = vec_last(&s->w->frames)->pc;

	if (k->end != STACK_WHOLE)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (k->frames.items[i].pc != pc)
			continue;
		if (found < count || k->frames.items[i].cfa - s->memory.start <= s->memory.size)
			return false;
		found = i;
	}
	if (found == count)
		return false;
	for (size_t i = found; i > 0; i--)
		add_frame(s, k->frames.items[i - 1].pc);
	return true;
}

/* Adds the frames of the chain from an index on. False: they do not lead to the first function. */
static bool add_linked(struct sample_walk *s, uint32_t i)
{
	const struct stack_code_place *p;

	for (; i < s->chain_count && s->w->frames.count < STACK_DEPTH_MAX; i++) {
		add_frame(s, s->chain[i]);
		p = stack_code_at(s->w->code, s->process, s->version, s->chain[i] - 1);
		if (p->kind == STACK_CODE_RULE && p->rule->flags & CFI_OUTERMOST)
			return true;
		if (!is_linked(s, p))
			return add_known_callers(s);
	}
	return false;
}

bool sample_walk_chain(struct sample_walk *s, enum stack_end *end)
{
	size_t count = s->w->frames.count;
	const struct unwind_frame *last = vec_last(&s->w->frames);
	uint32_t i;

	if (!s->chain_count || s->base || s->recalled ||
	    !is_linked(s,
	               stack_code_at(s->w->code, s->process, s->version, last->pc - !last->exact)))
		return false;
	i = chain_index(s, last->cfa - s->w->machine->fp_size);
	if (!i || !add_linked(s, i)) {
		s->w->frames.count = count;
		return false;
	}
	s->joined = true;
	*end = STACK_STITCHED;
	return true;
}
