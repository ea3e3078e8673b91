/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolizer_internal: what symbolizer.c and code.c share. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_SYMBOLIZER_INTERNAL_H
#define ASSAY_SYMBOL_SYMBOLIZER_INTERNAL_H

#include "symbol/kernel_names.h"
#include "symbol/line.h"
#include "symbol/symbolizer.h"

struct symbol_image {
	struct elf_file *file, *debug; /* NULL: none */
	struct elf_file *module;       /* a kernel module's .ko, once its code was asked for */
	struct symbol_table own;
	const struct symbol_table *table; /* own or the kernel's; NULL: no names */
	uint64_t delta;                   /* address in table = address + delta */
	/*
	 * One symbol for each entry [2 * i + 1], and for each gap [2 * i], before
	 * entry i; NULL until asked for.
	 */
	struct symbol **symbols;
	struct symbol *unnamed;
	struct line_reader *lines;
	bool lines_sought;
	char *trouble;
};

struct found_frame {
	struct frame frame;
	const struct symbol *symbol;
};

struct symbolizer {
	struct image_table *images;
	struct symbol_options options;
	struct kernel_names kernel;
	bool kernel_loaded;
	VEC(struct symbol_image *) loaded; /* by image id; NULL: not asked for yet */
	VEC(struct symbol *) all;
	VEC(struct found_frame) found;
	struct id_table found_index;
	VEC(uint8_t *) code;
};

struct symbol_image *symbolizer_image(struct symbolizer *s, uint32_t image);
struct kernel_names *symbolizer_kernel(struct symbolizer *s);

#endif
