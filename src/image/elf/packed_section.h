/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packed_section: the contents of a compressed ELF section (SHF_COMPRESSED, zlib or zstd). libelf
 * of some distributions does not support zstd. Any thread. Uses: nothing.
 */
#ifndef ASSAY_IMAGE_ELF_PACKED_SECTION_H
#define ASSAY_IMAGE_ELF_PACKED_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ch_type; some versions of elf.h lack it */
#define PACKED_SECTION_ZSTD 2

struct packed_section {
	bool zstd;          /* false: zlib */
	size_t header;      /* bytes before the packed data */
	uint64_t size;      /* unpacked, as declared by the file; the caller limits it */
	uint64_t alignment; /* unpacked */
};

/* `wide`: a 64-bit file. False: no header, or an unknown compression. */
bool packed_section_read(struct packed_section *p, const void *bytes, size_t size, bool wide);

/* Unpacks `bytes`, with its header, into `out` of p->size bytes; false: damaged. */
bool packed_section_unpack(const struct packed_section *p, const void *bytes, size_t size,
                           void *out);

#endif
