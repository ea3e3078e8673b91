/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a list of kernel symbols, as --kallsyms reads it: the symbols are sorted, the table
 * finds each of them, and their names end.
 */
#include "fuzz_directory.h"
#include "image/kernel.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_entry(const struct kallsyms *k, size_t i)
{
	const struct symbol_table *t = &k->table;
	const struct symbol_entry *e = &t->entries.items[i];
	size_t found = symbol_table_find(t, e->start);

	if (e->end < e->start || (i && e[-1].start > e->start))
		abort();
	if (e->name >= t->names.size ||
	    strnlen(symbol_table_name(t, i), t->names.size - e->name) == t->names.size - e->name)
		abort();
	if (e->end > e->start && (found == SYMBOL_NONE || t->entries.items[found].start > e->start))
		abort();
	if (symbol_table_before(t, e->start) == SYMBOL_NONE)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct error err = {0};
	struct kallsyms k;
	char path[128];

	fuzz_put("kallsyms", bytes, size, path);
	if (kallsyms_read(&k, path, &err)) {
		if (!strstr(err.text, path))
			abort(); /* an error names the file */
		return 0;
	}
	for (size_t i = 0; i < k.table.entries.count; i++)
		check_entry(&k, i);
	for (size_t i = 0; i < k.parts.count; i++)
		if (i && k.parts.items[i].order < k.parts.items[i - 1].order)
			abort();
	kallsyms_done(&k);
	return 0;
}
