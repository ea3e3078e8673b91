/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rule of a place from its code, if that runs straight to a return instruction: it adds to the
 * stack pointer and pops registers. So end the trampolines that runtimes generate for each function
 * of an interpreter. Code that jumps, calls or writes memory on its way has no such rule.
 */
#include "unwind/unwind.h"

#define WORD 8
#define INSTRUCTIONS_MAX 16

enum { RAX = 0, RBP = 6, RSP = 7, RIP = 16 };

/* From the numbers of instructions to those of DWARF. */
static const uint8_t of_code[] = {0, 2, 1, 3, RSP, RBP, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

struct return_walk {
	const uint8_t *at, *end;
	int64_t depth; /* bytes from the base to the stack pointer */
	struct cfi_rule *rule;
	struct cfi_save *saves; /* offsets from the base */
};

static bool starts_with(const struct return_walk *w, const char *bytes, size_t size, size_t length)
{
	return (size_t)(w->end - w->at) >= length && !memcmp(w->at, bytes, size);
}

static bool pop(struct return_walk *w, unsigned number)
{
	unsigned reg = of_code[number];

	if (reg == RSP || w->rule->save_count == UNWIND_RETURN_SAVES)
		return false;
	w->saves[w->rule->save_count++] = (struct cfi_save){
	        .reg = (uint8_t)reg, .how = CFI_AT_CFA, .offset = (int32_t)w->depth};
	w->depth += WORD;
	return true;
}

/* The size of an instruction that adds a constant to the stack pointer; 0: it is another one. */
static size_t added(struct return_walk *w)
{
	static const struct {
		const char *bytes;
		size_t size, length;
	} forms[] = {{"\x48\x83\xc4", 3, 4},
	             {"\x48\x8d\x64\x24", 4, 5},
	             {"\x48\x81\xc4", 3, 7},
	             {"\x48\x8d\xa4\x24", 4, 8}};
	int32_t value;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!starts_with(w, forms[i].bytes, forms[i].size, forms[i].length))
			continue;
		if (forms[i].length - forms[i].size == 1)
			value = (int8_t)w->at[forms[i].size];
		else
			memcpy(&value, w->at + forms[i].size, sizeof(value));
		w->depth += value;
		return value > 0 ? forms[i].length : 0;
	}
	return 0;
}

/* Instructions without effect on the stack and on registers that functions keep. */
static size_t without_effect(const struct return_walk *w)
{
	if (starts_with(w, "\x90", 1, 1))
		return 1;
	if (starts_with(w, "\x66\x90", 2, 2))
		return 2;
	if (starts_with(w, "\xc5\xf8\x77", 3, 3)) /* vzeroupper */
		return 3;
	if (starts_with(w, "\x48\x89", 2, 3) && w->at[2] >= 0xc0 && (w->at[2] & 7) == RAX)
		return 3; /* mov REGISTER,%rax */
	return 0;
}

/* The size of the next instruction; 0: it cannot be followed. */
static size_t follow(struct return_walk *w)
{
	size_t size = added(w);

	if (!size)
		size = without_effect(w);
	if (size)
		return size;
	if (starts_with(w, "", 0, 1) && (w->at[0] & 0xf8) == 0x58)
		return pop(w, w->at[0] & 7) ? 1 : 0;
	if (starts_with(w, "\x41", 1, 2) && (w->at[1] & 0xf8) == 0x58)
		return pop(w, 8 + (w->at[1] & 7)) ? 2 : 0;
	if (starts_with(w, "\xc9", 1, 1) && !w->rule->save_count) { /* leave */
		w->rule->cfa_reg = RBP;
		w->depth = 0;
		return pop(w, 5) ? 1 : 0;
	}
	return 0;
}

static bool returns(const struct return_walk *w)
{
	return starts_with(w, "\xc3", 1, 1) || starts_with(w, "\xf3\xc3", 2, 2) ||
	       starts_with(w, "\xc2", 1, 3);
}

bool unwind_return_rule(const struct unwind_machine *m, const uint8_t *code, size_t size,
                        struct cfi_rule *rule, struct cfi_save saves[UNWIND_RETURN_SAVES + 1])
{
	struct return_walk w = {.at = code, .end = code + size, .rule = rule, .saves = saves + 1};
	size_t length;

	if (m->machine != ELF_MACHINE_X86_64)
		return false;
	*rule = (struct cfi_rule){.cfa = CFI_CFA_REGISTER, .cfa_reg = RSP};
	for (int i = 0; !returns(&w); i++, w.at += length) {
		length = i < INSTRUCTIONS_MAX ? follow(&w) : 0;
		if (!length || w.depth > INT32_MAX / 2)
			return false;
	}
	rule->cfa_offset = (int32_t)w.depth + WORD;
	saves[0] = (struct cfi_save){.reg = RIP, .how = CFI_AT_CFA, .offset = -WORD};
	for (unsigned i = 1; i <= rule->save_count; i++)
		saves[i].offset -= rule->cfa_offset;
	rule->save_count++;
	return true;
}
