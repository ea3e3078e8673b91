/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_internal.h"

#include <string.h>

static const struct cfi_machine machines[] = {
        [ELF_MACHINE_X86_64] = {.columns = 17, .address_size = 8},
        [ELF_MACHINE_X86_32] = {.columns = 9, .address_size = 4},
        [ELF_MACHINE_ARM64] = {.columns = 33, .address_size = 8, .arm64 = true},
};

const struct cfi_machine *cfi_machine(enum elf_machine machine)
{
	return machine < sizeof(machines) / sizeof(machines[0]) ? &machines[machine] : NULL;
}

void cfi_pool_done(struct cfi_pool *p)
{
	vec_done(&p->rules);
	vec_done(&p->saves);
	vec_done(&p->sets);
	vec_done(&p->ops);
	vec_done(&p->expressions);
	id_table_done(&p->rule_ids);
	id_table_done(&p->set_ids);
	id_table_done(&p->expression_ids);
}

struct span {
	const void *items;
	size_t count;
};

static bool same_expression(const void *ctx, uint32_t id, const void *key)
{
	const struct cfi_pool *p = ctx;
	const struct cfi_expression *e = &p->expressions.items[id];
	const struct span *want = key;

	return e->count == want->count &&
	       !memcmp(&p->ops.items[e->first], want->items, e->count * sizeof(struct cfi_op));
}

int64_t cfi_pool_expression(struct cfi_pool *p, const struct cfi_op *ops, size_t count)
{
	struct span key = {ops, count};
	uint64_t hash = hash_bytes(ops, count * sizeof(*ops));
	uint32_t id = id_table_find(&p->expression_ids, hash, same_expression, p, &key);

	if (id != ID_NONE)
		return id;
	if (p->expressions.count >= CFI_EXPRESSIONS_MAX || count > CFI_OPS_MAX - p->ops.count)
		return -1;
	id = (uint32_t)p->expressions.count;
	vec_push(&p->expressions, (struct cfi_expression){(uint32_t)p->ops.count, (uint32_t)count});
	for (size_t i = 0; i < count; i++)
		vec_push(&p->ops, ops[i]);
	id_table_add(&p->expression_ids, hash, id);
	return id;
}

static bool same_set(const void *ctx, uint32_t id, const void *key)
{
	const struct cfi_pool *p = ctx;
	const struct cfi_save_set *set = &p->sets.items[id];
	const struct span *want = key;

	return set->count == want->count && !memcmp(&p->saves.items[set->first], want->items,
	                                            set->count * sizeof(struct cfi_save));
}

/* *first: the index of equal saves in the pool, which are added if needed. False: there are too
 * many sets of saves. */
static bool intern_saves(struct cfi_pool *p, const struct cfi_save *saves, size_t count,
                         uint32_t *first)
{
	struct span key = {saves, count};
	uint64_t hash = hash_bytes(saves, count * sizeof(*saves));
	uint32_t id = id_table_find(&p->set_ids, hash, same_set, p, &key);

	if (id == ID_NONE) {
		if (p->sets.count >= CFI_NO_RULE)
			return false;
		id = (uint32_t)p->sets.count;
		id_table_add(&p->set_ids, hash, id);
		vec_push(&p->sets,
		         (struct cfi_save_set){(uint32_t)p->saves.count, (uint32_t)count});
		for (size_t i = 0; i < count; i++)
			vec_push(&p->saves, saves[i]);
	}
	*first = p->sets.items[id].first;
	return true;
}

static bool same_rule(const void *ctx, uint32_t id, const void *key)
{
	const struct cfi_pool *p = ctx;

	return !memcmp(&p->rules.items[id], key, sizeof(struct cfi_rule));
}

static uint16_t intern_rule(struct cfi_pool *p, const struct cfi_rule *rule)
{
	uint64_t hash = hash_bytes(rule, sizeof(*rule));
	uint32_t id = id_table_find(&p->rule_ids, hash, same_rule, p, rule);

	if (id != ID_NONE)
		return (uint16_t)id;
	if (p->rules.count >= CFI_NO_RULE)
		return CFI_NO_RULE;
	id_table_add(&p->rule_ids, hash, (uint32_t)p->rules.count);
	vec_push(&p->rules, *rule);
	return (uint16_t)(p->rules.count - 1);
}

static struct cfi_save save_of(uint8_t reg, struct cfi_location l)
{
	/* The value is in its register: on arm64 the return address of a leaf function. */
	if (l.how == CFI_SAME)
		return (struct cfi_save){.reg = reg, .how = CFI_IN_REGISTER, .offset = reg};
	return (struct cfi_save){.reg = reg, .how = l.how, .base = l.base, .offset = l.offset};
}

uint16_t cfi_pool_rule(struct cfi_pool *p, const struct cfi_state *s, uint8_t return_column,
                       uint8_t flags)
{
	struct cfi_save saves[CFI_COLUMNS_MAX];
	struct cfi_location back = s->regs[return_column];
	struct cfi_rule rule = {.cfa = s->cfa, .cfa_reg = s->cfa_reg};
	bool outermost = back.how == CFI_UNDEFINED;
	uint8_t count = 0;

	/* The caller of an outermost frame is never searched, so its CFA may be unknown. */
	if (s->cfa == CFI_BAD && outermost)
		rule = (struct cfi_rule){.cfa = CFI_CFA_REGISTER};
	else if (s->cfa == CFI_BAD || s->cfa_offset < INT32_MIN || s->cfa_offset > INT32_MAX)
		return CFI_NO_RULE;
	else
		rule.cfa_offset = (int32_t)s->cfa_offset;
	/* On x86 a call never leaves the return address in a register. */
	if (back.how == CFI_SAME && !p->machine->arm64)
		return CFI_NO_RULE;
	saves[count++] = save_of(return_column, back);
	for (uint8_t reg = 0; reg < p->machine->columns; reg++) {
		if (s->regs[reg].how == CFI_BAD)
			return CFI_NO_RULE;
		if (reg != return_column && s->regs[reg].how != CFI_SAME)
			saves[count++] = save_of(reg, s->regs[reg]);
	}
	rule.flags = flags | (outermost ? CFI_OUTERMOST : 0);
	rule.save_count = count;
	return intern_saves(p, saves, count, &rule.saves) ? intern_rule(p, &rule) : CFI_NO_RULE;
}
