/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED_MAX 64

/* Different versions of elfutils' dwarf.h lack it. */
/* An extension of MIPS that other compilers use for long functions. */
#define CFA_LOW_USER_ADVANCE_8 0x1d
#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC 0x2c
#define CFA_AARCH64_NEGATE_RA_STATE 0x2d
#define CFA_GNU_ARGS_SIZE 0x2e
#define CFA_GNU_NEGATIVE_OFFSET 0x2f

bool cfi_read_pointer(struct cfi_cursor *c, uint8_t encoding, uint64_t place,
                      const struct cfi_machine *m, uint64_t *pointer)
{
	uint64_t value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		value = cfi_cursor_uint(c, m->address_size);
		break;
	case DW_EH_PE_uleb128:
		value = cfi_cursor_uleb(c);
		break;
	case DW_EH_PE_udata2:
	case DW_EH_PE_udata4:
	case DW_EH_PE_udata8:
		value = cfi_cursor_uint(c, 1u << ((encoding & 0x0f) - 1));
		break;
	case DW_EH_PE_signed:
		value = (uint64_t)cfi_cursor_int(c, m->address_size);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)cfi_cursor_sleb(c);
		break;
	case DW_EH_PE_sdata2:
	case DW_EH_PE_sdata4:
	case DW_EH_PE_sdata8:
		value = (uint64_t)cfi_cursor_int(c, 1u << ((encoding & 0x07) - 1));
		break;
	default:
		return false;
	}
	/* Relative to data or text: linkers for these machines do not emit it. */
	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		value += place;
	else if (encoding & 0xf0)
		return false;
	*pointer = m->address_size == 4 ? (uint32_t)value : value;
	return !c->bad;
}

static void set_location(struct cfi_run *r, uint64_t reg, struct cfi_location l)
{
	/* Other registers, mostly vector registers, are not needed for a walk. */
	if (reg < r->pool->machine->columns)
		r->state.regs[reg] = l;
}

static void set_offset(struct cfi_run *r, uint64_t reg, uint8_t how, int64_t factored)
{
	struct cfi_location l = {.how = how};
	int64_t offset;

	if (__builtin_mul_overflow(factored, r->cie->data_factor, &offset) || offset < INT32_MIN ||
	    offset > INT32_MAX)
		l.how = CFI_BAD;
	else
		l.offset = (int32_t)offset;
	set_location(r, reg, l);
}

static void set_register(struct cfi_run *r, uint64_t reg, uint64_t from)
{
	struct cfi_location l = {.how = CFI_IN_REGISTER};

	if (from < r->pool->machine->columns)
		l.offset = (int32_t)from;
	else
		l.how = CFI_BAD;
	set_location(r, reg, l);
}

static void set_cfa(struct cfi_run *r, uint64_t reg, int64_t offset)
{
	r->state.cfa = reg < r->pool->machine->columns ? CFI_CFA_REGISTER : CFI_BAD;
	r->state.cfa_reg = r->state.cfa == CFI_BAD ? 0 : (uint8_t)reg;
	r->state.cfa_offset = offset;
}

/* Changes only the register or only the offset of the CFA; the other must be defined already. */
static void change_cfa(struct cfi_run *r, uint64_t reg, int64_t offset)
{
	if (r->state.cfa == CFI_CFA_REGISTER)
		set_cfa(r, reg, offset);
	else
		r->state.cfa = CFI_BAD;
}

static int64_t factored_offset(struct cfi_run *r, int64_t factored)
{
	int64_t offset;

	return __builtin_mul_overflow(factored, r->cie->data_factor, &offset) ? INT64_MAX : offset;
}

static void add_row(struct cfi_run *r)
{
	uint32_t offset = r->range.offset + r->at;
	uint16_t rule = cfi_pool_rule(r->pool, &r->state, r->cie->return_column,
	                              r->cie->signal ? CFI_SIGNAL : 0);

	r->pool->skipped += rule == CFI_NO_RULE;
	if (r->rows->rules.count > r->first_row && *vec_last(&r->rows->rules) == rule)
		return;
	if (r->rows->rules.count >= CFI_ROWS_MAX) {
		r->pool->cut = r->bad = true;
		return;
	}
	vec_push(&r->rows->offsets, offset);
	vec_push(&r->rows->rules, rule);
}

/* Ends the present row at the new place. */
static bool advance_to(struct cfi_run *r, uint64_t at)
{
	if (!r->rows || at < r->at) {
		r->bad = true;
		return false;
	}
	if (at != r->at)
		add_row(r);
	if (at >= r->range.size)
		return false;
	r->at = (uint32_t)at;
	return true;
}

static bool advance_by(struct cfi_run *r, uint64_t units)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(units, r->cie->code_factor, &bytes) ||
	    bytes > r->range.size - r->at)
		bytes = r->range.size - r->at;
	return advance_to(r, r->at + bytes);
}

static bool advance_to_address(struct cfi_run *r, struct cfi_cursor *c)
{
	uint64_t address;

	/* A relative address needs the place of the instruction; compilers do not emit it. */
	if (r->cie->encoding & 0xf0 ||
	    !cfi_read_pointer(c, r->cie->encoding, 0, r->pool->machine, &address) ||
	    address < r->range.address) {
		r->bad = true;
		return false;
	}
	return advance_to(r, address - r->range.address);
}

static void remember(struct cfi_run *r)
{
	if (r->depth == REMEMBERED_MAX) {
		r->bad = true;
		return;
	}
	if (!r->remembered)
		r->remembered = xmalloc(REMEMBERED_MAX * sizeof(*r->remembered));
	r->remembered[r->depth++] = r->state;
}

static void restore_state(struct cfi_run *r)
{
	if (!r->depth)
		r->bad = true;
	else
		r->state = r->remembered[--r->depth];
}

static void restore(struct cfi_run *r, uint64_t reg)
{
	if (reg < r->pool->machine->columns)
		r->state.regs[reg] = r->cie->initial.regs[reg];
}

static struct cfi_cursor block(struct cfi_cursor *c)
{
	return cfi_cursor_part(c, cfi_cursor_uleb(c));
}

static bool step_cfa(struct cfi_run *r, struct cfi_cursor *c, uint8_t code)
{
	uint64_t reg;

	switch (code) {
	case DW_CFA_def_cfa:
		reg = cfi_cursor_uleb(c);
		set_cfa(r, reg, (int64_t)cfi_cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = cfi_cursor_uleb(c);
		set_cfa(r, reg, factored_offset(r, cfi_cursor_sleb(c)));
		return true;
	case DW_CFA_def_cfa_register:
		change_cfa(r, cfi_cursor_uleb(c), r->state.cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		change_cfa(r, r->state.cfa_reg, (int64_t)cfi_cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		change_cfa(r, r->state.cfa_reg, factored_offset(r, cfi_cursor_sleb(c)));
		return true;
	case DW_CFA_def_cfa_expression:
		cfi_expression_cfa(r->pool, block(c), &r->state);
		return true;
	default:
		return false;
	}
}

/* True if the first operand is a register number. */
static bool names_register(uint8_t code)
{
	if (code == DW_CFA_remember_state || code == DW_CFA_restore_state)
		return false;
	return (code >= DW_CFA_offset_extended && code <= DW_CFA_val_expression) ||
	       code == CFA_GNU_NEGATIVE_OFFSET;
}

static bool step_register(struct cfi_run *r, struct cfi_cursor *c, uint8_t code)
{
	struct cfi_location same = {.how = CFI_SAME}, lost = {.how = CFI_UNDEFINED};
	uint64_t reg;

	if (!names_register(code))
		return false;
	reg = cfi_cursor_uleb(c);
	switch (code) {
	case DW_CFA_offset_extended:
		set_offset(r, reg, CFI_AT_CFA, (int64_t)cfi_cursor_uleb(c));
		return true;
	case DW_CFA_offset_extended_sf:
		set_offset(r, reg, CFI_AT_CFA, cfi_cursor_sleb(c));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET:
		set_offset(r, reg, CFI_AT_CFA, (int64_t)(0 - cfi_cursor_uleb(c)));
		return true;
	case DW_CFA_val_offset:
		set_offset(r, reg, CFI_IS_CFA, (int64_t)cfi_cursor_uleb(c));
		return true;
	case DW_CFA_val_offset_sf:
		set_offset(r, reg, CFI_IS_CFA, cfi_cursor_sleb(c));
		return true;
	case DW_CFA_restore_extended:
		restore(r, reg);
		return true;
	case DW_CFA_undefined:
		set_location(r, reg, lost);
		return true;
	case DW_CFA_same_value:
		set_location(r, reg, same);
		return true;
	case DW_CFA_register:
		set_register(r, reg, cfi_cursor_uleb(c));
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_location(
		        r, reg,
		        cfi_expression_location(r->pool, block(c), code == DW_CFA_val_expression));
		return true;
	default:
		return false;
	}
}

/* False: the end, or a place beyond the range, or an unknown instruction. */
static bool step_other(struct cfi_run *r, struct cfi_cursor *c, uint8_t code)
{
	switch (code) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		return advance_to_address(r, c);
	case DW_CFA_advance_loc1:
		return advance_by(r, cfi_cursor_uint(c, 1));
	case DW_CFA_advance_loc2:
		return advance_by(r, cfi_cursor_uint(c, 2));
	case DW_CFA_advance_loc4:
		return advance_by(r, cfi_cursor_uint(c, 4));
	case CFA_LOW_USER_ADVANCE_8:
		return advance_by(r, cfi_cursor_uint(c, 8));
	case DW_CFA_remember_state:
		remember(r);
		return true;
	case DW_CFA_restore_state:
		restore_state(r);
		return true;
	case CFA_GNU_ARGS_SIZE:
		cfi_cursor_uleb(c);
		return true;
	case CFA_AARCH64_NEGATE_RA_STATE:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		/* The reader of a signed return address removes its signature. */
		r->bad = !r->pool->machine->arm64;
		return true;
	default:
		r->bad = true;
		return false;
	}
}

static bool step(struct cfi_run *r, struct cfi_cursor *c)
{
	uint8_t code = (uint8_t)cfi_cursor_uint(c, 1), low = code & 0x3f;

	switch (code & 0xc0) {
	case DW_CFA_advance_loc:
		return advance_by(r, low);
	case DW_CFA_offset:
		set_offset(r, low, CFI_AT_CFA, (int64_t)cfi_cursor_uleb(c));
		return true;
	case DW_CFA_restore:
		restore(r, low);
		return true;
	default:
		return step_cfa(r, c, code) || step_register(r, c, code) || step_other(r, c, code);
	}
}

static void run(struct cfi_run *r, struct cfi_cursor c)
{
	size_t size = (size_t)(c.end - c.at);

	/* Limits the work: the bytes of a CIE are executed again for each FDE that uses it. */
	if (*r->work < size) {
		*r->work = 0;
		r->bad = true;
		return;
	}
	*r->work -= size;
	while (c.at < c.end && step(r, &c) && !r->bad && !c.bad)
		;
	r->bad = r->bad || c.bad;
	free(r->remembered);
}

bool cfi_run_initial(struct cfi_pool *p, struct cfi_cie *cie, struct cfi_cursor program,
                     uint64_t *work)
{
	struct cfi_run r = {.pool = p, .cie = cie, .work = work};

	memset(&cie->initial, 0, sizeof(cie->initial));
	cie->initial.cfa = CFI_BAD;
	for (size_t i = 0; i < CFI_COLUMNS_MAX; i++)
		cie->initial.regs[i].how = CFI_SAME;
	r.state = cie->initial;
	run(&r, program);
	cie->initial = r.state;
	return !r.bad;
}

bool cfi_run_range(struct cfi_pool *p, const struct cfi_cie *cie, struct cfi_range range,
                   struct cfi_cursor program, struct cfi_rows *rows, uint64_t *work)
{
	struct cfi_run r = {.pool = p,
	                    .cie = cie,
	                    .range = range,
	                    .rows = rows,
	                    .first_row = rows->rules.count,
	                    .state = cie->initial,
	                    .work = work};

	run(&r, program);
	if (!r.bad) {
		add_row(&r);
		return true;
	}
	/* Further instructions may follow at the last place. */
	vec_push(&rows->offsets, range.offset + r.at);
	vec_push(&rows->rules, CFI_NO_RULE);
	return false;
}
