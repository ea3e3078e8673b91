/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_strings: the names of a string table, all of them or only a few.
 *
 * The names of a large C++ library have 13 MB. For a few of them the table is not loaded: pieces of
 * it are read at the names. One thread. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_ELF_STRINGS_H
#define ASSAY_IMAGE_ELF_ELF_STRINGS_H

#include "base/piece.h"
#include "image/elf/elf_internal.h"

#define ELF_STRINGS_PIECE PIECE_OF(8192)

/* Real C++ names may have several KB; a longer name indicates a hostile file. */
#define ELF_NAME_MAX 65536

struct elf_strings {
	struct elf_file *file;
	size_t section;
	bool few;
	uint64_t offset, size; /* of the table in the file */
	uint64_t piece_at;     /* offset of the piece in the table */
	size_t piece_size;     /* 0: none was read */
	struct buf piece;      /* and a NUL after it */
};

/* False: there is no such table. Then elf_strings_done(). */
bool elf_strings_open(struct elf_strings *s, struct elf_file *f, size_t section, bool few);
/*
 * The name at an offset, at most ELF_NAME_MAX bytes of it; NULL: it is not within the table. With
 * `few` it is valid until the next call.
 */
const char *elf_strings_at(struct elf_strings *s, uint64_t offset);
void elf_strings_done(struct elf_strings *s);

#endif
