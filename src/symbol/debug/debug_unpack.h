/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_unpack: makes a file with debug sections compressed by zstd readable for libdw, which may
 * not support zstd. The caller has checked the sizes of the unpacked sections. Private to symbol/.
 * Uses: image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUG_UNPACK_H
#define ASSAY_SYMBOL_DEBUG_DEBUG_UNPACK_H

#include "image/elf/elf_file.h"

#include <libelf.h>

/*
 * `elf` is a handle of the file. Returns a copy of the file, followed by the unpacked sections; the
 * caller unmaps it. NULL: no section is compressed by zstd. A damaged section stays packed.
 */
void *debug_unpack_zstd(struct elf_file *f, Elf *elf, size_t *size);

#endif
