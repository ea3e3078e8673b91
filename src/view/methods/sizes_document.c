/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/methods/sizes_document.h"

#include "view/document/grid.h"
#include "view/rows/unit.h"

#include <stdio.h>

struct size_row {
	const char *name, *what;
	uint64_t with, without;
};

static void add_row(struct grid *g, const struct size_row *row)
{
	double change = (double)row->with - (double)row->without;
	char text[64] = "";

	if (row->without)
		snprintf(text, sizeof(text), "%+.1f %%", 100 * change / (double)row->without);
	grid_row(g, ROW_ITEM);
	grid_add(g, cell_text(row->name));
	grid_add(g, cell_int((int64_t)row->without));
	grid_add(g, cell_int((int64_t)row->with));
	grid_add(g, cell_int((int64_t)change));
	grid_add(g, cell_text(text));
	grid_add(g, cell_text(row->what));
}

static void facts(struct document *d, const struct size_row *rows, size_t count)
{
	document_object(d, "sizes");
	for (size_t i = 0; i < count; i++) {
		document_object(d, rows[i].name);
		document_int(d, "without_bytes", (int64_t)rows[i].without);
		document_int(d, "with_bytes", (int64_t)rows[i].with);
		document_end(d);
	}
	document_end(d);
}

void sizes_document_add(struct document *d, const struct program_sizes *sizes)
{
	static const struct grid_column columns[] = {{.title = "", .unit = &unit_text},
	                                             {.title = "without", .unit = &unit_count},
	                                             {.title = "with", .unit = &unit_count},
	                                             {.title = "change", .unit = &unit_count},
	                                             {.title = "change %", .unit = &unit_text},
	                                             {.title = "", .unit = &unit_text}};

	if (!sizes)
		return;
	const struct elf_sizes *with = &sizes->with, *without = &sizes->without;
	const struct size_row rows[] = {
	        {"text", "code and constants", with->text, without->text},
	        {"data", "variables with initial values", with->data, without->data},
	        {"bss", "other variables", with->bss, without->bss},
	        {"all", "", with->text + with->data + with->bss,
	         without->text + without->data + without->bss},
	};
	const size_t count = sizeof(rows) / sizeof(*rows);
	struct grid *g = grid_new(columns, sizeof(columns) / sizeof(*columns));

	facts(d, rows, count);
	for (size_t i = 0; i < count; i++)
		add_row(g, &rows[i]);
	document_grid(d, "Size of the program in bytes, with and without instrumenting", "sizes",
	              g);
}
