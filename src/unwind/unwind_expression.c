/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_expression.h"

#include <dwarf.h>

#define DEPTH_MAX 64
#define STEPS_MAX 1024

struct machine {
	const struct unwind_regs *regs;
	const struct unwind_memory *memory;
	uint64_t floor;
	const uint64_t *first;
	uint64_t stack[DEPTH_MAX];
	unsigned depth;
	enum unwind_result result;
};

static uint64_t fail(struct machine *m, enum unwind_result why)
{
	if (m->result == UNWIND_CALLER)
		m->result = why;
	return 0;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == DEPTH_MAX)
		fail(m, UNWIND_WRONG);
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	return m->depth ? m->stack[--m->depth] : fail(m, UNWIND_WRONG);
}

/* The n-th value from the top. */
static uint64_t peek(struct machine *m, uint64_t n)
{
	return n < m->depth ? m->stack[m->depth - 1 - n] : fail(m, UNWIND_WRONG);
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= UNWIND_REGISTERS || !(m->regs->known >> reg & 1))
		fail(m, UNWIND_WRONG);
	else
		push(m, m->regs->value[reg] + (uint64_t)offset);
}

/* Always reads 8 bytes and masks them to `size`. */
static void deref(struct machine *m, int64_t size)
{
	uint64_t address = pop(m), value = 0;
	enum unwind_result r;

	if (size < 1 || size > 8) {
		fail(m, UNWIND_WRONG);
		return;
	}
	r = unwind_read(m->memory, m->floor, address, &value);
	if (r != UNWIND_CALLER)
		fail(m, r);
	if (size < 8)
		value &= ((uint64_t)1 << 8 * size) - 1;
	push(m, value);
}

static void rotate(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m), c = pop(m);

	push(m, a);
	push(m, c);
	push(m, b);
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (!b || (b == -1 && a == INT64_MIN))
		return fail(m, UNWIND_WRONG);
	return (uint64_t)(a / b);
}

static uint64_t shift(uint8_t atom, uint64_t a, uint64_t b)
{
	switch (atom) {
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	default:
		return b < 64 ? (uint64_t)((int64_t)a >> b) : (uint64_t)((int64_t)a >> 63);
	}
}

static bool is_binary(uint8_t atom)
{
	switch (atom) {
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_xor:
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_div:
	case DW_OP_mod:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		return true;
	default:
		return atom >= DW_OP_eq && atom <= DW_OP_ne;
	}
}

/* Takes two values from the stack and pushes one result. */
static void binary(struct machine *m, uint8_t atom)
{
	uint64_t b = pop(m), a = pop(m), r;
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (atom) {
	case DW_OP_and:
		r = a & b;
		break;
	case DW_OP_or:
		r = a | b;
		break;
	case DW_OP_xor:
		r = a ^ b;
		break;
	case DW_OP_plus:
		r = a + b;
		break;
	case DW_OP_minus:
		r = a - b;
		break;
	case DW_OP_mul:
		r = a * b;
		break;
	case DW_OP_div:
		r = divide(m, sa, sb);
		break;
	case DW_OP_mod:
		r = b ? a % b : fail(m, UNWIND_WRONG);
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		r = shift(atom, a, b);
		break;
	case DW_OP_eq:
		r = sa == sb;
		break;
	case DW_OP_ne:
		r = sa != sb;
		break;
	case DW_OP_lt:
		r = sa < sb;
		break;
	case DW_OP_le:
		r = sa <= sb;
		break;
	case DW_OP_gt:
		r = sa > sb;
		break;
	default:
		r = sa >= sb;
	}
	push(m, r);
}

static void unary(struct machine *m, const struct cfi_op *op)
{
	uint64_t a;

	switch (op->atom) {
	case DW_OP_neg:
		push(m, -pop(m));
		break;
	case DW_OP_not:
		push(m, ~pop(m));
		break;
	case DW_OP_abs:
		a = pop(m);
		push(m, a >> 63 ? -a : a);
		break;
	case DW_OP_plus_uconst:
		push(m, pop(m) + (uint64_t)op->number);
		break;
	case DW_OP_deref:
		deref(m, 8);
		break;
	case DW_OP_deref_size:
		deref(m, op->number);
		break;
	default:
		fail(m, UNWIND_WRONG);
	}
}

static void stack_operation(struct machine *m, const struct cfi_op *op)
{
	uint64_t a, b;

	switch (op->atom) {
	case DW_OP_dup:
		push(m, peek(m, 0));
		break;
	case DW_OP_drop:
		pop(m);
		break;
	case DW_OP_over:
		push(m, peek(m, 1));
		break;
	case DW_OP_pick:
		push(m, peek(m, (uint64_t)op->number));
		break;
	case DW_OP_swap:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		break;
	case DW_OP_rot:
		rotate(m);
		break;
	case DW_OP_nop:
	case DW_OP_stack_value:
		break;
	case DW_OP_call_frame_cfa:
		push(m, m->first ? *m->first : fail(m, UNWIND_WRONG));
		break;
	default:
		if (is_binary(op->atom))
			binary(m, op->atom);
		else
			unary(m, op);
	}
}

static void operation(struct machine *m, const struct cfi_op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		push(m, op->atom - DW_OP_lit0);
	else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		push_register(m, op->atom - DW_OP_breg0, op->number);
	else if (op->atom == DW_OP_bregx)
		push_register(m, (uint64_t)op->number, op->number2);
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		push(m, (uint64_t)op->number);
	else
		stack_operation(m, op);
}

enum unwind_result unwind_expression(const struct cfi_table *table, const struct cfi_expression *x,
                                     const struct unwind_regs *regs,
                                     const struct unwind_memory *memory, uint64_t floor,
                                     const uint64_t *first, uint64_t *value)
{
	struct machine m = {.regs = regs, .memory = memory, .floor = floor, .first = first};
	const struct cfi_op *ops = table->ops + x->first;
	uint32_t at = 0;

	if (first)
		push(&m, *first);
	for (unsigned steps = 0; at < x->count && m.result == UNWIND_CALLER; steps++) {
		const struct cfi_op *op = &ops[at++];

		if (steps == STEPS_MAX)
			return UNWIND_WRONG;
		if (op->atom != DW_OP_skip && op->atom != DW_OP_bra)
			operation(&m, op);
		else if (op->atom == DW_OP_skip || pop(&m))
			at = op->number >= 0 && op->number <= x->count
			             ? (uint32_t)op->number
			             : (fail(&m, UNWIND_WRONG), x->count);
	}
	*value = pop(&m);
	return m.result;
}
