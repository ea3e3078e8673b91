/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind: from a frame to its caller, by the rule that holds at its place.
 *
 * A cursor holds a frame's registers, in DWARF's numbers of a machine. A step
 * computes the frame's CFA (the stack pointer's value before the call), reads
 * what the frame saved and turns the registers into the caller's. What a
 * callee may have changed is unknown in the caller, but through a signal
 * handler's frame. CFAs must rise from frame to frame; only a signal handler
 * may run on another stack than what it interrupted. Which rule holds at an
 * address is for the caller to find (image/cfi.h).
 *
 *	unwind_start()		registers as perf gives them
 *	unwind_step()		by a rule
 *	unwind_frame_pointer()	by the chain of frame pointers, where there is no rule
 *
 * A step that does not lead to a caller leaves the registers as they were.
 * Nothing here allocates; every step is bounded in time whatever the table and
 * the memory hold. A machine is const; a cursor belongs to its caller: any thread.
 * Uses: base, image.
 */
#ifndef ASSAY_UNWIND_UNWIND_H
#define ASSAY_UNWIND_UNWIND_H

#include "image/cfi.h"

#include <string.h>

#define UNWIND_REGISTERS 33
/* Memory that far above a frame is none of its stack. */
#define UNWIND_REACH ((uint64_t)256 << 20)

/* What the walk must know of a kind of processor. Columns are DWARF's register numbers. */
struct unwind_machine {
	enum elf_machine machine;
	uint8_t sp, fp, ra, pc;  /* pc: under which number expressions ask for the place */
	uint64_t callee_saved;   /* bit a register; sp is not among them, being the CFA */
	uint64_t address_mask;   /* what of a saved return address is the address */
	uint64_t perf_mask;      /* the registers to ask perf for */
	const uint8_t *of_perf;  /* perf's number to ours; UNWIND_NOT_OURS */
	uint8_t perf_count;      /* numbers that perf has */
	uint8_t perf_pc;         /* perf's number of the place */
	uint8_t fp_saved, fp_ra; /* where a frame pointer's frame keeps the caller's, and RA */
	uint8_t fp_size;         /* CFA above the frame pointer */
};

#define UNWIND_NOT_OURS 0xff

extern const struct unwind_machine unwind_x86_64, unwind_arm64;
/* The machine that this program runs on; NULL: none that is known. */
const struct unwind_machine *unwind_native(void);

struct unwind_regs {
	uint64_t known; /* bit a register */
	uint64_t pc;
	uint64_t value[UNWIND_REGISTERS];
};

enum unwind_result {
	UNWIND_CALLER, /* the cursor stands at the caller */
	UNWIND_FIRST,  /* there is none: a thread's first function */
	UNWIND_BEYOND, /* the memory needed is the stack's, but not at hand */
	UNWIND_WRONG,  /* the rule leads out of the stack or nowhere */
};

/* The stack's memory: a copy, and where more than that can be had, whom to ask. */
struct unwind_memory {
	const uint8_t *bytes;
	uint64_t start, size; /* of the copy: address, bytes */
	/* Reads 8 bytes. NULL: there is nothing but the copy. */
	bool (*read)(void *ctx, uint64_t address, uint64_t *value);
	void *ctx;
};

struct unwind_frame {
	uint64_t cfa; /* 0: not known */
	uint64_t pc;
};

struct unwind_cursor {
	struct unwind_regs regs;
	uint64_t cfa;     /* of the frame that was stepped from last; 0: could not be known */
	uint64_t floor;   /* the last CFA, at first the stack pointer: the next must be above */
	bool exact;       /* pc is the next instruction, not a return address */
	uint8_t switches; /* times that a signal handler ran on another stack */
};

/*
 * `values`: one a bit of mask, by perf's rising numbers. False: the stack
 * pointer or the place is not among them.
 */
bool unwind_start(struct unwind_cursor *c, const struct unwind_machine *m, const uint64_t *values,
                  uint64_t mask);

/* The address whose rule holds: of a call, not of what follows it. */
static inline uint64_t unwind_place(const struct unwind_cursor *c)
{
	return c->regs.pc - !c->exact;
}

enum unwind_result unwind_step(struct unwind_cursor *c, const struct unwind_machine *m,
                               const struct cfi_table *table, const struct cfi_rule *rule,
                               const struct unwind_memory *memory);

/*
 * By the frame pointer. It is for the caller to see that the return address
 * lies in code. *linked: the caller's frame pointer is one, or 0 for the last.
 */
enum unwind_result unwind_frame_pointer(struct unwind_cursor *c, const struct unwind_machine *m,
                                        const struct unwind_memory *memory, bool *linked);

/* Reads 8 bytes of a stack whose innermost part that is in use is at `floor`. */
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
