/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug_unpack.h"

#include "image/packed_section.h"

#include <gelf.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 16

struct unpacking {
	Elf *elf;
	bool wide;
	GElf_Ehdr header;
	const uint8_t *file;
	size_t file_size;
	uint8_t *copy;
	size_t at; /* end of what the copy holds */
};

/* The packed bytes of a section that zstd packed; NULL: it is another one. */
static const uint8_t *packed_by_zstd(const struct unpacking *u, const GElf_Shdr *s,
                                     struct packed_section *p)
{
	if (!(s->sh_flags & SHF_COMPRESSED) || s->sh_type == SHT_NOBITS ||
	    s->sh_offset > u->file_size || s->sh_size > u->file_size - s->sh_offset ||
	    !packed_section_read(p, u->file + s->sh_offset, s->sh_size, u->wide) || !p->zstd)
		return NULL;
	return u->file + s->sh_offset;
}

static size_t padded(uint64_t size)
{
	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t unpacked_size(const struct unpacking *u)
{
	struct packed_section p;
	Elf_Scn *section = NULL;
	size_t size = 0;
	GElf_Shdr s;

	while ((section = elf_nextscn(u->elf, section)))
		if (gelf_getshdr(section, &s) && packed_by_zstd(u, &s, &p))
			size += padded(p.size);
	return size;
}

/* The section's header in the copy says where it lies now. */
static void place_section(struct unpacking *u, size_t number, const struct packed_section *p)
{
	uint8_t *place = u->copy + u->header.e_shoff + number * u->header.e_shentsize;
	Elf64_Shdr wide;
	Elf32_Shdr narrow;

	if (u->wide) {
		memcpy(&wide, place, sizeof(wide));
		wide.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
		wide.sh_offset = u->at;
		wide.sh_size = p->size;
		wide.sh_addralign = p->alignment;
		memcpy(place, &wide, sizeof(wide));
	} else {
		memcpy(&narrow, place, sizeof(narrow));
		narrow.sh_flags &= ~(uint32_t)SHF_COMPRESSED;
		narrow.sh_offset = (uint32_t)u->at;
		narrow.sh_size = (uint32_t)p->size;
		narrow.sh_addralign = (uint32_t)p->alignment;
		memcpy(place, &narrow, sizeof(narrow));
	}
}

static void unpack_sections(struct unpacking *u)
{
	struct packed_section p;
	Elf_Scn *section = NULL;
	const uint8_t *packed;
	GElf_Shdr s;

	while ((section = elf_nextscn(u->elf, section))) {
		packed = gelf_getshdr(section, &s) ? packed_by_zstd(u, &s, &p) : NULL;
		if (!packed || !packed_section_unpack(&p, packed, s.sh_size, u->copy + u->at))
			continue;
		place_section(u, elf_ndxscn(section), &p);
		u->at += padded(p.size);
	}
}

void *debug_unpack_zstd(Elf *elf, size_t *size)
{
	struct unpacking u = {.elf = elf, .wide = gelf_getclass(elf) == ELFCLASS64};
	size_t sections, unpacked;
	void *copy;

	u.file = (const uint8_t *)elf_rawfile(elf, &u.file_size);
	if (!u.file || !gelf_getehdr(elf, &u.header) || elf_getshdrnum(elf, &sections))
		return NULL;
	unpacked = unpacked_size(&u);
	if (!unpacked || u.header.e_shoff > u.file_size ||
	    sections > (u.file_size - u.header.e_shoff) /
	                       (u.wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
	    u.header.e_shentsize != (u.wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return NULL;
	u.at = padded(u.file_size);
	*size = u.at + unpacked;
	copy = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return NULL;
	u.copy = copy;
	memcpy(u.copy, u.file, u.file_size);
	unpack_sections(&u);
	return copy;
}
