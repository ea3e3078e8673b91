/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_imports: how a program gets what is not in it.
 *
 * Plain data, read in one go; nothing is held. What is damaged or no ELF file is
 * an error. Any thread. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_ELF_IMPORTS_H
#define ASSAY_IMAGE_ELF_ELF_IMPORTS_H

#include "base/error.h"

#include <stdbool.h>

struct elf_imports {
	bool foreign;   /* of another architecture or word size than ours */
	bool is_static; /* no dynamic linker takes part */
	bool imports;   /* the symbol asked for is wanted, and not in it */
};

int elf_imports_read(struct elf_imports *e, const char *path, const char *symbol,
                     struct error *err);

#endif
