/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DWARF with any contents: lines and inlined functions at addresses in all of the file, and members
 * of its variables.
 */
#include "image/elf/elf_file.h"
#include "symbol/debug/debug_index_internal.h"

#include <stdlib.h>
#include <string.h>

#define LOOKUPS 512
#define OFFSETS_MAX 5000

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void name_members(struct elf_file *f)
{
	struct debug_missing missing = {0};
	struct debug_work work = {0};
	struct debug_reader *r = debug_reader_new(f, &missing, &work);
	debug_variables found = {0};

	if (r)
		debug_reader_variables(r, &found);
	for (size_t i = 0; i < found.count && i < LOOKUPS; i++)
		for (uint64_t whole = 0; whole < OFFSETS_MAX; whole = 2 * whole + 8) {
			uint64_t offset = whole;
			struct buf name = {0};

			debug_reader_member(r, found.items[i].entry, 0, &offset, &name);
			if (offset > whole)
				abort();
			buf_done(&name);
		}
	vec_done(&found);
	debug_reader_free(r);
}

static void look_up(struct debug_index *x, uint64_t address)
{
	struct debug_inline in[DEBUG_INLINES_MAX];
	size_t count = debug_index_inlines(x, address, in, DEBUG_INLINES_MAX);
	const char *file;
	int line;

	if (count > DEBUG_INLINES_MAX)
		abort();
	for (size_t i = 0; i < count; i++)
		if (strlen(in[i].name) + strlen(in[i].call_file) > (1u << 30) ||
		    in[i].call_line < 0)
			abort();
	if (debug_index_line(x, address, &file, &line) && (line <= 0 || !*file))
		abort();
	/* A second lookup has the same result. */
	if (debug_index_inlines(x, address, in, DEBUG_INLINES_MAX) != count)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	size_t step = size / LOOKUPS + 1;
	struct debug_index *x;
	struct elf_file *f;
	uint64_t address;

	if (elf_file_open_memory(&f, bytes, size, "fuzz", NULL))
		return 0;
	x = debug_index_new(f, NULL, NULL, NULL);
	for (size_t offset = 0; x && offset < size; offset += step)
		if (elf_file_address_of(f, offset, &address))
			look_up(x, address);
	if (x)
		name_members(f);
	debug_index_free(x);
	elf_file_close(f);
	return 0;
}
