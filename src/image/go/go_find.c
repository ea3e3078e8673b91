/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the Go table of a file, and the address to which the function starts in the table are
 * relative.
 */
#include "base/piece.h"
#include "image/elf/elf_internal.h"
#include "image/go/go_table.h"

#include <stdlib.h>
#include <string.h>

/* The linker aligns the table, so other bytes rarely look like a table. */
#define TABLE_ALIGNMENT 32
#define CANDIDATES_MAX 64
#define CHUNK (TABLE_ALIGNMENT * PIECE_OF(2048))

static bool read_whole(struct elf_file *f, uint64_t offset, uint8_t *into, uint64_t size)
{
	uint64_t got = 0;
	size_t part;

	while (got < size &&
	       (part = elf_file_read_at(f, offset + got, into + got, (size_t)(size - got))))
		got += part;
	return got == size;
}

static bool take_table(struct go_table *t, struct elf_file *f, uint64_t offset, uint64_t size)
{
	uint8_t *bytes = size && size <= f->size ? malloc(size) : NULL;

	if (bytes && read_whole(f, offset, bytes, size) && go_table_parse(t, bytes, size)) {
		t->memory = bytes;
		return true;
	}
	free(bytes);
	return false;
}

/* ".gopclntab", or ".data.rel.ro.gopclntab" if the linker made it relocatable. */
static bool is_table(const char *name)
{
	size_t length = strlen(name);

	return length >= 10 && !strcmp(name + length - 10, ".gopclntab");
}

static bool find_section(struct go_table *t, struct elf_file *f, uint64_t *address)
{
	size_t count = elf_section_count(f);
	const char *name;
	GElf_Shdr h;

	for (size_t i = 1; i < count; i++) {
		if (!elf_section_at(f, i, &h, &name) || !is_table(name))
			continue;
		*address = h.sh_addr;
		return h.sh_type != SHT_NOBITS && !(h.sh_flags & SHF_COMPRESSED) &&
		       take_table(t, f, h.sh_offset, h.sh_size);
	}
	return false;
}

static bool looks_like_table(const uint8_t *bytes)
{
	uint32_t magic;

	memcpy(&magic, bytes, sizeof(magic));
	return (magic == 0xfffffffb || magic == 0xfffffffa || magic == 0xfffffff0 ||
	        magic == 0xfffffff1) &&
	       !bytes[4] && !bytes[5] && bytes[7] == 8;
}

static bool find_in_segment(struct go_table *t, struct elf_file *f, const struct elf_segment *s,
                            unsigned *candidates, uint64_t *address)
{
	uint64_t into = -s->address & (TABLE_ALIGNMENT - 1);
	uint8_t chunk[CHUNK];
	size_t got;

	for (; into < s->size; into += CHUNK) {
		got = elf_file_read_at(f, s->offset + into, chunk, sizeof(chunk));
		if (got > s->size - into)
			got = (size_t)(s->size - into);
		for (size_t at = 0; at + TABLE_ALIGNMENT <= got; at += TABLE_ALIGNMENT) {
			if (!looks_like_table(chunk + at))
				continue;
			if (++*candidates > CANDIDATES_MAX)
				return false;
			*address = s->address + into + at;
			if (take_table(t, f, s->offset + into + at, s->size - into - at))
				return true;
		}
	}
	return false;
}

static bool find_by_magic(struct go_table *t, struct elf_file *f, uint64_t *address)
{
	unsigned candidates = 0;

	vec_each (s, &f->segments)
		if (find_in_segment(t, f, s, &candidates, address))
			return true;
	return false;
}

/* Linkers other than Go's put the table among other data, but keep Go's notes. */
static bool may_hide_table(struct elf_file *f)
{
	size_t count = elf_section_count(f);
	const char *name;
	GElf_Shdr h;

	for (size_t i = 1; i < count; i++)
		if (elf_section_at(f, i, &h, &name) &&
		    (!strcmp(name, ".note.go.buildid") || !strcmp(name, ".go.buildinfo")))
			return true;
	return count <= 1;
}

static bool is_code(const struct elf_file *f, uint64_t address)
{
	vec_each (s, &f->segments)
		if (s->executable && address >= s->address && address - s->address < s->size)
			return true;
	return false;
}

/* The value that the loader stores at an address of a position-independent program. */
static bool relocated(struct elf_file *f, uint64_t place, uint64_t *value)
{
	size_t count = elf_section_count(f), size;
	const uint8_t *bytes;
	Elf64_Rela rela;
	GElf_Shdr h;

	for (size_t i = 1; i < count; i++) {
		if (!elf_section_at(f, i, &h, NULL) || h.sh_type != SHT_RELA ||
		    !(bytes = elf_section_bytes(f, i, &size)))
			continue;
		for (size_t at = 0; at + sizeof(rela) <= size; at += sizeof(rela)) {
			memcpy(&rela, bytes + at, sizeof(rela));
			if (rela.r_offset != place)
				continue;
			*value = (uint64_t)rela.r_addend;
			return true;
		}
	}
	return false;
}

/* Go's linker makes this function the entry point. */
static bool text_by_entry(const struct go_table *t, const struct elf_file *f, uint64_t *text)
{
	struct go_function function;

	for (size_t i = 0; i < t->count; i++) {
		if (!go_table_function(t, i, &function) ||
		    strncmp(function.name, "_rt0_", 5) != 0 ||
		    f->header.e_entry < function.start - t->text)
			continue;
		*text = f->header.e_entry - (function.start - t->text);
		if (is_code(f, *text))
			return true;
	}
	return false;
}

/*
 * For tables from 1.18 on. The file contains 0 if the loader sets the value, and always from 1.26
 * on.
 */
static bool find_text(struct go_table *t, struct elf_file *f, uint64_t address)
{
	uint64_t text, size;

	if (is_code(f, t->text))
		return true;
	t->text = 0;
	if ((relocated(f, address + 24, &text) && is_code(f, text)) || text_by_entry(t, f, &text) ||
	    (elf_file_symbol(f, "runtime.text", &text, &size) && is_code(f, text)))
		t->text = text;
	return t->text != 0;
}

bool go_table_open(struct go_table *t, struct elf_file *f)
{
	uint64_t address;

	*t = (struct go_table){0};
	if (!elf_file_wake(f) || f->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf_file_is_relocatable(f))
		return false;
	if (!find_section(t, f, &address) && !(may_hide_table(f) && find_by_magic(t, f, &address)))
		return false;
	if (!t->relative || find_text(t, f, address))
		return true;
	go_table_done(t);
	return false;
}
