/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_imports: how a program is linked to the libraries that it uses.
 *
 * The result is plain data and owns no memory. A damaged file, or a file that is not ELF, is an
 * error. Any thread. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_ELF_IMPORTS_H
#define ASSAY_IMAGE_ELF_ELF_IMPORTS_H

#include "base/error.h"

#include <stdbool.h>

struct elf_imports {
	bool foreign;   /* its architecture or word size differs from this program's */
	bool is_static; /* has no dynamic linker */
	bool imports;   /* the given symbol is undefined in it */
};

int elf_imports_read(struct elf_imports *e, const char *path, const char *symbol,
                     struct error *err);

#endif
