/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_expression: evaluates DWARF expressions of unwind tables (the CFA in the PLT, the
 * registers of signal frames, realigned stacks).
 *
 * The number of steps and the stack depth are limited; an unknown operation gives UNWIND_WRONG.
 * DW_OP_skip and DW_OP_bra hold the index of the next operation in the expression. Nothing is
 * allocated; any thread may call. Uses: base, image.
 */
#ifndef ASSAY_UNWIND_UNWIND_EXPRESSION_H
#define ASSAY_UNWIND_UNWIND_EXPRESSION_H

#include "unwind/unwind.h"

/* `first`: the initial value on the expression's stack; NULL: none. */
enum unwind_result unwind_expression(const struct cfi_table *table, const struct cfi_expression *x,
                                     const struct unwind_regs *regs,
                                     const struct unwind_memory *memory, uint64_t floor,
                                     const uint64_t *first, uint64_t *value);

#endif
