/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vdso: the code that the kernel maps into each process, read from this process's own mapping.
 *
 * File offsets are offsets in the vdso. The caller closes the file. Any thread. Uses: base, image.
 */
#ifndef ASSAY_IMAGE_ELF_VDSO_H
#define ASSAY_IMAGE_ELF_VDSO_H

#include "image/elf/elf_file.h"

/* On failure err says that there is no vdso, or that it cannot be read. */
int vdso_open(struct elf_file **f, struct error *err);

#endif
