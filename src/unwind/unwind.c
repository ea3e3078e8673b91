/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind.h"

#include "unwind/unwind_expression.h"

/* Allows a signal handler's stack, and interrupted handlers on it; more switches are an error. */
#define SWITCHES_MAX 4

const struct unwind_machine *unwind_native(void)
{
#if defined(__x86_64__)
	return &unwind_x86_64;
#elif defined(__aarch64__)
	return &unwind_arm64;
#else
	return NULL;
#endif
}

bool unwind_start(struct unwind_cursor *c, const struct unwind_machine *m, const uint64_t *values,
                  uint64_t mask)
{
	unsigned number, ours;

	c->regs.known = 0;
	for (; mask; mask &= mask - 1, values++) {
		number = (unsigned)__builtin_ctzll(mask);
		ours = number < m->perf_count ? m->of_perf[number] : UNWIND_NOT_OURS;
		if (ours == UNWIND_NOT_OURS)
			continue;
		c->regs.value[ours] = *values;
		c->regs.known |= (uint64_t)1 << ours;
	}
	if (!(c->regs.known >> m->sp & 1) || !(c->regs.known >> m->pc & 1))
		return false;
	c->regs.pc = c->regs.value[m->pc];
	c->cfa = 0;
	c->floor = c->regs.value[m->sp];
	c->exact = true;
	c->switches = 0;
	return true;
}

static inline bool known(const struct unwind_regs *regs, unsigned reg)
{
	return reg < UNWIND_REGISTERS && regs->known >> reg & 1;
}

/* The state of one step. */
struct step_state {
	struct unwind_cursor *c;
	const struct cfi_table *table;
	const struct unwind_memory *memory;
	uint64_t cfa;
};

static enum unwind_result evaluate(const struct step_state *s, int32_t number,
                                   const uint64_t *first, uint64_t *value)
{
	if (number < 0 || (size_t)number >= s->table->expression_count)
		return UNWIND_WRONG;
	return unwind_expression(s->table, &s->table->expressions[number], &s->c->regs, s->memory,
	                         s->c->floor, first, value);
}

static enum unwind_result find_cfa(struct step_state *s, const struct cfi_rule *rule)
{
	const struct unwind_regs *regs = &s->c->regs;
	uint64_t base;

	if (rule->cfa == CFI_CFA_EXPRESSION)
		return evaluate(s, rule->cfa_offset, NULL, &s->cfa);
	if (!known(regs, rule->cfa_reg))
		return UNWIND_WRONG;
	base = regs->value[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_offset;
	if (rule->cfa == CFI_CFA_DEREF)
		return unwind_read(s->memory, s->c->floor, base, &s->cfa);
	s->cfa = base;
	return UNWIND_CALLER;
}

/* Whether the CFA is above the frames called from it, or is the CFA of a stack that a signal
 * interrupted. */
static bool rises(struct unwind_cursor *c, uint64_t cfa, const struct cfi_rule *rule)
{
	uint64_t least = c->floor + !c->exact;

	if (cfa >= least && cfa - c->floor < UNWIND_REACH)
		return true;
	if (!(rule->flags & CFI_SIGNAL) || c->switches >= SWITCHES_MAX)
		return false;
	c->switches++;
	return true;
}

static enum unwind_result saved_value(const struct step_state *s, const struct cfi_save *save,
                                      uint64_t *value)
{
	const struct unwind_regs *regs = &s->c->regs;
	uint64_t offset = (uint64_t)(int64_t)save->offset, address;
	enum unwind_result r;

	switch (save->how) {
	case CFI_AT_CFA:
		return unwind_read(s->memory, s->c->floor, s->cfa + offset, value);
	case CFI_IS_CFA:
		*value = s->cfa + offset;
		return UNWIND_CALLER;
	case CFI_IN_REGISTER:
		if (save->offset < 0 || !known(regs, (unsigned)save->offset))
			return UNWIND_WRONG;
		*value = regs->value[save->offset];
		return UNWIND_CALLER;
	case CFI_AT_REGISTER:
		if (!known(regs, save->base))
			return UNWIND_WRONG;
		address = regs->value[save->base] + offset;
		return unwind_read(s->memory, s->c->floor, address, value);
	case CFI_AT_EXPRESSION:
		r = evaluate(s, save->offset, &s->cfa, &address);
		return r ? r : unwind_read(s->memory, s->c->floor, address, value);
	case CFI_IS_EXPRESSION:
		return evaluate(s, save->offset, &s->cfa, value);
	default:
		return UNWIND_WRONG;
	}
}

struct saved {
	uint64_t values[UNWIND_REGISTERS];
	uint64_t set, lost; /* one bit per register */
};

/* Reads all registers that the frame saved. Registers that cannot be read are lost; unavailable
 * stack memory ends the step. */
static enum unwind_result read_saves(const struct step_state *s, const struct cfi_rule *rule,
                                     struct saved *saved)
{
	const struct cfi_save *save = s->table->saves + rule->saves, *end = save + rule->save_count;
	const struct unwind_memory *m = s->memory;
	uint64_t address, into;
	uint64_t last = m->size < sizeof(into) ? 0 : m->size - sizeof(into) + 1;
	enum unwind_result r;

	saved->set = saved->lost = 0;
	for (; save < end; save++) {
		if (save->reg >= UNWIND_REGISTERS)
			continue;
		address = s->cfa + (uint64_t)(int64_t)save->offset;
		into = address - m->start;
		if (save->how == CFI_AT_CFA && into < last) { /* the most frequent case */
			memcpy(&saved->values[save->reg], m->bytes + into, sizeof(into));
			saved->set |= (uint64_t)1 << save->reg;
			continue;
		}
		/* The place is below the stack pointer: the value was popped again, so the register
		 * has it. */
		if (save->how == CFI_AT_CFA && address < s->c->floor)
			continue;
		r = saved_value(s, save, &saved->values[save->reg]);
		if (r == UNWIND_BEYOND)
			return r;
		if (r == UNWIND_CALLER)
			saved->set |= (uint64_t)1 << save->reg;
		else
			saved->lost |= (uint64_t)1 << save->reg;
	}
	return UNWIND_CALLER;
}

/* Finds the return address; false: it is unknown. */
static bool find_ra(const struct unwind_cursor *c, const struct unwind_machine *m,
                    const struct saved *saved, uint64_t *ra)
{
	if (saved->set >> m->ra & 1)
		*ra = saved->values[m->ra];
	else if (m->ra != m->pc && !(saved->lost >> m->ra & 1) && known(&c->regs, m->ra))
		*ra = c->regs.value[m->ra]; /* a leaf function did not save it */
	else
		return false;
	*ra &= m->address_mask;
	return true;
}

/* Sets the registers that were read, and keeps the other callee-saved registers. */
static void restore(struct unwind_cursor *c, const struct unwind_machine *m,
                    const struct saved *saved, bool signal)
{
	struct unwind_regs *regs = &c->regs;

	if (!signal)
		regs->known &= m->callee_saved;
	regs->known = (regs->known & ~saved->lost) | saved->set;
	for (uint64_t set = saved->set; set; set &= set - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(set);

		regs->value[reg] = saved->values[reg];
	}
}

static void become_caller(struct unwind_cursor *c, const struct unwind_machine *m, uint64_t ra,
                          uint64_t cfa, bool sp_set)
{
	struct unwind_regs *regs = &c->regs;

	if (!sp_set) {
		regs->value[m->sp] = cfa;
		regs->known |= (uint64_t)1 << m->sp;
	}
	regs->pc = ra;
	regs->value[m->pc] = ra;
	regs->known |= (uint64_t)1 << m->pc;
	c->floor = cfa;
}

enum unwind_result unwind_step(struct unwind_cursor *c, const struct unwind_machine *m,
                               const struct cfi_table *table, const struct cfi_rule *rule,
                               const struct unwind_memory *memory)
{
	struct step_state s = {.c = c, .table = table, .memory = memory};
	enum unwind_result r = find_cfa(&s, rule);
	struct saved saved;
	uint64_t ra;

	c->cfa = 0;
	if (rule->flags & CFI_OUTERMOST) {
		c->cfa = r == UNWIND_CALLER && s.cfa > c->floor ? s.cfa : c->floor + 1;
		return UNWIND_FIRST;
	}
	if (r != UNWIND_CALLER)
		return r;
	if (!rises(c, s.cfa, rule))
		return UNWIND_WRONG;
	c->cfa = s.cfa;
	r = read_saves(&s, rule, &saved);
	if (r != UNWIND_CALLER)
		return r;
	if (!find_ra(c, m, &saved, &ra))
		return UNWIND_WRONG;
	if (!ra)
		return UNWIND_FIRST;
	restore(c, m, &saved, rule->flags & CFI_SIGNAL);
	become_caller(c, m, ra, s.cfa, saved.set >> m->sp & 1);
	c->exact = rule->flags & CFI_SIGNAL;
	return UNWIND_CALLER;
}

enum unwind_result unwind_frame_pointer(struct unwind_cursor *c, const struct unwind_machine *m,
                                        const struct unwind_memory *memory, bool *linked)
{
	uint64_t fp, saved, ra;
	enum unwind_result r;

	c->cfa = 0;
	*linked = false;
	if (!known(&c->regs, m->fp))
		return UNWIND_WRONG;
	fp = c->regs.value[m->fp];
	if (!fp) {
		c->cfa = c->floor + 1;
		return UNWIND_FIRST;
	}
	if (fp < c->floor || fp - c->floor >= UNWIND_REACH || fp % sizeof(fp))
		return UNWIND_WRONG;
	c->cfa = fp + m->fp_size;
	r = unwind_read(memory, c->floor, fp + m->fp_saved, &saved);
	if (r == UNWIND_CALLER)
		r = unwind_read(memory, c->floor, fp + m->fp_ra, &ra);
	if (r != UNWIND_CALLER)
		return r;
	ra &= m->address_mask;
	if (!ra)
		return UNWIND_FIRST;
	*linked = !saved || (saved > fp && saved % sizeof(saved) == 0);
	c->regs.value[m->fp] = saved;
	c->regs.known = (uint64_t)1 << m->fp;
	become_caller(c, m, ra, c->cfa, false);
	c->exact = false;
	return UNWIND_CALLER;
}
