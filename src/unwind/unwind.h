/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind: computes a frame's caller, by the unwind rule of the frame's place.
 *
 * A cursor holds a frame's registers, numbered as in DWARF for the machine. A step computes the
 * frame's CFA (the stack pointer's value before the call), reads the registers that the frame
 * saved, and replaces the registers by those of the caller. Registers that a callee may change are
 * unknown in the caller, except across a signal handler's frame. CFAs must increase from frame to
 * frame; only the stack interrupted by a signal handler may be a different one. The caller of these
 * functions finds the rule for an address (image/unwind_table/cfi.h).
 *
 *	unwind_start()		registers as perf records them
 *	unwind_step()		one step by a rule
 *	unwind_frame_pointer()	one step by the frame pointer, if there is no rule
 *	unwind_return_rule()	the rule of generated code, from its instructions
 *
 * A step that fails does not change the registers. Nothing is allocated. The time of a step is
 * bounded for any table and any memory contents. A machine is constant; a cursor belongs to its
 * caller; any thread may call. Uses: base, image.
 */
#ifndef ASSAY_UNWIND_UNWIND_H
#define ASSAY_UNWIND_UNWIND_H

#include "image/unwind_table/cfi.h"

#include <string.h>

#define UNWIND_REGISTERS 33
/* An address this far above a frame is not part of its stack. */
#define UNWIND_REACH ((uint64_t)256 << 20)

#define UNWIND_CALL_BYTES 8
enum unwind_call {
	UNWIND_NO_CALL,
	UNWIND_CALL,          /* of a place in the instruction */
	UNWIND_CALL_INDIRECT, /* of a place in a register or in memory */
};

/* Properties of a processor type. Columns are DWARF's register numbers. */
struct unwind_machine {
	enum elf_machine machine;
	uint8_t sp, fp, ra, pc;   /* pc: the number that expressions use for the place */
	uint64_t callee_saved;    /* one bit per register; without sp, which is the CFA */
	uint64_t address_mask;    /* the address bits of a saved return address */
	uint64_t perf_mask;       /* the registers to request from perf */
	uint8_t perf_argument[2]; /* perf's numbers of a system call's first two arguments */
	const uint8_t *of_perf;   /* perf's register number to ours, or UNWIND_NOT_OURS */
	uint8_t perf_count;       /* number of perf's registers */
	uint8_t perf_pc;          /* perf's number of the program counter */
	uint8_t fp_saved, fp_ra; /* offsets from the frame pointer to the caller's frame pointer and
	                          * to the return address */
	uint8_t fp_size;         /* distance from the frame pointer to the CFA */
	uint8_t result;          /* the register of a system call's result */
	uint8_t kernel_call[4], kernel_call_size; /* the instruction that calls the kernel */
	/* The call that ends before the address `next`, by the UNWIND_CALL_BYTES before it. NULL:
	 * calls do not put the return address on the stack. */
	enum unwind_call (*call)(const uint8_t *code, uint64_t next, uint64_t *target);
};

#define UNWIND_NOT_OURS 0xff

extern const struct unwind_machine unwind_x86_64, unwind_arm64;

/*
 * The registers to request from perf for threads that are in a system call: those that functions
 * keep, the stack pointer, the program counter and the return address.
 */
static inline uint64_t unwind_kept_mask(const struct unwind_machine *m)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < m->perf_count; i++) {
		uint8_t r = m->of_perf[i];

		if (r != UNWIND_NOT_OURS &&
		    (m->callee_saved >> r & 1 || r == m->sp || r == m->pc || r == m->ra))
			mask |= UINT64_C(1) << i;
	}
	return mask;
}
/* The machine that this program runs on; NULL: it is unknown. */
const struct unwind_machine *unwind_native(void);

struct unwind_regs {
	uint64_t known; /* one bit per register */
	uint64_t pc;
	uint64_t value[UNWIND_REGISTERS];
};

enum unwind_result {
	UNWIND_CALLER, /* the cursor is at the caller */
	UNWIND_FIRST,  /* no caller: a thread's first function */
	UNWIND_BEYOND, /* the step needs stack memory that is not available */
	UNWIND_WRONG,  /* the rule leads out of the stack, or is invalid */
};

/* The stack's memory: a copy, and optionally a function that reads beyond it. */
struct unwind_memory {
	const uint8_t *bytes;
	uint64_t start, size; /* the copy's address and number of bytes */
	/* Reads 8 bytes. NULL: only the copy is available. */
	bool (*read)(void *ctx, uint64_t address, uint64_t *value);
	void *ctx;
};

struct unwind_frame {
	uint64_t pc;
	uint64_t cfa : 63;  /* of a user stack; 0: unknown */
	uint64_t exact : 1; /* pc is the next instruction, which may begin a function */
};

/*
 * The address in a chain. Readers look up all but the first one byte before, inside the call; that
 * is another function if a signal interrupted the first instruction of one.
 */
static inline uint64_t unwind_chain_address(const struct unwind_frame *f, bool first)
{
	return f->pc + (f->exact && !first);
}

struct unwind_cursor {
	struct unwind_regs regs;
	uint64_t cfa;     /* of the frame of the last step; 0: unknown */
	uint64_t floor;   /* the last CFA, initially the stack pointer: the next CFA must be above
	                   * it */
	bool exact;       /* pc is the next instruction, not a return address */
	uint8_t switches; /* number of signal handlers on another stack so far */
};

/*
 * `values`: one per bit of mask, in the order of perf's numbers. Returns false if the stack pointer
 * or the program counter is missing.
 */
bool unwind_start(struct unwind_cursor *c, const struct unwind_machine *m, const uint64_t *values,
                  uint64_t mask);

/* The address for the lookup of the rule: inside the call, not the instruction after it. */
static inline uint64_t unwind_place(const struct unwind_cursor *c)
{
	return c->regs.pc - !c->exact;
}

enum unwind_result unwind_step(struct unwind_cursor *c, const struct unwind_machine *m,
                               const struct cfi_table *table, const struct cfi_rule *rule,
                               const struct unwind_memory *memory);

/*
 * One step by the frame pointer. The caller must check that the return address is in code. *linked:
 * the caller's frame pointer is plausible, or 0 for the last frame.
 */
enum unwind_result unwind_frame_pointer(struct unwind_cursor *c, const struct unwind_machine *m,
                                        const struct unwind_memory *memory, bool *linked);

#define UNWIND_RETURN_SAVES 8

/*
 * The rule of the place at which `code` begins, if the code runs straight to a return instruction.
 * saves[] are those of the rule, from index 0 of a table.
 */
bool unwind_return_rule(const struct unwind_machine *m, const uint8_t *code, size_t size,
                        struct cfi_rule *rule, struct cfi_save saves[UNWIND_RETURN_SAVES + 1]);

/* Reads 8 bytes of a stack whose innermost used address is `floor`. */
static inline enum unwind_result unwind_read(const struct unwind_memory *m, uint64_t floor,
                                             uint64_t address, uint64_t *value)
{
	uint64_t into = address - m->start;

	if (into < m->size && m->size - into >= sizeof(*value)) {
		memcpy(value, m->bytes + into, sizeof(*value));
		return UNWIND_CALLER;
	}
	if (address < floor || address - floor >= UNWIND_REACH)
		return UNWIND_WRONG;
	return m->read && m->read(m->ctx, address, value) ? UNWIND_CALLER : UNWIND_BEYOND;
}

#endif
