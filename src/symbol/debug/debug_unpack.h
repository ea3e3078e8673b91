/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_unpack: a file with debug sections packed by zstd, which libdw may not know, as one that
 * libdw reads. The sizes of the unpacked sections were checked before. Private to symbol/. Uses:
 * image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_UNPACK_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_UNPACK_H

#include "image/elf/elf_file.h"

#include <libelf.h>

/*
 * `elf` is a handle of the file. A copy of the file with those sections unpacked behind it, to be
 * unmapped; NULL: there are none. A damaged section stays packed.
 */
void *debug_unpack_zstd(struct elf_file *f, Elf *elf, size_t *size);

#endif
