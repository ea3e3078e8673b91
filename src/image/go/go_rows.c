/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rows from a Go table. The table has the stack depth at each instruction. The code itself
 * shows where the frame pointer is saved. Functions that move the stack pointer to another stack
 * are described by their frame pointer; .debug_frame is not used, since it has the depth alone.
 */
#include "image/unwind_table/cfi_internal.h"
#include "image/elf/elf_internal.h"

#include <string.h>

enum { RBP = 6, RSP = 7, RIP = 16 };

#define WORD 8

/* Of a function without a caller, or with CFI_LOST, one whose caller is not found. */
static uint16_t outermost_rule(struct cfi_pool *p, uint8_t flags)
{
	struct cfi_state s = {.cfa = CFI_BAD};

	for (size_t i = 0; i < CFI_COLUMNS_MAX; i++)
		s.regs[i].how = CFI_SAME;
	s.regs[RIP].how = CFI_UNDEFINED;
	return cfi_pool_rule(p, &s, RIP, flags);
}

/* The frame is above the frame pointer. */
static uint16_t switch_rule(struct cfi_pool *p, uint8_t flags)
{
	struct cfi_state s = {.cfa = CFI_CFA_REGISTER, .cfa_reg = RBP, .cfa_offset = 2 * WORD};

	for (size_t i = 0; i < CFI_COLUMNS_MAX; i++)
		s.regs[i].how = CFI_SAME;
	s.regs[RIP] = (struct cfi_location){.how = CFI_AT_CFA, .offset = -WORD};
	s.regs[RBP] = (struct cfi_location){.how = CFI_AT_CFA, .offset = -2 * WORD};
	return cfi_pool_rule(p, &s, RIP, flags);
}

/* The return address is above the frame, and the saved frame pointer is between them. */
static uint16_t frame_rule(struct cfi_pool *p, int32_t depth, bool saved, bool injected)
{
	struct cfi_state s = {.cfa = CFI_CFA_REGISTER, .cfa_reg = RSP};

	if (depth < 0)
		return CFI_NO_RULE;
	s.cfa_offset = (int64_t)depth + WORD;
	for (size_t i = 0; i < CFI_COLUMNS_MAX; i++)
		s.regs[i].how = CFI_SAME;
	s.regs[RIP] = (struct cfi_location){.how = CFI_AT_CFA, .offset = -WORD};
	saved = saved && depth >= WORD;
	if (saved)
		s.regs[RBP] = (struct cfi_location){.how = CFI_AT_CFA, .offset = -2 * WORD};
	return cfi_pool_rule(p, &s, RIP, injected ? CFI_SIGNAL : saved ? CFI_LINKED : 0);
}

/*
 * The address from which the frame pointer is saved, in code that has just created its frame: by
 * "push %rbp" (from Go 1.21 on), or by the next instruction, "mov %rbp,depth-8(%rsp)". UINT64_MAX:
 * it is not saved.
 */
static uint64_t saved_from(struct elf_file *f, uint64_t address, int32_t depth)
{
	uint8_t code[9] = {0};
	int32_t place = -1;
	unsigned length = 0;

	if (elf_file_read(f, address - 1, code, sizeof(code)) < sizeof(code))
		return UINT64_MAX;
	if (code[0] == 0x55 && depth == WORD)
		return address;
	if (!memcmp(code + 1, "\x48\x89\x2c\x24", 4)) {
		length = 4;
		place = 0;
	} else if (!memcmp(code + 1, "\x48\x89\x6c\x24", 4)) {
		length = 5;
		place = (int8_t)code[5];
	} else if (!memcmp(code + 1, "\x48\x89\xac\x24", 4)) {
		length = 8;
		memcpy(&place, code + 5, sizeof(place));
	}
	return length && place == depth - WORD ? address + length : UINT64_MAX;
}

static void add_row(struct cfi_rows *rows, uint64_t offset, uint16_t rule)
{
	vec_push(&rows->offsets, (uint32_t)offset);
	vec_push(&rows->rules, rule);
}

/* The prologue creates the frame once; code after a return instruction has the same depth as the
 * code before it. */
static uint64_t add_steps(struct cfi_pool *p, struct elf_file *f, const struct go_table *t,
                          const struct go_function *function, uint64_t to_offset,
                          struct cfi_rows *rows)
{
	bool injected = function->kind == GO_INJECTED, framed = false;
	uint64_t saved = UINT64_MAX, end = function->start;
	struct go_steps steps;
	struct go_step step;

	go_steps_start(t, function, &steps);
	while (rows->rules.count < CFI_ROWS_MAX && go_steps_next(&steps, &step)) {
		if (!framed && step.depth >= WORD) {
			saved = saved_from(f, step.start, step.depth);
			framed = true;
		}
		add_row(rows, step.start + to_offset,
		        frame_rule(p, step.depth, step.start >= saved, injected));
		if (saved > step.start && saved < step.end)
			add_row(rows, saved + to_offset, frame_rule(p, step.depth, true, injected));
		end = step.end;
	}
	return end - function->start;
}

/*
 * The address from which the frame pointer is that of the function, after it was saved: by "mov
 * %rsp,%rbp" (from Go 1.21 on) or "lea depth-8(%rsp),%rbp". UINT64_MAX: it is not set.
 */
static uint64_t framed_from(struct elf_file *f, uint64_t saved, int32_t depth)
{
	uint8_t code[8] = {0};
	int32_t place = -1;
	unsigned length = 0;

	if (saved == UINT64_MAX || elf_file_read(f, saved, code, sizeof(code)) < sizeof(code))
		return UINT64_MAX;
	if (depth == WORD && !memcmp(code, "\x48\x89\xe5", 3))
		return saved + 3;
	if (!memcmp(code, "\x48\x8d\x2c\x24", 4)) {
		length = 4;
		place = 0;
	} else if (!memcmp(code, "\x48\x8d\x6c\x24", 4)) {
		length = 5;
		place = (int8_t)code[4];
	} else if (!memcmp(code, "\x48\x8d\xac\x24", 4)) {
		length = 8;
		memcpy(&place, code + 4, sizeof(place));
	}
	return length && place == depth - WORD ? saved + length : UINT64_MAX;
}

/* The size of the instruction before an address that removes a frame of that depth; 0: none. */
static unsigned removal_size(struct elf_file *f, uint64_t address, int32_t depth)
{
	uint8_t code[7] = {0};
	int32_t size;

	if (elf_file_read(f, address - sizeof(code), code, sizeof(code)) < sizeof(code))
		return 0;
	if (!memcmp(code + 3, "\x48\x83\xc4", 3) && (int8_t)code[6] == depth)
		return 4;
	memcpy(&size, code + 3, sizeof(size));
	return !memcmp(code, "\x48\x81\xc4", 3) && size == depth ? 7 : 0;
}

/*
 * Rows of a function that sets a frame pointer before it moves the stack pointer, and moves it back
 * before it removes its frame. 0: it sets none.
 */
static uint64_t add_switch_steps(struct cfi_pool *p, struct elf_file *f, const struct go_table *t,
                                 const struct go_function *function, uint64_t to_offset,
                                 struct cfi_rows *rows)
{
	uint64_t framed = UINT64_MAX, saved, removed, end = function->start;
	int32_t depth = 0;
	struct go_steps steps;
	struct go_step step;

	go_steps_start(t, function, &steps);
	while (rows->rules.count < CFI_ROWS_MAX && go_steps_next(&steps, &step)) {
		end = step.end;
		removed = step.start;
		if (framed != UINT64_MAX && depth > WORD && step.depth < WORD)
			removed -= removal_size(f, step.start, depth);
		/* The frame pointer is the caller's again. */
		if (removed < step.start && removed + to_offset > *vec_last(&rows->offsets))
			add_row(rows, removed + to_offset, frame_rule(p, depth, false, false));
		depth = step.depth;
		if (depth < WORD || framed != UINT64_MAX) {
			add_row(rows, step.start + to_offset,
			        depth < WORD ? frame_rule(p, depth, false, false)
			                     : switch_rule(p, CFI_SWITCHES));
			continue;
		}
		saved = saved_from(f, step.start, depth);
		framed = framed_from(f, saved, depth);
		if (framed >= step.end)
			return 0;
		if (saved > step.start)
			add_row(rows, step.start + to_offset, frame_rule(p, depth, false, false));
		add_row(rows, saved + to_offset, frame_rule(p, depth, true, false));
		add_row(rows, framed + to_offset, switch_rule(p, CFI_SWITCHES));
	}
	return framed == UINT64_MAX ? 0 : end - function->start;
}

static uint64_t add_switch(struct cfi_pool *p, struct elf_file *f, const struct go_table *t,
                           const struct go_function *function, uint64_t to_offset,
                           struct cfi_rows *rows)
{
	size_t first = rows->rules.count;
	uint64_t size = function->kind == GO_LOST
	                        ? 0
	                        : add_switch_steps(p, f, t, function, to_offset, rows);

	if (size)
		return size;
	rows->rules.count = rows->offsets.count = first;
	add_row(rows, function->start + to_offset,
	        function->kind == GO_LEAVES ? switch_rule(p, CFI_SWITCHES | CFI_HIDES)
	                                    : outermost_rule(p, CFI_LOST));
	return function->end - function->start;
}

uint32_t cfi_go_rows(struct cfi_pool *p, struct elf_file *f, const struct go_table *t,
                     const struct go_function *function, uint32_t offset, struct cfi_rows *rows)
{
	uint64_t to_offset = offset - function->start; /* wraps */

	switch (function->kind) {
	case GO_OUTERMOST:
		add_row(rows, offset, outermost_rule(p, 0));
		return (uint32_t)(function->end - function->start);
	case GO_SWITCHES:
	case GO_LEAVES:
	case GO_LOST:
		return (uint32_t)add_switch(p, f, t, function, to_offset, rows);
	default:
		return (uint32_t)add_steps(p, f, t, function, to_offset, rows);
	}
}
