/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_internal.h"

#include <dwarf.h>
#include <string.h>

struct decoded {
	struct cfi_op ops[CFI_EXPRESSION_OPS_MAX];
	uint16_t starts[CFI_EXPRESSION_OPS_MAX + 1]; /* in bytes */
	size_t count;
};

bool cfi_op_branches(const struct cfi_op *op)
{
	return op->atom == DW_OP_bra || op->atom == DW_OP_skip;
}

bool cfi_op_known(const struct cfi_op *op, const struct cfi_machine *m)
{
	switch (op->atom) {
	case DW_OP_bregx:
		return op->number >= 0 && op->number < m->columns;
	case DW_OP_deref_size:
		return op->number == 1 || op->number == 2 || op->number == 4 || op->number == 8;
	case DW_OP_pick:
		return op->number >= 0 && op->number <= UINT8_MAX;
	case DW_OP_consts:
	case DW_OP_plus_uconst:
	case DW_OP_bra:
	case DW_OP_skip:
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_xor:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_ge:
	case DW_OP_gt:
	case DW_OP_le:
	case DW_OP_lt:
	case DW_OP_eq:
	case DW_OP_ne:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_dup:
	case DW_OP_drop:
	case DW_OP_over:
	case DW_OP_swap:
	case DW_OP_rot:
	case DW_OP_deref:
	case DW_OP_nop:
	case DW_OP_call_frame_cfa:
	case DW_OP_stack_value:
		return true;
	default:
		return false;
	}
}

/* Constants of each size become DW_OP_consts. */
static bool read_constant(struct cfi_cursor *c, uint8_t code, struct cfi_op *op)
{
	op->atom = DW_OP_consts;
	if (code >= DW_OP_lit0 && code <= DW_OP_lit31)
		op->number = code - DW_OP_lit0;
	else if (code == DW_OP_constu)
		op->number = (int64_t)cfi_cursor_uleb(c);
	else if (code == DW_OP_consts)
		op->number = cfi_cursor_sleb(c);
	else if (code < DW_OP_const1u || code > DW_OP_const8s)
		return false;
	else if ((code - DW_OP_const1u) % 2)
		op->number = cfi_cursor_int(c, 1u << ((code - DW_OP_const1u) / 2));
	else
		op->number = (int64_t)cfi_cursor_uint(c, 1u << ((code - DW_OP_const1u) / 2));
	return true;
}

static void read_op(struct cfi_cursor *c, struct cfi_op *op)
{
	uint8_t code = (uint8_t)cfi_cursor_uint(c, 1);

	memset(op, 0, sizeof(*op));
	if (read_constant(c, code, op))
		return;
	op->atom = code;
	if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
		op->atom = DW_OP_bregx;
		op->number = code - DW_OP_breg0;
		op->number2 = cfi_cursor_sleb(c);
	} else if (code == DW_OP_bregx) {
		op->number = (int64_t)cfi_cursor_uleb(c);
		op->number2 = cfi_cursor_sleb(c);
	} else if (code == DW_OP_plus_uconst) {
		op->number = (int64_t)cfi_cursor_uleb(c);
	} else if (code == DW_OP_deref_size || code == DW_OP_pick) {
		op->number = (int64_t)cfi_cursor_uint(c, 1);
	} else if (cfi_op_branches(op)) {
		op->number = cfi_cursor_int(c, 2);
	}
}

/* Converts byte offsets of branches to operation numbers; only forward, so that each walk ends. */
static bool place_branches(struct decoded *d)
{
	for (size_t i = 0; i < d->count; i++) {
		struct cfi_op *op = &d->ops[i];
		size_t target = i + 1;
		int64_t byte;

		if (!cfi_op_branches(op))
			continue;
		byte = d->starts[i + 1] + op->number;
		while (target <= d->count && d->starts[target] != byte)
			target++;
		if (target > d->count)
			return false;
		op->number = (int64_t)target;
	}
	return true;
}

static bool decode(struct cfi_cursor block, const struct cfi_machine *m, struct decoded *d)
{
	const uint8_t *start = block.at;

	d->count = 0;
	while (block.at < block.end && !block.bad) {
		if (d->count == CFI_EXPRESSION_OPS_MAX || block.at - start > UINT16_MAX)
			return false;
		d->starts[d->count] = (uint16_t)(block.at - start);
		read_op(&block, &d->ops[d->count]);
		if (!cfi_op_known(&d->ops[d->count++], m))
			return false;
	}
	if (block.bad || block.at - start > UINT16_MAX)
		return false;
	d->starts[d->count] = (uint16_t)(block.at - start);
	return d->count && place_branches(d);
}

static bool is_offset(int64_t number)
{
	return number >= INT32_MIN && number <= INT32_MAX;
}

static bool is_register(const struct cfi_op *op)
{
	return op->atom == DW_OP_bregx && is_offset(op->number2);
}

void cfi_expression_cfa(struct cfi_pool *p, struct cfi_cursor block, struct cfi_state *s)
{
	struct decoded d;

	s->cfa = CFI_BAD;
	s->cfa_reg = 0;
	if (!decode(block, p->machine, &d))
		return;
	if (is_register(&d.ops[0]) &&
	    (d.count == 1 || (d.count == 2 && d.ops[1].atom == DW_OP_deref))) {
		s->cfa = d.count == 1 ? CFI_CFA_REGISTER : CFI_CFA_DEREF;
		s->cfa_reg = (uint8_t)d.ops[0].number;
		s->cfa_offset = d.ops[0].number2;
		return;
	}
	s->cfa_offset = cfi_pool_expression(p, d.ops, d.count);
	if (s->cfa_offset >= 0)
		s->cfa = CFI_CFA_EXPRESSION;
}

struct cfi_location cfi_expression_location(struct cfi_pool *p, struct cfi_cursor block,
                                            bool is_value)
{
	struct cfi_location l = {.how = CFI_BAD};
	struct decoded d;
	int64_t number;

	if (!decode(block, p->machine, &d))
		return l;
	if (d.count == 1 && is_register(&d.ops[0]) && !is_value)
		return (struct cfi_location){CFI_AT_REGISTER, (uint8_t)d.ops[0].number,
		                             (int32_t)d.ops[0].number2};
	if (d.count == 1 && d.ops[0].atom == DW_OP_plus_uconst && d.ops[0].number >= 0 &&
	    is_offset(d.ops[0].number))
		return (struct cfi_location){is_value ? CFI_IS_CFA : CFI_AT_CFA, 0,
		                             (int32_t)d.ops[0].number};
	number = cfi_pool_expression(p, d.ops, d.count);
	if (number >= 0) {
		l.how = is_value ? CFI_IS_EXPRESSION : CFI_AT_EXPRESSION;
		l.offset = (int32_t)number;
	}
	return l;
}
