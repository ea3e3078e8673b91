/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packed_section: the contents of a compressed ELF section (SHF_COMPRESSED), of zlib and of zstd;
 * libelf of some distributions has no zstd. Any thread. Uses: nothing.
 */
#ifndef ASSAY_IMAGE_ELF_PACKED_SECTION_H
#define ASSAY_IMAGE_ELF_PACKED_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ch_type; not in every elf.h */
#define PACKED_SECTION_ZSTD 2

struct packed_section {
	bool zstd;          /* else zlib */
	size_t header;      /* bytes before the packed ones */
	uint64_t size;      /* unpacked, as the file claims it: to be bounded by the caller */
	uint64_t alignment; /* unpacked */
};

/* `wide`: of a 64-bit file. False: no header, or another way of packing. */
bool packed_section_read(struct packed_section *p, const void *bytes, size_t size, bool wide);

/* Unpacks `bytes`, with its header, into `out` of p->size bytes; false: damaged. */
bool packed_section_unpack(const struct packed_section *p, const void *bytes, size_t size,
                           void *out);

#endif
