/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_internal: what elf_file.c and elf_symbols.c share, and nobody else sees.
 * Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_ELF_INTERNAL_H
#define ASSAY_IMAGE_ELF_ELF_INTERNAL_H

#include "image/elf/elf_file.h"

#include <gelf.h>

/*
 * What is read of one open file: sections as bytes, and symbols with their names. A sparse file may
 * say that it has sections of any size. Of the largest files known, the first are 40 MB (Go's
 * table) and the others 300 MB (a browser with its symbols).
 */
#define ELF_BYTES_MAX ((uint64_t)64 << 20)
#define ELF_SYMBOL_BYTES_MAX ((uint64_t)512 << 20)
#define ELF_SECTION_NAMES_MAX ((uint64_t)8 << 20)
#define ELF_SECTIONS_MAX 131072

struct elf_segment {
	uint64_t address, offset, size; /* size in the file */
	bool executable;
};

struct elf_file {
	char *path;
	char *place; /* NULL: as path */
	int fd;      /* -1: from memory */
	const uint8_t *memory;
	uint64_t size;
	Elf *elf;
	GElf_Ehdr header;
	dev_t device;
	ino_t inode;
	uint64_t changed_ns; /* as it was opened first */
	struct build_id build_id;
	bool has_symtab;
	VEC(struct elf_segment) segments;
	char *debuglink;
	uint32_t debuglink_crc;
	/* Since it was opened, or woke */
	uint64_t bytes_read, symbol_bytes_read;
	VEC(size_t) loaded; /* sections that symbol_bytes_read has */
	bool names_fit;     /* the names of sections */
	bool cut;           /* something was not read because of the bounds above */
};

/* Opens a resting file again; false where it is not the same any more. */
bool elf_file_wake(struct elf_file *f);

/* A section's header and name; false for one that does not lie within the file. */
bool elf_section_at(struct elf_file *f, size_t index, GElf_Shdr *header, const char **name);
size_t elf_section_count(struct elf_file *f);
/* Of program headers; 0 where there are more than a file can have. */
size_t elf_segment_count(struct elf_file *f);
/* A section's bytes, whole; NULL where it has none or they cannot be read. */
const uint8_t *elf_section_bytes(struct elf_file *f, size_t index, size_t *size);
/* A section's data as libelf gives it: symbols, relocations, strings. NULL as above. */
Elf_Data *elf_section_data(struct elf_file *f, size_t index);

#endif
