/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names under which files export their functions. */
#include "symbol/symbolizer_internal.h"

static const struct symbol_table *exports_of(struct symbol_image *i)
{
	if (i->exports_sought)
		return &i->exports;
	i->exports_sought = true;
	elf_file_exports(i->file, &i->exports);
	symbol_table_finish(&i->exports);
	elf_file_rest(i->file);
	return &i->exports;
}

const char *symbolizer_export(struct symbolizer *s, struct frame frame)
{
	enum image_kind kind = s->images->images.items[frame.image].kind;
	struct symbol_image *i = symbolizer_image(s, frame.image);
	const struct symbol_table *t;
	uint64_t address;
	size_t entry;

	if ((kind != IMAGE_FILE && kind != IMAGE_VDSO) || !i->file ||
	    !elf_file_address_of(i->file, frame.offset, &address))
		return NULL;
	t = exports_of(i);
	entry = symbol_table_before(t, address);
	if (entry == SYMBOL_NONE || t->entries.items[entry].start != address)
		return NULL;
	return symbol_table_name(t, entry);
}
