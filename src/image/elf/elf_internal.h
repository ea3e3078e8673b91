/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_internal: private declarations of elf_file.c and elf_symbols.c. Uses: base.
 */
#ifndef ASSAY_IMAGE_ELF_ELF_INTERNAL_H
#define ASSAY_IMAGE_ELF_ELF_INTERNAL_H

#include "image/elf/elf_file.h"

#include <gelf.h>

struct elf_segment {
	uint64_t address, offset, size; /* size in the file */
	uint64_t memory_size;
	bool executable, writable;
};

struct elf_file {
	char *path;
	char *place; /* NULL: as path */
	int fd;      /* -1: from memory */
	const uint8_t *memory;
	struct file_namer named_by; /* who chose `path` */
	struct file_namer namer;    /* who chose the paths in the file */
	uint64_t size;
	Elf *elf;
	GElf_Ehdr header;
	dev_t device;
	ino_t inode;
	uint64_t changed_ns; /* time of its last change, at the first open */
	struct build_id build_id;
	bool has_symtab;
	VEC(struct elf_segment) segments;
	char *debuglink;
	uint32_t debuglink_crc;
	/* Since the file was opened or woken */
	uint64_t bytes_read, symbol_bytes_read;
	VEC(size_t) loaded; /* sections that symbol_bytes_read counts */
	bool names_fit;     /* the names of sections are within the limit */
	bool cut;           /* some data was not read because of the limits above */
	uint64_t left_out;  /* symbols, by the last elf_file_symbols() */
};

/* Opens a resting file again; false if the file changed. */
bool elf_file_wake(struct elf_file *f);

/* Returns a section's header and name; false if the header is not within the file. */
bool elf_section_at(struct elf_file *f, size_t index, GElf_Shdr *header, const char **name);
size_t elf_section_count(struct elf_file *f);
/* The number of program headers; 0 if there are more than a file can have. */
size_t elf_segment_count(struct elf_file *f);
/* All bytes of a section; NULL if it has none or they cannot be read. */
const uint8_t *elf_section_bytes(struct elf_file *f, size_t index, size_t *size);
/* A section's data in libelf's form: symbols, relocations, strings. NULL as above. */
Elf_Data *elf_section_data(struct elf_file *f, size_t index);

#endif
