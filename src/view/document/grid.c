/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/document/grid.h"

#include "base/memory/xalloc.h"

struct grid {
	struct row_source *source;
	VEC(enum row_kind) kinds; /* per row */
	VEC(struct cell) cells;   /* row * columns + column; texts belong to the grid */
};

static struct cell grid_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct grid *g = s->model;
	size_t i = (size_t)row * s->columns.count + c->argument;

	return i < g->cells.count ? g->cells.items[i] : cell_none();
}

static enum row_kind kind_of(const struct row_source *s, uint32_t row)
{
	return ((const struct grid *)s->model)->kinds.items[row];
}

static void grid_free(void *model)
{
	struct grid *g = model;

	vec_each (cell, &g->cells)
		if (cell->kind == CELL_TEXT)
			free((char *)(uintptr_t)cell->s);
	vec_done(&g->cells);
	vec_done(&g->kinds);
	free(g);
}

struct grid *grid_new(const struct grid_column *columns, size_t count)
{
	struct grid *g = xcalloc(1, sizeof(*g));

	g->source = row_source_new(g);
	g->source->free = grid_free;
	g->source->row_kind = kind_of;
	g->source->no_total = true;
	g->source->fixed = true;
	for (size_t i = 0; i < count; i++)
		vec_push(&g->source->columns, (struct column){.name = columns[i].title,
		                                              .title = columns[i].title,
		                                              .unit = columns[i].unit,
		                                              .media = MEDIA_READERS,
		                                              .bar = columns[i].bar,
		                                              .argument = (uint32_t)i,
		                                              .get = grid_cell});
	return g;
}

void grid_row(struct grid *g, enum row_kind kind)
{
	while (g->cells.count < g->kinds.count * g->source->columns.count)
		vec_push(&g->cells, cell_none());
	vec_push(&g->kinds, kind);
	g->source->rows++;
}

void grid_add(struct grid *g, struct cell cell)
{
	if (cell.kind == CELL_TEXT)
		cell.s = xstrdup(cell.s);
	vec_push(&g->cells, cell);
}

void grid_addf(struct grid *g, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	grid_add(g, cell_text(buf_text(&text)));
	buf_done(&text);
}

struct section *document_grid(struct document *d, const char *title, const char *key,
                              struct grid *g)
{
	struct row_request all = {0};

	return document_table(d, MEDIA_READERS, title, key, row_set_new(g->source, &all));
}
