/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debug_bounds.h"

#include "base/limit.h"
#include "base/read/regular_file.h"
#include "image/unwind_table/cfi_cursor.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- sections ------------------------------------------------------------ */

/* The unpacked size of a packed section; 0: it is not packed. */
static uint64_t unpacked_bytes(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	uint64_t bytes = 0;
	Elf_Data *data;
	GElf_Chdr packed;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
	if (!name || strncmp(name, ".zdebug", 7) != 0)
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size < 12)
		return 0;
	for (int i = 4; i < 12; i++)
		bytes = bytes << 8 | ((const uint8_t *)data->d_buf)[i];
	return bytes;
}

bool debug_bounds_unpacked(Elf *elf, uint64_t file_bytes)
{
	uint64_t left = LIMIT_DEBUG_RATIO_FROM + LIMIT_DEBUG_RATIO * file_bytes, bytes;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		bytes = unpacked_bytes(section, &header, elf_strptr(elf, strings, header.sh_name));
		if (bytes > left)
			return false;
		left -= bytes;
	}
	return true;
}

static const uint8_t nothing[1];

struct debug_section debug_section_of(Dwarf *dwarf, const char *name, bool dwo)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *found;
	char wanted[32];
	size_t strings;
	Elf_Data *data;

	snprintf(wanted, sizeof(wanted), "debug_%s%s", name, dwo ? ".dwo" : "");
	if (!elf || elf_getshdrstrndx(elf, &strings))
		return (struct debug_section){nothing, 0};
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, strings, header.sh_name);
		if (!found || found[0] != '.' || strcmp(found + (found[1] == 'z' ? 2 : 1), wanted))
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf)
			return (struct debug_section){data->d_buf, data->d_size};
		break;
	}
	return (struct debug_section){nothing, 0};
}

/* ---- units --------------------------------------------------------------- */

/*
 * The abbreviations of a unit, from their offset in the section to the code 0. *all: of all units
 * so far, since units may begin anywhere in one long list.
 */
static bool abbreviations_are_few(const struct debug_section *s, uint64_t offset, uint64_t *all)
{
	struct cfi_cursor c = {s->bytes + offset, s->bytes + s->size, false};
	uint64_t name, form;

	for (size_t count = 0; cfi_cursor_uleb(&c) && !c.bad; count++) {
		if (count >= LIMIT_DEBUG_ABBREVIATIONS || ++*all > LIMIT_DEBUG_ALL_ABBREVIATIONS)
			return false;
		cfi_cursor_uleb(&c);    /* tag */
		cfi_cursor_uint(&c, 1); /* children */
		do {
			name = cfi_cursor_uleb(&c);
			form = cfi_cursor_uleb(&c);
			if (form == DW_FORM_implicit_const)
				cfi_cursor_sleb(&c);
		} while ((name || form) && !c.bad);
	}
	return true;
}

/* The offset of the abbreviations of the next unit; false: there is none. */
static bool next_unit(struct cfi_cursor *c, uint64_t *abbreviations)
{
	uint64_t size = cfi_cursor_uint(c, 4), version;
	unsigned offset_size = size == UINT32_MAX ? 8 : 4;
	struct cfi_cursor unit;

	if (offset_size == 8)
		size = cfi_cursor_uint(c, 8);
	unit = cfi_cursor_part(c, size);
	version = cfi_cursor_uint(&unit, 2);
	if (version >= 5)
		cfi_cursor_part(&unit, 2); /* kind, and size of addresses */
	*abbreviations = cfi_cursor_uint(&unit, offset_size);
	return !unit.bad;
}

bool debug_bounds_units(Dwarf *dwarf, bool dwo)
{
	struct debug_section info = debug_section_of(dwarf, "info", dwo);
	struct debug_section abbreviations = debug_section_of(dwarf, "abbrev", dwo);
	struct cfi_cursor c = {info.bytes, info.bytes + info.size, false};
	uint64_t offset, last = UINT64_MAX, all = 0;
	size_t count = 0;

	while (c.at < c.end && next_unit(&c, &offset)) {
		if (++count > LIMIT_DEBUG_UNITS)
			return false;
		if (offset != last && offset < abbreviations.size &&
		    !abbreviations_are_few(&abbreviations, offset, &all))
			return false;
		last = offset;
	}
	return true;
}

bool debug_bounds_file(int fd, bool dwo)
{
	struct stat st;
	Elf *elf = fstat(fd, &st) ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	bool good = !elf || debug_bounds_unpacked(elf, (uint64_t)st.st_size);
	Dwarf *dwarf = elf && good ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;

	good = good && (!dwarf || debug_bounds_units(dwarf, dwo));
	dwarf_end(dwarf);
	elf_end(elf);
	return good;
}

uint64_t debug_bounds_memory(void)
{
	unsigned long resident = 0, shared = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%*u %lu %lu", &resident, &shared) != 2)
		resident = shared = 0;
	fclose(file);
	return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}
