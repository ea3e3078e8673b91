/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/elf_strings.h"

#include <string.h>

bool elf_strings_open(struct elf_strings *s, struct elf_file *f, size_t section, bool few)
{
	GElf_Shdr header;

	*s = (struct elf_strings){.file = f, .section = section};
	if (!elf_section_at(f, section, &header, NULL) || header.sh_type == SHT_NOBITS)
		return false;
	s->few = few && header.sh_type == SHT_STRTAB && !(header.sh_flags & SHF_COMPRESSED);
	s->offset = header.sh_offset;
	s->size = header.sh_size;
	return s->few || elf_section_data(f, section) != NULL;
}

static void read_piece(struct elf_strings *s, uint64_t offset, size_t most)
{
	size_t size = s->size - offset < most ? (size_t)(s->size - offset) : most;

	buf_clear(&s->piece);
	buf_pad(&s->piece, '\0', size);
	s->piece_at = offset;
	s->piece_size = elf_file_read_at(s->file, s->offset + offset, s->piece.data, size);
	s->piece.data[s->piece_size] = '\0';
}

/* The end of a name within the piece, if it is there. */
static bool has_end(const struct elf_strings *s, uint64_t offset)
{
	return offset >= s->piece_at && offset - s->piece_at < s->piece_size &&
	       memchr(s->piece.data + (offset - s->piece_at), '\0',
	              s->piece_size - (size_t)(offset - s->piece_at));
}

const char *elf_strings_at(struct elf_strings *s, uint64_t offset)
{
	if (!s->few)
		return elf_strptr(s->file->elf, s->section, offset);
	if (offset >= s->size)
		return NULL;
	if (!has_end(s, offset))
		read_piece(s, offset, ELF_STRINGS_PIECE);
	if (!has_end(s, offset))
		read_piece(s, offset, ELF_NAME_MAX);
	/* A name without an end is cut by the NUL after the piece, unless the table ends there. */
	if (!has_end(s, offset) && s->piece_size < ELF_NAME_MAX)
		return NULL;
	return s->piece.data + (offset - s->piece_at);
}

void elf_strings_done(struct elf_strings *s)
{
	buf_done(&s->piece);
}
