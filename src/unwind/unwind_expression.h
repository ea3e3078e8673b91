/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_expression: DWARF expressions of unwind tables (the PLT's CFA, the
 * registers of signal frames, realigned stacks).
 *
 * Bounded in steps and depth; whatever is not understood is UNWIND_WRONG.
 * DW_OP_skip and DW_OP_bra name the operation to go on with by its number in
 * the expression. Nothing is held: any thread. Uses: base, image.
 */
#ifndef ASSAY_UNWIND_EXPRESSION_H
#define ASSAY_UNWIND_EXPRESSION_H

#include "unwind/unwind.h"

/* `first`: what is on the stack at the start, NULL for nothing. */
enum unwind_result unwind_expression(const struct cfi_table *table, const struct cfi_expression *x,
                                     const struct unwind_regs *regs,
                                     const struct unwind_memory *memory, uint64_t floor,
                                     const uint64_t *first, uint64_t *value);

#endif
