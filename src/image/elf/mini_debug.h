/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mini_debug: MiniDebugInfo, the symbols of a stripped file, which it carries as
 * an ELF file packed with xz in its section .gnu_debugdata.
 *
 * What comes out is bounded by a multiple of what goes in, and by 256 MB; the
 * unpacker's own memory too. Built without liblzma nothing is ever unpacked.
 * No state. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_MINI_DEBUG_H
#define ASSAY_IMAGE_ELF_MINI_DEBUG_H

#include <stddef.h>
#include <stdint.h>

/* malloc'd; NULL where it is damaged or too large. */
uint8_t *mini_debug_unpack(const uint8_t *packed, size_t size, size_t *unpacked);

#endif
