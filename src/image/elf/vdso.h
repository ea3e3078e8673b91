/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vdso: the code that the running kernel gives every process, as we have it.
 *
 * The file's offsets are those in the vdso. Whoever opens it closes it; any
 * thread. Uses: base, image.
 */
#ifndef ASSAY_IMAGE_ELF_VDSO_H
#define ASSAY_IMAGE_ELF_VDSO_H

#include "image/elf/elf_file.h"

/* On failure err says that there is none, or that it cannot be read. */
int vdso_open(struct elf_file **f, struct error *err);

#endif
