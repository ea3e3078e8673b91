/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables: an ELF file with any contents is compiled, and addresses are looked up; a file of
 * the cache with any contents is refused or valid.
 */
#include "base/memory/xalloc.h"
#include "image/unwind_table/cfi.h"
#include "image/unwind_table/cfi_internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_expression(const struct cfi_table *t, int32_t number)
{
	const struct cfi_expression *e;

	if (number < 0 || (size_t)number >= t->expression_count)
		abort();
	e = &t->expressions[number];
	for (uint32_t i = 0; i < e->count; i++) {
		const struct cfi_op *op = &t->ops[e->first + i];

		if (!cfi_op_known(op, cfi_machine(t->machine)))
			abort();
		if (cfi_op_branches(op) && (op->number <= i || op->number > e->count))
			abort();
	}
}

static void check_rule(const struct cfi_table *t, const struct cfi_rule *rule)
{
	if (rule < t->rule || rule >= t->rule + t->rule_count || !rule->save_count)
		abort();
	if (rule->cfa == CFI_CFA_EXPRESSION)
		check_expression(t, rule->cfa_offset);
	for (uint32_t i = rule->saves; i < rule->saves + rule->save_count; i++) {
		const struct cfi_save *s = &t->saves[i];

		if (s->reg >= CFI_COLUMNS_MAX || s->how > CFI_UNDEFINED)
			abort();
		if (s->how == CFI_AT_EXPRESSION || s->how == CFI_IS_EXPRESSION)
			check_expression(t, s->offset);
	}
}

/* Each row is found by its start, and has values in range. */
static void use_table(const struct cfi_table *t)
{
	const struct cfi_rule *rule;

	cfi_table_find(t, 0);
	cfi_table_find(t, UINT32_MAX);
	for (size_t i = 0; i < t->row_count; i++) {
		rule = cfi_table_find(t, t->offsets[i]);
		if (!rule != (t->rules[i] == CFI_NO_RULE))
			abort();
		if (rule)
			check_rule(t, rule);
		if (i &&
		    cfi_table_find(t, t->offsets[i] - 1) !=
		            (t->rules[i - 1] == CFI_NO_RULE ? NULL : &t->rule[t->rules[i - 1]]))
			abort();
	}
}

static void use_file(const uint8_t *bytes, size_t size)
{
	struct cfi_table *t;
	struct elf_file *f;

	if (elf_file_open_memory(&f, bytes, size, "fuzz", NULL))
		return;
	if (!cfi_table_compile(&t, f, NULL)) {
		/* There are at most as many rows as instructions. */
		if (t->row_count > 2 * size)
			abort();
		use_table(t);
		cfi_table_free(t);
	}
	elf_file_close(f);
}

/* With a valid checksum and size, as an attacker could make them. */
static void use_cache(const uint8_t *bytes, size_t size)
{
	struct cfi_header *image;
	struct cfi_table *t;

	if (size < sizeof(*image))
		return;
	image = xmalloc(size);
	memcpy(image, bytes, size);
	image->size = size;
	image->checksum = cfi_image_checksum(image, size);
	if (image->build_id.size <= BUILD_ID_MAX) {
		t = cfi_image_table(image, size, image->machine, &image->build_id);
		if (t)
			use_table(t);
		cfi_table_free(t);
	}
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	use_file(bytes, size);
	use_cache(bytes, size);
	return 0;
}
