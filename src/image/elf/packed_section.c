/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/packed_section.h"

#include <elf.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

bool packed_section_read(struct packed_section *p, const void *bytes, size_t size, bool wide)
{
	Elf32_Chdr h32 = {0};
	Elf64_Chdr h64 = {0};

	*p = (struct packed_section){.header = wide ? sizeof(h64) : sizeof(h32)};
	if (size < p->header)
		return false;
	memcpy(&h32, bytes, sizeof(h32));
	memcpy(&h64, bytes, p->header);
	p->zstd = h32.ch_type == PACKED_SECTION_ZSTD;
	p->size = wide ? h64.ch_size : h32.ch_size;
	p->alignment = wide ? h64.ch_addralign : h32.ch_addralign;
	return p->zstd || h32.ch_type == ELFCOMPRESS_ZLIB;
}

bool packed_section_unpack(const struct packed_section *p, const void *bytes, size_t size,
                           void *out)
{
	const uint8_t *packed = (const uint8_t *)bytes + p->header;
	uLongf got = p->size;

	if (p->zstd)
		return ZSTD_decompress(out, p->size, packed, size - p->header) == p->size;
	return uncompress(out, &got, packed, size - p->header) == Z_OK && got == p->size;
}
