/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files with any contents: all operations of a report.
 */
#include "image/elf/elf_file.h"
#include "image/elf/symbol_subset.h"
#include "symbol/debug/debug_index.h"
#include "symbol/demangle/demangle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void look_up(const struct symbol_table *t, uint64_t address)
{
	size_t entry = symbol_table_find(t, address);

	/* The symbol that is found must contain the address. */
	if (entry != SYMBOL_NONE &&
	    (t->entries.items[entry].start > address || t->entries.items[entry].end <= address))
		abort();
	entry = symbol_table_before(t, address);
	if (entry != SYMBOL_NONE && t->entries.items[entry].start > address)
		abort();
}

static void use_symbols(struct elf_file *f, struct symbol_table *t)
{
	uint8_t code[256];
	uint64_t offset, address;

	vec_each (e, &t->entries) {
		look_up(t, e->start);
		look_up(t, e->end - 1);
		look_up(t, e->end);
		free(demangle(t->names.data + e->name));
		elf_file_read(f, e->start, code, sizeof(code));
		if (elf_file_offset_of(f, e->start, &offset) &&
		    !elf_file_address_of(f, offset, &address))
			abort();
	}
}

static void use_lines(struct elf_file *f, const struct symbol_table *t)
{
	struct debug_index *lines = debug_index_new(f, NULL, NULL, NULL);
	const char *file;
	int line;

	vec_each (e, &t->entries)
		if (lines && debug_index_line(lines, e->start, &file, &line) && line <= 0)
			abort();
	debug_index_free(lines);
}

#define FEW 8

/* The names of a few addresses are those of the table of all symbols. */
static void use_few(struct elf_file *f, const struct symbol_table *all)
{
	uint64_t addresses[FEW];
	struct symbol_table t;
	size_t count = 0, step = all->entries.count / FEW + 1, a, b;

	for (size_t i = 0; i < all->entries.count && count < FEW; i += step)
		addresses[count++] = all->entries.items[i].start;
	symbol_table_init(&t);
	t.few = symbol_subset_new(addresses, count);
	elf_file_symbols(f, &t);
	symbol_subset_first_pass_done(t.few);
	elf_file_symbols(f, &t);
	if (!symbol_subset_needs_full_table(t.few)) {
		symbol_table_finish(&t);
		for (size_t i = 0; i < count; i++) {
			a = symbol_table_find(all, addresses[i]);
			b = symbol_table_find(&t, addresses[i]);
			if (a != SYMBOL_NONE &&
			    (b == SYMBOL_NONE ||
			     strcmp(symbol_table_name(all, a), symbol_table_name(&t, b)) != 0))
				abort();
		}
	}
	symbol_subset_free(t.few);
	symbol_table_done(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct symbol_table t;
	struct elf_file *f;
	uint64_t address, length;
	const char *name;
	uint32_t crc;

	if (elf_file_open_memory(&f, bytes, size, "fuzz", NULL))
		return 0;
	symbol_table_init(&t);
	elf_file_symbols(f, &t);
	symbol_table_finish(&t);
	use_symbols(f, &t);
	use_few(f, &t);
	use_lines(f, &t);
	elf_file_debuglink(f, &name, &crc);
	elf_file_symbol(f, "main", &address, &length);
	symbol_table_done(&t);
	elf_file_close(f);
	return 0;
}
