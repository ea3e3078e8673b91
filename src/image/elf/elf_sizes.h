/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_sizes: the sizes of a program in memory, as `size` prints them.
 *
 * Plain data. Not thread-safe. Uses: base, image.
 */
#ifndef ASSAY_IMAGE_ELF_ELF_SIZES_H
#define ASSAY_IMAGE_ELF_ELF_SIZES_H

#include "base/error.h"

#include <stdint.h>

struct elf_sizes {
	uint64_t text; /* bytes of code and of constants */
	uint64_t data; /* of variables with initial values */
	uint64_t bss;  /* of other variables */
};

/* -EINVAL: not an ELF file with sections. The error names the file. */
int elf_sizes_read(struct elf_sizes *sizes, const char *path, struct error *err);

#endif
