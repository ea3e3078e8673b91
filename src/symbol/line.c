/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/line.h"

#include "base/intern.h"

#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

/* Compilers may leave .debug_aranges away: the units' own ranges are asked. */
struct unit_range {
	uint64_t start, end;
	Dwarf_Off unit; /* offset of the unit's entry */
};

struct line_reader {
	Dwarf *dwarf;
	VEC(struct unit_range) ranges; /* sorted by start */
	struct intern files;
};

/* The largest number of ranges that is kept; a kernel has some ten thousand. */
#define RANGES_MAX (4u << 20)

static void add_unit(struct line_reader *r, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(unit, next, &base, &start, &end)) > 0) {
		if (r->ranges.count >= RANGES_MAX)
			return;
		if (start < end)
			vec_push(&r->ranges,
			         (struct unit_range){start, end, dwarf_dieoffset(unit)});
	}
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct unit_range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void read_units(struct line_reader *r)
{
	Dwarf_Off at = 0, next;
	size_t header;
	Dwarf_Die unit;

	while (!dwarf_next_unit(r->dwarf, at, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL)) {
		if (dwarf_offdie(r->dwarf, at + header, &unit))
			add_unit(r, &unit);
		if (next <= at)
			break;
		at = next;
	}
	if (r->ranges.count)
		qsort(r->ranges.items, r->ranges.count, sizeof(*r->ranges.items), compare_ranges);
}

struct line_reader *line_reader_new(struct elf_file *f)
{
	struct line_reader *r;
	struct Elf *elf = elf_file_is_relocatable(f) ? NULL : elf_file_handle(f);
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;

	if (!dwarf)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	r->dwarf = dwarf;
	intern_init(&r->files);
	read_units(r);
	if (!r->ranges.count) {
		line_reader_free(r);
		return NULL;
	}
	return r;
}

void line_reader_free(struct line_reader *r)
{
	if (!r)
		return;
	vec_done(&r->ranges);
	intern_done(&r->files);
	dwarf_end(r->dwarf);
	free(r);
}

static const struct unit_range *range_of(const struct line_reader *r, uint64_t address)
{
	size_t low = 0, high = r->ranges.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->ranges.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= r->ranges.items[low - 1].end)
		return NULL;
	return &r->ranges.items[low - 1];
}

bool line_reader_find(struct line_reader *r, uint64_t address, const char **file, int *line)
{
	const struct unit_range *range = range_of(r, address);
	Dwarf_Line *found;
	const char *name;
	Dwarf_Die unit;

	if (!range || !dwarf_offdie(r->dwarf, range->unit, &unit))
		return false;
	found = dwarf_getsrc_die(&unit, address);
	name = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
	if (!name || dwarf_lineno(found, line) || *line <= 0)
		return false;
	*file = intern_text(&r->files, intern_add(&r->files, name));
	return true;
}
