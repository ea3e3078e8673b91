/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the variables of files. */
#include "symbol/symbolizer_internal.h"

static const struct symbol_table *variables_of(struct symbol_image *i)
{
	if (i->variables_sought)
		return &i->variables;
	i->variables_sought = true;
	elf_file_variables(i->file, &i->variables);
	elf_file_rest(i->file);
	if (i->debug) {
		elf_file_variables(i->debug, &i->variables);
		elf_file_rest(i->debug);
	}
	symbol_table_finish(&i->variables);
	i->variable_names = xcalloc(i->variables.entries.count + 1, sizeof(*i->variable_names));
	return &i->variables;
}

/* The name with the member at *offset, which becomes the offset in the member. */
static const char *with_member(struct symbolizer *s, struct frame code, uint64_t variable,
                               const char *name, uint64_t *offset)
{
	struct debug_index *index;
	struct buf text = {0};
	uint64_t address;
	size_t plain;

	index = symbolizer_index(s, code, &address);
	if (!index)
		return name;
	buf_puts(&text, name);
	plain = text.size;
	debug_index_member(index, variable, SYMBOL_OBJECT_BYTES, offset, &text);
	symbolizer_limit_awake(s, index);
	if (text.size > plain)
		name = symbolizer_text(s, buf_text(&text));
	buf_done(&text);
	return name;
}

const char *symbolizer_variable(struct symbolizer *s, struct frame code, uint64_t code_address,
                                uint64_t address, uint64_t *offset)
{
	struct symbol_image *i;
	const struct symbol_table *t;
	const char *raw;
	uint64_t place;
	size_t entry;
	char *plain;

	if (s->images->images.items[code.image].kind != IMAGE_FILE)
		return NULL;
	i = symbolizer_image(s, code.image);
	if (!i->file || !elf_file_address_of(i->file, code.offset, &place))
		return NULL;
	t = variables_of(i);
	place += address - code_address;
	entry = symbol_table_find(t, place);
	if (entry == SYMBOL_NONE)
		return NULL;
	*offset = place - t->entries.items[entry].start;
	if (!i->variable_names[entry]) {
		raw = symbol_table_name(t, entry);
		plain = symbolizer_plain(s, i, raw, false);
		i->variable_names[entry] =
		        symbolizer_symbol_new(s, code.image, plain ? plain : xstrdup(raw));
	}
	return with_member(s, code, t->entries.items[entry].start, i->variable_names[entry]->name,
	                   offset);
}

bool symbolizer_data(struct symbolizer *s, struct frame code, uint64_t code_address,
                     uint64_t address, uint64_t *place)
{
	struct symbol_image *i;

	if (s->images->images.items[code.image].kind != IMAGE_FILE)
		return false;
	i = symbolizer_image(s, code.image);
	if (!i->file || !elf_file_address_of(i->file, code.offset, place))
		return false;
	*place += address - code_address;
	return elf_file_is_data(i->file, *place);
}
