/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/few_names.h"

#include "base/xalloc.h"
#include "image/elf_file.h"
#include "image/locate.h"
#include "symbol/demangle.h"

#include <stdlib.h>

struct asked {
	uint64_t *addresses; /* by place; UINT64_MAX: in no segment */
	uint64_t *ascending;
	size_t count;
};

static int compare_addresses(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static void ask(struct asked *a, const struct elf_file *f, const uint64_t *offsets, size_t count)
{
	a->addresses = xcalloc(count + 1, sizeof(*a->addresses));
	a->ascending = xcalloc(count + 1, sizeof(*a->ascending));
	a->count = count;
	for (size_t i = 0; i < count; i++) {
		if (!elf_file_address_of(f, offsets[i], &a->addresses[i]))
			a->addresses[i] = UINT64_MAX;
		a->ascending[i] = a->addresses[i];
	}
	qsort(a->ascending, count, sizeof(*a->ascending), compare_addresses);
}

/* Its own symbols and, where it was stripped, those of its debug file. */
static void read_symbols(struct elf_file *f, const char *root, struct symbol_table *t)
{
	struct elf_file *debug = NULL;

	elf_file_symbols(f, t);
	if (!elf_file_has_symtab(f))
		debug = locate_debug(f, root);
	if (debug)
		elf_file_symbols(debug, t);
	symbol_table_finish(t);
	elf_file_close(debug);
}

static char *name_at(const struct symbol_table *t, uint64_t address)
{
	size_t entry = symbol_table_find(t, address);
	const char *name = entry == SYMBOL_NONE ? NULL : symbol_table_name(t, entry);
	char *plain = name ? demangle(name) : NULL;

	return plain || !name ? plain : xstrdup(name);
}

void few_names(const struct image *image, const char *path, const char *root,
               const uint64_t *offsets, size_t count, char **names)
{
	struct symbol_table t;
	struct error err = {0};
	struct asked asked;
	struct elf_file *f;

	for (size_t i = 0; i < count; i++)
		names[i] = NULL;
	if (locate_image(&f, image, path, root, &err))
		return;
	ask(&asked, f, offsets, count);
	symbol_table_init(&t);
	symbol_table_want(&t, asked.ascending, count);
	read_symbols(f, root, &t);
	for (size_t i = 0; i < count; i++)
		names[i] = name_at(&t, asked.addresses[i]);
	symbol_table_done(&t);
	elf_file_close(f);
	free(asked.addresses);
	free(asked.ascending);
}
