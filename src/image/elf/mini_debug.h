/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mini_debug: unpacks MiniDebugInfo, the symbols of a stripped file. They are an ELF file, packed
 * with xz, in the section .gnu_debugdata.
 *
 * The unpacked size is limited to a multiple of the packed size and to 256 MB. The memory of the
 * unpacker is limited too. Without liblzma nothing is unpacked. No state. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_MINI_DEBUG_H
#define ASSAY_IMAGE_ELF_MINI_DEBUG_H

#include <stddef.h>
#include <stdint.h>

/* Returns memory from malloc; NULL if the data is damaged or too large. */
uint8_t *mini_debug_unpack(const uint8_t *packed, size_t size, size_t *unpacked);

#endif
