/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rows from a Go table. The table has the stack depth at each instruction. The code itself
 * shows where the frame pointer is saved.
 */
#include "image/unwind_table/cfi_internal.h"
#include "image/elf/elf_internal.h"

#include <string.h>

enum { RBP = 6, RSP = 7, RIP = 16 };

#define WORD 8

static uint16_t outermost_rule(struct cfi_pool *p)
{
	struct cfi_state s = {.cfa = CFI_BAD};

	for (size_t i = 0; i < CFI_COLUMNS_MAX; i++)
		s.regs[i].how = CFI_SAME;
	s.regs[RIP].how = CFI_UNDEFINED;
	return cfi_pool_rule(p, &s, RIP, false);
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
	if (saved && depth >= WORD)
		s.regs[RBP] = (struct cfi_location){.how = CFI_AT_CFA, .offset = -2 * WORD};
	return cfi_pool_rule(p, &s, RIP, injected);
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

uint32_t cfi_go_rows(struct cfi_pool *p, struct elf_file *f, const struct go_table *t,
                     const struct go_function *function, uint32_t offset, struct cfi_rows *rows)
{
	uint64_t to_offset = offset - function->start; /* wraps */

	switch (function->kind) {
	case GO_OUTERMOST:
		add_row(rows, offset, outermost_rule(p));
		return (uint32_t)(function->end - function->start);
	case GO_SWITCHES:
		return 0;
	default:
		return (uint32_t)add_steps(p, f, t, function, to_offset, rows);
	}
}
