/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debug_unpack.h"

#include "image/elf/packed_section.h"

#include <gelf.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 16

struct debug_unpacking {
	Elf *elf;
	bool wide;
	GElf_Ehdr header;
	uint8_t *copy;
	size_t file_size; /* the copy begins with the file */
	size_t at;        /* end of the data in the copy */
};

static size_t padded(uint64_t size)
{
	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t unpacked_size(const struct debug_unpacking *u)
{
	Elf_Scn *section = NULL;
	GElf_Chdr packed;
	size_t size = 0;
	GElf_Shdr s;

	while ((section = elf_nextscn(u->elf, section)))
		if (gelf_getshdr(section, &s) && (s.sh_flags & SHF_COMPRESSED) &&
		    gelf_getchdr(section, &packed) && packed.ch_type == PACKED_SECTION_ZSTD)
			size += padded(packed.ch_size);
	return size;
}

/* The packed bytes of a section that is compressed by zstd; NULL: it is not. */
static const uint8_t *packed_by_zstd(const struct debug_unpacking *u, const GElf_Shdr *s,
                                     struct packed_section *p)
{
	if (!(s->sh_flags & SHF_COMPRESSED) || s->sh_type == SHT_NOBITS ||
	    s->sh_offset > u->file_size || s->sh_size > u->file_size - s->sh_offset ||
	    !packed_section_read(p, u->copy + s->sh_offset, s->sh_size, u->wide) || !p->zstd)
		return NULL;
	return u->copy + s->sh_offset;
}

/* Updates the section's header in the copy with its new place. */
static void place_section(struct debug_unpacking *u, size_t number, const struct packed_section *p)
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

static void unpack_sections(struct debug_unpacking *u, size_t room)
{
	struct packed_section p;
	Elf_Scn *section = NULL;
	const uint8_t *packed;
	GElf_Shdr s;

	while ((section = elf_nextscn(u->elf, section))) {
		packed = gelf_getshdr(section, &s) ? packed_by_zstd(u, &s, &p) : NULL;
		/* The file may have changed since the sizes were summed. */
		if (!packed || u->at > room || p.size > room - u->at ||
		    !packed_section_unpack(&p, packed, s.sh_size, u->copy + u->at))
			continue;
		place_section(u, elf_ndxscn(section), &p);
		u->at += padded(p.size);
	}
}

static bool headers_fit(const struct debug_unpacking *u)
{
	size_t header = u->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), sections;

	return !elf_getshdrnum(u->elf, &sections) && u->header.e_shentsize == header &&
	       u->header.e_shoff <= u->file_size &&
	       sections <= (u->file_size - u->header.e_shoff) / header;
}

static bool read_file(const struct debug_unpacking *u, struct elf_file *f)
{
	size_t got = 0, part = 1;

	for (; got < u->file_size && part; got += part)
		part = elf_file_read_at(f, got, u->copy + got, u->file_size - got);
	return got == u->file_size;
}

void *debug_unpack_zstd(struct elf_file *f, Elf *elf, size_t *size)
{
	struct debug_unpacking u = {.elf = elf, .wide = gelf_getclass(elf) == ELFCLASS64};
	size_t unpacked = unpacked_size(&u);
	void *copy;

	u.file_size = elf_file_size(f);
	if (!unpacked || !gelf_getehdr(elf, &u.header) || !headers_fit(&u))
		return NULL;
	u.at = padded(u.file_size);
	*size = u.at + unpacked;
	copy = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return NULL;
	u.copy = copy;
	if (!read_file(&u, f)) {
		munmap(copy, *size);
		return NULL;
	}
	unpack_sections(&u, *size);
	return copy;
}
