/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rows of a procedure linkage table. lld and mold describe it in no section, and GNU ld on
 * arm64 does not either. An entry is reached by a call and has no frame; only the words that it
 * pushes for the dynamic linker are between the stack pointer and the return address. The code
 * itself shows where it pushes them.
 */
#include "image/unwind_table/cfi_internal.h"

#include <string.h>

enum { RSP = 7, RIP = 16, X30 = 30, SP = 31 };

#define WORD 8
#define ENTRY 16 /* bytes; after unknown code the next entry is read */

struct plt_code {
	uint8_t opcode[6], size; /* the first bytes of an instruction */
	uint8_t length, pushes;
	bool leaves; /* the next instruction belongs to another entry */
};

static const struct plt_code x86_codes[] = {
        {{0xf3, 0x0f, 0x1e, 0xfa}, 4, 4, 0, false}, /* endbr64 */
        {{0xff, 0x25}, 2, 6, 0, true},              /* jmp *slot(%rip) */
        {{0xf2, 0xff, 0x25}, 3, 7, 0, true},        /* bnd jmp *slot(%rip) */
        {{0xe9}, 1, 5, 0, true},                    /* jmp first entry */
        {{0xf2, 0xe9}, 2, 6, 0, true},              /* bnd jmp first entry */
        {{0x41, 0xff, 0xe3}, 3, 3, 0, true},        /* jmp *%r11 */
        {{0x68}, 1, 5, WORD, false},                /* push $number */
        {{0xff, 0x35}, 2, 6, WORD, false},          /* push slot(%rip) */
        {{0x41, 0x53}, 2, 2, WORD, false},          /* push %r11 */
        {{0x41, 0xbb}, 2, 6, 0, false},             /* mov $number,%r11d */
        {{0x4c, 0x8b, 0x1d}, 3, 7, 0, false},       /* mov slot(%rip),%r11 */
        {{0x4c, 0x8d, 0x1d}, 3, 7, 0, false},       /* lea slot(%rip),%r11 */
        {{0xcc}, 1, 1, 0, false},                   /* int3 */
        {{0x90}, 1, 1, 0, false},                   /* nop, in all lengths */
        {{0x66, 0x90}, 2, 2, 0, false},
        {{0x0f, 0x1f, 0x00}, 3, 3, 0, false},
        {{0x0f, 0x1f, 0x40}, 3, 4, 0, false},
        {{0x0f, 0x1f, 0x44}, 3, 5, 0, false},
        {{0x66, 0x0f, 0x1f, 0x44}, 4, 6, 0, false},
        {{0x0f, 0x1f, 0x80}, 3, 7, 0, false},
        {{0x0f, 0x1f, 0x84}, 3, 8, 0, false},
        {{0x66, 0x0f, 0x1f, 0x84}, 4, 9, 0, false},
        {{0x66, 0x2e, 0x0f, 0x1f, 0x84}, 5, 10, 0, false},
};

static const struct plt_code arm64_codes[] = {
        {{0xf0, 0x7b, 0xbf, 0xa9}, 4, 4, 2 * WORD, false}, /* stp x16,x30,[sp,#-16]! */
        {{0x20, 0x02, 0x1f, 0xd6}, 4, 4, 0, true},         /* br x17 */
        {{0x30, 0x0a, 0x1f, 0xd7}, 4, 4, 0, true},         /* braa x17,x16 */
        {{0}, 0, 4, 0, false},                             /* computes the address of the slot */
};

static const struct plt_code *code_at(const struct plt_code *codes, size_t count,
                                      const uint8_t *bytes, size_t left)
{
	for (size_t i = 0; i < count; i++)
		if (codes[i].length <= left && !memcmp(codes[i].opcode, bytes, codes[i].size))
			return &codes[i];
	return NULL;
}

/* The rule of a place at which an entry has pushed so many bytes. */
static uint16_t pushed_rule(struct cfi_pool *p, unsigned pushed)
{
	bool arm64 = p->machine->arm64;
	struct cfi_state s = {.cfa = CFI_CFA_REGISTER,
	                      .cfa_reg = arm64 ? SP : RSP,
	                      .cfa_offset = pushed + (arm64 ? 0 : WORD)};

	for (size_t i = 0; i < CFI_COLUMNS_MAX; i++)
		s.regs[i].how = CFI_SAME;
	if (!arm64 || pushed)
		s.regs[arm64 ? X30 : RIP] =
		        (struct cfi_location){.how = CFI_AT_CFA, .offset = -WORD};
	return cfi_pool_rule(p, &s, arm64 ? X30 : RIP, 0);
}

/* What entries of x86-64 have pushed when they jump to the first one, which is not called. */
static unsigned pushed_before_first(const uint8_t *bytes, size_t size)
{
	const struct plt_code *code;
	unsigned pushed = 0;
	int32_t distance;

	for (size_t at = 0; at < size; at += code->length) {
		code = code_at(x86_codes, sizeof(x86_codes) / sizeof(*x86_codes), bytes + at,
		               size - at);
		if (!code)
			return 0;
		if (code->leaves && bytes[at + code->size - 1] == 0xe9) {
			memcpy(&distance, bytes + at + code->size, sizeof(distance));
			return at + code->length + (uint64_t)(int64_t)distance == 0 ? pushed : 0;
		}
		pushed = code->leaves ? 0 : pushed + code->pushes;
	}
	return 0;
}

void cfi_plt_rows(struct cfi_pool *p, const uint8_t *bytes, uint32_t size, uint32_t offset,
                  struct cfi_rows *rows)
{
	bool arm64 = p->machine->arm64;
	const struct plt_code *codes = arm64 ? arm64_codes : x86_codes, *code;
	size_t count = arm64 ? sizeof(arm64_codes) / sizeof(*arm64_codes)
	                     : sizeof(x86_codes) / sizeof(*x86_codes);
	unsigned pushed = arm64 ? 0 : pushed_before_first(bytes, size);
	uint16_t rule, last = CFI_NO_RULE;

	for (uint32_t at = 0; at < size && rows->rules.count < CFI_ROWS_MAX;) {
		code = code_at(codes, count, bytes + at, size - at);
		rule = code ? pushed_rule(p, pushed) : CFI_NO_RULE;
		if (!at || rule != last) {
			vec_push(&rows->offsets, offset + at);
			vec_push(&rows->rules, rule);
			last = rule;
		}
		pushed = !code || code->leaves ? 0 : pushed + code->pushes;
		at = code ? at + code->length : (at / ENTRY + 1) * ENTRY;
	}
}
