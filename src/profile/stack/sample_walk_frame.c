/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One step of a walk: from a frame to its caller. */
#include "base/memory/hash.h"
#include "profile/stack/sample_walk.h"

static const struct stack_code_place *code_at(const struct sample_walk *s, uint64_t address)
{
	return stack_code_at(s->w->code, s->process, s->version, address);
}

/*
 * Finds the caller by the frame pointer, in code without a table. The register may hold another
 * value, so the result is checked: the return address must be in code, and if the caller has no
 * table either, its frame pointer must be linked too.
 */
static enum unwind_result by_frame_pointer(struct sample_walk *s, enum stack_code_kind kind)
{
	struct unwind_cursor before = s->cursor;
	const struct stack_code_place *caller;
	enum unwind_result r;
	bool linked;

	if (s->w->options.method != STACK_METHOD_AUTO)
		return UNWIND_WRONG;
	r = unwind_frame_pointer(&s->cursor, s->w->machine, &s->memory, &linked);
	if (r == UNWIND_FIRST && (kind == STACK_CODE_NO_FILE || before.exact))
		r = UNWIND_WRONG; /* the register may hold any value */
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

/* The reason why the caller of a frame in such code was not found. */
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
 * Steps from code whose address was put on the stack as a return address without a call: the
 * trampolines that end a signal handler or a coroutine. The rule of the adjacent instruction
 * applies, since tables begin at the first instruction of such code, or end at its last one, a
 * system call.
 */
static enum unwind_result by_neighbour(struct sample_walk *s, enum stack_code_kind kind)
{
	struct unwind_cursor *c = &s->cursor;
	const struct stack_code_place *p = code_at(s, c->exact ? c->regs.pc - 1 : c->regs.pc);

	if (p->kind == STACK_CODE_RULE && p->rule->flags & CFI_SIGNAL)
		return unwind_step(c, s->w->machine, p->table, p->rule, &s->memory);
	if (p->kind == STACK_CODE_RULE && !c->exact)
		return UNWIND_FIRST;
	return by_frame_pointer(s, kind);
}

#define RETURN_CODE_BYTES 64

/* Live: the rule of code that nothing describes, or generated code that the program describes
 * later. */
static const struct return_code *return_code(struct sample_walk *s)
{
	uint64_t place = s->cursor.regs.pc;
	struct return_code *r = &s->w->returns[hash_pair(place, s->process) & (RETURN_CODES - 1)];
	const struct mapping *m = process_table_mapping(s->w->processes, s->process, place);
	pid_t pid = process_table_process(s->w->processes, s->process)->pid;
	uint8_t bytes[RETURN_CODE_BYTES];
	size_t size;
	bool known;

	if (!s->w->live || !m)
		return NULL;
	known = r->place == place && r->process == s->process;
	if (!known || s->time_ns - r->read_ns > RETURN_CODE_NS) {
		size = remote_stack_code(s->w->live, pid, s->process, place, bytes, sizeof(bytes));
		r->read_ns = s->time_ns;
		if (known && !size) /* the process has exited since the sample */
			return r->found ? r : NULL;
		r->place = place;
		r->process = s->process;
		r->found = unwind_return_rule(s->w->machine, bytes, size, &r->rule, r->saves);
	}
	return r->found ? r : NULL;
}

/* Steps out of code without a table by its instructions; the caller must be in code. */
static enum unwind_result by_return(struct sample_walk *s)
{
	struct unwind_cursor before = s->cursor;
	const struct return_code *code = return_code(s);
	struct cfi_table table = {0};
	enum unwind_result r;

	if (!code)
		return UNWIND_WRONG;
	table.saves = code->saves;
	table.save_count = code->rule.save_count;
	r = unwind_step(&s->cursor, s->w->machine, &table, &code->rule, &s->memory);
	if (r == UNWIND_BEYOND ||
	    (r == UNWIND_CALLER && code_at(s, s->cursor.regs.pc - 1)->kind != STACK_CODE_NONE))
		return r;
	s->cursor = before;
	return UNWIND_WRONG;
}

#define PUSHED_MAX 6       /* registers that functions keep */
#define BARE_CODE_MAX 4096 /* bytes from the start of a function without a table */

/* One read is within a page, and the code may be in two. */
static bool read_code(struct sample_walk *s, uint64_t address, uint8_t *bytes, size_t size)
{
	pid_t pid = process_table_process(s->w->processes, s->process)->pid;
	size_t got = remote_stack_code(s->w->live, pid, s->process, address, bytes, size);

	return got == size || (got && remote_stack_code(s->w->live, pid, s->process, address + got,
	                                                bytes + got, size - got) == size - got);
}

/* The code before an address, kept while the mappings are the same. NULL: it cannot be read. */
static const uint8_t *code_before(struct sample_walk *s, uint64_t place)
{
	struct code_before *k = &s->w->before[hash_pair(place, s->version) & (CODES_BEFORE - 1)];

	if (k->place == place && k->version == s->version && k->process == s->process)
		return k->bytes;
	k->place = 0;
	if (!s->w->live || !read_code(s, place - sizeof(k->bytes), k->bytes, sizeof(k->bytes)))
		return NULL;
	k->place = place;
	k->version = s->version;
	k->process = s->process;
	return k->bytes;
}

/* Whether a word of the stack is the return address of a call that leads to the place. */
static bool is_call_to_place(struct sample_walk *s, uint64_t word)
{
	const struct unwind_machine *m = s->w->machine;
	uint64_t place = s->cursor.regs.pc, target;
	const struct stack_code_place *p = code_at(s, word - 1);
	const uint8_t *code;
	enum unwind_call call;
	bool linked;

	if (p->kind != STACK_CODE_RULE)
		return false;
	linked = sample_walk_by_frame_pointer(s, p->rule);
	code = code_before(s, word);
	call = code ? m->call(code, word, &target) : UNWIND_NO_CALL;
	if (call != UNWIND_CALL || linked)
		return call != UNWIND_NO_CALL && linked;
	return place - target < BARE_CODE_MAX && code_at(s, target)->kind == STACK_CODE_NO_RULE;
}

static bool is_kept_value(const struct sample_walk *s, uint64_t word)
{
	const struct unwind_regs *regs = &s->cursor.regs;
	uint64_t kept = regs->known & s->w->machine->callee_saved;

	for (; kept; kept &= kept - 1)
		if (regs->value[__builtin_ctzll(kept)] == word)
			return true;
	return false;
}

/*
 * Steps from a function in assembly, in which tables describe nothing: the return address is on top
 * of the stack, or above registers that the function has pushed and not changed yet. Its frame
 * pointer is that of its caller, so a step by it would leave out the caller.
 */
static enum unwind_result by_call(struct sample_walk *s)
{
	struct unwind_cursor *c = &s->cursor;
	const struct unwind_machine *m = s->w->machine;
	struct cfi_save save = {
	        .reg = m->ra, .how = CFI_AT_CFA, .offset = -(int32_t)sizeof(uint64_t)};
	struct cfi_rule rule = {.cfa = CFI_CFA_REGISTER, .cfa_reg = m->sp, .save_count = 1};
	struct cfi_table table = {.saves = &save, .save_count = 1};
	uint64_t word;

	if (!m->call || !c->exact || s->w->frames.count)
		return UNWIND_WRONG;
	for (unsigned pushed = 0; pushed <= PUSHED_MAX; pushed++) {
		if (unwind_read(&s->memory, c->floor, c->floor + pushed * sizeof(word), &word) !=
		    UNWIND_CALLER)
			return UNWIND_WRONG;
		if (is_kept_value(s, word))
			continue;
		if (!is_call_to_place(s, word))
			return UNWIND_WRONG;
		rule.cfa_offset = (int32_t)((pushed + 1) * sizeof(word));
		return unwind_step(c, m, &table, &rule, &s->memory);
	}
	return UNWIND_WRONG;
}

/* Whether the place follows an instruction that calls the kernel. Live only: code is read. */
static bool follows_system_call(struct sample_walk *s)
{
	const struct unwind_machine *m = s->w->machine;
	const uint8_t *code = code_before(s, s->cursor.regs.pc);

	return code && !memcmp(code + UNWIND_CALL_BYTES - m->kernel_call_size, m->kernel_call,
	                       m->kernel_call_size);
}

/*
 * Steps from the system call that makes a thread. No table describes the place after it, since two
 * threads reach it: the new one, to which the call returns 0, is at its start, and for the other
 * one the rule of the instruction before the call applies.
 */
static enum unwind_result by_system_call(struct sample_walk *s)
{
	struct unwind_cursor *c = &s->cursor;
	const struct unwind_machine *m = s->w->machine;
	const struct stack_code_place *p;

	if (!c->exact || !(c->regs.known >> m->result & 1) || s->base || s->w->frames.count)
		return UNWIND_WRONG;
	p = code_at(s, c->regs.pc - m->kernel_call_size - 1);
	if (p->kind != STACK_CODE_RULE || p->rule->flags || !follows_system_call(s))
		return UNWIND_WRONG;
	if (c->regs.value[m->result])
		return unwind_step(c, m, p->table, p->rule, &s->memory);
	c->cfa = c->floor + 1;
	return UNWIND_FIRST;
}

/* A hash of the registers that a callee must preserve. It identifies an interrupted frame. */
static uint64_t tag_of(const struct unwind_cursor *c, const struct unwind_machine *m)
{
	uint64_t held = c->regs.known & m->callee_saved, tag = held;

	for (; held; held &= held - 1)
		tag = hash_pair(tag, c->regs.value[__builtin_ctzll(held)]);
	return tag;
}

/* Whether a function that switches stacks has its frame in the copy, on either stack. */
static bool frame_is_copied(const struct sample_walk *s, const struct cfi_rule *rule)
{
	const struct unwind_regs *regs = &s->cursor.regs;
	uint64_t cfa;

	if (rule->flags & CFI_LOST || !(regs->known >> rule->cfa_reg & 1))
		return false;
	cfa = regs->value[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_offset;
	return cfa > s->cursor.floor && cfa - s->memory.start <= s->memory.size;
}

enum stack_end sample_walk_frame(struct sample_walk *s)
{
	struct unwind_cursor *c = &s->cursor;
	struct unwind_frame frame = {.pc = c->regs.pc};
	const struct stack_code_place *p = code_at(s, unwind_place(c));
	enum stack_code_kind kind = p->kind;
	enum unwind_result r = UNWIND_WRONG;
	bool hides = kind == STACK_CODE_RULE && p->rule->flags & CFI_HIDES;
	uint8_t switches = c->switches;

	/* No instruction has called the trampoline to which a signal handler returns. */
	frame.exact = c->exact || (kind == STACK_CODE_RULE && p->rule->flags & CFI_SIGNAL);
	c->cfa = 0;
	if (c->floor - s->memory.start < s->memory.size)
		s->floor = c->floor;
	if (kind == STACK_CODE_RULE && p->rule->flags & (CFI_SWITCHES | CFI_LOST) &&
	    !frame_is_copied(s, p->rule))
		return sample_walk_switch(s, p->table, p->rule);
	if (kind == STACK_CODE_RULE)
		r = unwind_step(c, s->w->machine, p->table, p->rule, &s->memory);
	else if (kind == STACK_CODE_NO_RULE && (r = by_return(s)) == UNWIND_WRONG &&
	         (r = by_system_call(s)) == UNWIND_WRONG && (r = by_call(s)) == UNWIND_WRONG)
		r = by_neighbour(s, kind);
	else if (kind == STACK_CODE_NO_FILE)
		r = by_frame_pointer(s, kind);
	frame.cfa = c->cfa ? c->cfa : c->floor + 1;
	vec_push(&s->w->frames, frame);
	if (r == UNWIND_CALLER && hides)
		vec_push(&s->w->frames,
		         ((struct unwind_frame){.pc = SAMPLE_WALK_HIDDEN, .cfa = frame.cfa + 1}));
	s->at = (uint32_t)s->w->frames.count - (r != UNWIND_CALLER);
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
