/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_internal: what elf_file.c and elf_symbols.c share, and nobody else sees.
 * Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_INTERNAL_H
#define ASSAY_IMAGE_ELF_INTERNAL_H

#include "image/elf_file.h"

#include <gelf.h>

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
	struct build_id build_id;
	bool has_symtab;
	VEC(struct elf_segment) segments;
	char *debuglink;
	uint32_t debuglink_crc;
};

/* Opens a resting file again; false where it is not the same any more. */
bool elf_file_wake(struct elf_file *f);

/* A section's header and name; false for one that does not lie within the file. */
bool elf_section_at(struct elf_file *f, size_t index, GElf_Shdr *header, const char **name);
size_t elf_section_count(struct elf_file *f);
/* A section's bytes, whole; NULL where it has none or they cannot be read. */
const uint8_t *elf_section_bytes(struct elf_file *f, size_t index, size_t *size);

#endif
