/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sizes_document: what instrumenting a program costs in code and memory, against the same program
 * without it.
 *
 * Plain data of the caller. Nothing fails. Uses: base, image, view.
 */
#ifndef ASSAY_VIEW_METHODS_SIZES_DOCUMENT_H
#define ASSAY_VIEW_METHODS_SIZES_DOCUMENT_H

#include "image/elf/elf_sizes.h"
#include "view/document/document.h"

struct program_sizes {
	struct elf_sizes with, without;
};

/* Adds a table with the key "sizes". NULL: none. */
void sizes_document_add(struct document *d, const struct program_sizes *sizes);

#endif
