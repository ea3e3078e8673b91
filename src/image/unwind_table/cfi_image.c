/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_internal.h"

#include <string.h>

/* The places of the parts; all are aligned, because they are ordered from large to small items. */
struct layout {
	uint64_t ops, expressions, saves, rule, offsets, rules, end;
};

_Static_assert(sizeof(struct cfi_header) % 8 == 0, "what follows is aligned");
_Static_assert(sizeof(struct cfi_op) % 8 == 0 && sizeof(struct cfi_expression) % 4 == 0 &&
                       sizeof(struct cfi_save) % 4 == 0 && sizeof(struct cfi_rule) % 4 == 0,
               "what follows is aligned");

static struct layout layout_of(const struct cfi_header *h)
{
	struct layout l = {.ops = sizeof(*h)};

	l.expressions = l.ops + (uint64_t)h->op_count * sizeof(struct cfi_op);
	l.saves = l.expressions + (uint64_t)h->expression_count * sizeof(struct cfi_expression);
	l.rule = l.saves + (uint64_t)h->save_count * sizeof(struct cfi_save);
	l.offsets = l.rule + (uint64_t)h->rule_count * sizeof(struct cfi_rule);
	l.rules = l.offsets + (uint64_t)h->row_count * sizeof(uint32_t);
	l.end = l.rules + (uint64_t)h->row_count * sizeof(uint16_t);
	return l;
}

uint64_t cfi_image_checksum(const struct cfi_header *image, size_t size)
{
	struct cfi_header header = *image;

	header.checksum = 0;
	return hash_pair(hash_bytes(&header, sizeof(header)),
	                 hash_bytes(image + 1, size - sizeof(header)));
}

static void put(struct cfi_header *image, uint64_t at, const void *items, size_t bytes)
{
	if (bytes)
		memcpy((char *)image + at, items, bytes);
}

struct cfi_header *cfi_image_new(const struct cfi_pool *p, const struct cfi_rows *rows,
                                 enum elf_machine machine, const struct build_id *build_id)
{
	struct cfi_header header = {
	        .magic = CFI_MAGIC,
	        .version = CFI_VERSION,
	        .machine = (uint8_t)machine,
	        .skipped = p->skipped,
	        .cut = p->cut,
	        .row_count = (uint32_t)rows->rules.count,
	        .rule_count = (uint32_t)p->rules.count,
	        .save_count = (uint32_t)p->saves.count,
	        .op_count = (uint32_t)p->ops.count,
	        .expression_count = (uint32_t)p->expressions.count,
	};
	struct layout l = layout_of(&header);
	struct cfi_header *image = xmalloc(l.end);

	header.size = l.end;
	header.build_id.size = build_id->size;
	memcpy(header.build_id.bytes, build_id->bytes, build_id->size);
	*image = header;
	put(image, l.ops, p->ops.items, l.expressions - l.ops);
	put(image, l.expressions, p->expressions.items, l.saves - l.expressions);
	put(image, l.saves, p->saves.items, l.rule - l.saves);
	put(image, l.rule, p->rules.items, l.offsets - l.rule);
	put(image, l.offsets, rows->offsets.items, l.rules - l.offsets);
	put(image, l.rules, rows->rules.items, l.end - l.rules);
	image->checksum = cfi_image_checksum(image, image->size);
	return image;
}

static bool header_good(const struct cfi_header *h, size_t size, enum elf_machine machine,
                        const struct build_id *build_id)
{
	return size >= sizeof(*h) && !memcmp(h->magic, CFI_MAGIC, sizeof(h->magic)) &&
	       h->version == CFI_VERSION && h->machine == machine && h->size == size &&
	       h->rule_count <= CFI_NO_RULE && h->expression_count <= CFI_EXPRESSIONS_MAX &&
	       h->build_id.size == build_id->size &&
	       !memcmp(h->build_id.bytes, build_id->bytes, build_id->size) &&
	       layout_of(h).end == size && h->checksum == cfi_image_checksum(h, size);
}

static bool is_expression(const struct cfi_table *t, int32_t number)
{
	return number >= 0 && (size_t)number < t->expression_count;
}

static bool save_good(const struct cfi_table *t, const struct cfi_save *s, unsigned columns)
{
	if (s->reg >= columns || s->base >= columns)
		return false;
	switch (s->how) {
	case CFI_IN_REGISTER:
		return s->offset >= 0 && s->offset < (int32_t)columns;
	case CFI_AT_EXPRESSION:
	case CFI_IS_EXPRESSION:
		return is_expression(t, s->offset);
	default:
		return s->how <= CFI_UNDEFINED;
	}
}

static bool rules_good(const struct cfi_table *t, const struct cfi_machine *m)
{
	for (const struct cfi_save *s = t->saves; s < t->saves + t->save_count; s++)
		if (!save_good(t, s, m->columns))
			return false;
	for (const struct cfi_rule *r = t->rule; r < t->rule + t->rule_count; r++)
		if (r->cfa > CFI_CFA_EXPRESSION || r->cfa_reg >= m->columns || !r->save_count ||
		    r->saves > t->save_count || r->save_count > t->save_count - r->saves ||
		    (r->cfa == CFI_CFA_EXPRESSION && !is_expression(t, r->cfa_offset)))
			return false;
	return true;
}

static bool expression_good(const struct cfi_table *t, const struct cfi_expression *e,
                            const struct cfi_machine *m)
{
	if (e->first > t->op_count || e->count > t->op_count - e->first || !e->count ||
	    e->count > CFI_EXPRESSION_OPS_MAX)
		return false;
	for (uint32_t i = 0; i < e->count; i++) {
		const struct cfi_op *op = &t->ops[e->first + i];

		if (!cfi_op_known(op, m) ||
		    (cfi_op_branches(op) && (op->number <= i || op->number > e->count)))
			return false;
	}
	return true;
}

static bool rows_good(const struct cfi_table *t)
{
	for (size_t i = 0; i < t->row_count; i++)
		if ((i && t->offsets[i] <= t->offsets[i - 1]) ||
		    (t->rules[i] != CFI_NO_RULE && t->rules[i] >= t->rule_count))
			return false;
	return true;
}

static bool table_good(const struct cfi_table *t, const struct cfi_machine *m)
{
	/* On a machine without unwind tables, all tables are empty. */
	if (!m)
		return !t->row_count && !t->rule_count && !t->save_count && !t->expression_count;
	for (size_t i = 0; i < t->expression_count; i++)
		if (!expression_good(t, &t->expressions[i], m))
			return false;
	return rules_good(t, m) && rows_good(t);
}

struct cfi_table *cfi_image_layout(const struct cfi_header *image)
{
	const char *bytes = (const char *)image;
	struct cfi_table *t = xcalloc(1, sizeof(*t));
	struct layout l = layout_of(image);

	*t = (struct cfi_table){
	        .offsets = (const uint32_t *)(bytes + l.offsets),
	        .rules = (const uint16_t *)(bytes + l.rules),
	        .row_count = image->row_count,
	        .rule = (const struct cfi_rule *)(bytes + l.rule),
	        .rule_count = image->rule_count,
	        .saves = (const struct cfi_save *)(bytes + l.saves),
	        .save_count = image->save_count,
	        .ops = (const struct cfi_op *)(bytes + l.ops),
	        .op_count = image->op_count,
	        .expressions = (const struct cfi_expression *)(bytes + l.expressions),
	        .expression_count = image->expression_count,
	        .machine = image->machine,
	        .skipped = image->skipped,
	        .cut = image->cut != 0,
	};
	return t;
}

struct cfi_table *cfi_image_table(const struct cfi_header *image, size_t size,
                                  enum elf_machine machine, const struct build_id *build_id)
{
	struct cfi_table *t;

	if (!header_good(image, size, machine, build_id))
		return NULL;
	t = cfi_image_layout(image);
	if (!table_good(t, cfi_machine(machine))) {
		free(t);
		return NULL;
	}
	cfi_table_index(t);
	return t;
}
