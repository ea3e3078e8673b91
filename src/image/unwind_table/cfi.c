/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ROWS_A_BUCKET 2

void cfi_table_index(struct cfi_table *t)
{
	uint32_t span, row = 0;

	if (!t->row_count)
		return;
	span = t->offsets[t->row_count - 1] - t->offsets[0];
	while (span >> t->bucket_shift > t->row_count / ROWS_A_BUCKET)
		t->bucket_shift++;
	t->bucket_count = (size_t)(span >> t->bucket_shift) + 1;
	t->buckets = xrealloc(NULL, t->bucket_count + 1, sizeof(*t->buckets));
	for (size_t i = 0; i < t->bucket_count; i++) {
		uint64_t start = t->offsets[0] + ((uint64_t)i << t->bucket_shift);

		while (row + 1 < t->row_count && t->offsets[row + 1] <= start)
			row++;
		t->buckets[i] = row;
	}
	t->buckets[t->bucket_count] = (uint32_t)(t->row_count - 1);
}

const struct cfi_rule *cfi_table_find(const struct cfi_table *t, uint64_t offset)
{
	const uint32_t *row;
	size_t bucket, count;
	uint16_t rule;

	if (!t->row_count || offset < t->offsets[0] || offset > t->offsets[t->row_count - 1])
		return NULL;
	bucket = (offset - t->offsets[0]) >> t->bucket_shift;
	row = &t->offsets[t->buckets[bucket]];
	/* Offsets and rules are most likely not in a CPU cache, so both lines are read at the same
	 * time. */
	__builtin_prefetch(&t->rules[t->buckets[bucket]]);
	count = t->buckets[bucket + 1] - t->buckets[bucket] + 1;
	/* The last row that begins at or before the offset, found without branches that the CPU
	 * cannot predict. */
	while (count > 1) {
		size_t half = count / 2;

		row = row[half] <= offset ? row + half : row;
		count -= half;
	}
	rule = t->rules[row - t->offsets];
	return rule == CFI_NO_RULE ? NULL : &t->rule[rule];
}

size_t cfi_table_bytes(const struct cfi_table *t)
{
	return sizeof(*t) + t->row_count * (sizeof(*t->offsets) + sizeof(*t->rules)) +
	       t->rule_count * sizeof(*t->rule) + t->save_count * sizeof(*t->saves) +
	       t->op_count * sizeof(*t->ops) + t->expression_count * sizeof(*t->expressions) +
	       t->bucket_count * sizeof(*t->buckets);
}

void cfi_table_free(struct cfi_table *t)
{
	if (!t)
		return;
	if (t->release)
		t->release(t->memory, t->mapped);
	else if (t->mapped)
		munmap(t->memory, t->mapped);
	else
		free(t->memory);
	free(t->buckets);
	free(t);
}

static int table_of(struct cfi_table **t, struct cfi_header *image, struct elf_file *f,
                    struct error *err)
{
	*t = cfi_image_table(image, image->size, elf_file_machine(f), elf_file_build_id(f));
	if (!*t) {
		free(image);
		return error_set(err, EILSEQ, "%s: its unwind table is not sound",
		                 elf_file_path(f));
	}
	(*t)->memory = image;
	return 0;
}

const void *cfi_table_image(const struct cfi_table *t, size_t *size)
{
	const struct cfi_header *image = t->memory;

	*size = image->size;
	return image;
}

struct cfi_table *cfi_table_from_bytes(void *bytes, size_t size,
                                       void (*release)(void *bytes, size_t size))
{
	struct cfi_table *t = cfi_image_layout(bytes);

	t->memory = bytes;
	t->mapped = size;
	t->release = release;
	cfi_table_index(t);
	return t;
}

int cfi_table_make(struct cfi_table **t, struct elf_file *f, struct cfi_digest *digest,
                   struct error *err)
{
	struct cfi_header *image;
	int r = cfi_compile_image(&image, f, digest, err);

	*t = NULL;
	return r ? r : table_of(t, image, f, err);
}

int cfi_table_compile(struct cfi_table **t, struct elf_file *f, struct error *err)
{
	struct cfi_digest digest;

	return cfi_table_make(t, f, &digest, err);
}
