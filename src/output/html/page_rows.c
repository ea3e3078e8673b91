/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_rows.h"

#include "base/text/plain_text.h"
#include "output/text/tree_text.h"

#include <math.h>
#include <string.h>

#define NO_PARENT UINT32_MAX

typedef VEC(const struct column *) column_list;
typedef VEC(uint32_t) row_ids;

/* The cells of one column. */
struct page_cells {
	struct page_texts texts;
	VEC(double) values; /* NAN: no number */
	bool numbers;       /* one of them is a number */
	struct buf shown, plain, scratch;
};

static void add_text(struct page_texts *t, struct buf *plain, const char *text)
{
	buf_clear(plain);
	plain_text_add(plain, text, strlen(text));
	page_texts_add(t, buf_text(plain), plain->size);
}

/* Appends the text that readers get for a cell. */
static void cell_shown(const struct column *c, struct cell cell, struct buf *out)
{
	if (!c->blank_zero || !cell_is_zero(cell))
		unit_text_add(c->unit, cell, out);
}

static void add_cell(struct page_cells *cells, struct cell cell)
{
	bool number = cell.kind == CELL_INT || cell.kind == CELL_REAL;

	cells->numbers |= number;
	vec_push(&cells->values, number ? cell_number(cell) : NAN);
	add_text(&cells->texts, &cells->plain, buf_text(&cells->shown));
	buf_clear(&cells->shown);
}

static void write_cells(struct page_blob *b, struct page_cells *cells)
{
	json_object(&b->json);
	page_blob_texts(b, "text", &cells->texts);
	if (cells->numbers) {
		page_blob_f64(b, "value", cells->values.items, cells->values.count);
	} else {
		json_key(&b->json, "value");
		json_null(&b->json);
	}
	json_end_object(&b->json);
	page_texts_done(&cells->texts);
	vec_done(&cells->values);
	buf_done(&cells->shown);
	buf_done(&cells->plain);
	buf_done(&cells->scratch);
}

static column_list columns_of(const struct row_source *s)
{
	column_list columns = {0};

	vec_each (c, &s->columns)
		if (column_is_for(c, MEDIA_READERS) || c->page)
			vec_push(&columns, c);
	return columns;
}

static void write_column(struct json *j, const struct column *c)
{
	static const char *const roles[] = {
	        [ROLE_KEY] = "key",     [ROLE_SUM] = "sum",   [ROLE_TOTAL] = "total",
	        [ROLE_LEAST] = "least", [ROLE_MOST] = "most", [ROLE_RATIO] = "ratio"};

	json_object(j);
	json_kstr(j, "name", c->name);
	json_kstr(j, "title", c->title ? c->title : "");
	json_kstr_or_null(j, "key", c->key);
	json_kstr(j, "unit", c->unit->name);
	json_kbool(j, "left", c->unit->left);
	json_kstr(j, "role", roles[c->role]);
	json_kbool(j, "bar", c->bar);
	json_kdouble(j, "bar_full", c->bar_full > 0 ? c->bar_full : 1);
	json_kbool(j, "path", c->path);
	json_kbool(j, "wide", c->room > 0);
	json_kbool(j, "hidden", !column_is_for(c, MEDIA_READERS));
	json_end_object(j);
}

static void write_columns(struct json *j, const column_list *columns)
{
	json_key(j, "columns");
	json_array(j);
	vec_each (c, columns)
		write_column(j, *c);
	json_end_array(j);
}

static void write_kinds(struct page_blob *b, const struct row_set *r)
{
	VEC(uint8_t) kinds = {0};
	bool items = true;

	for (size_t i = 0; i < r->shown; i++) {
		enum row_kind kind = row_kind_of(r->source, r->order.items[i]);

		items &= kind == ROW_ITEM;
		vec_push(&kinds, (uint8_t)kind);
	}
	if (items) {
		json_key(&b->json, "row_kinds");
		json_null(&b->json);
	} else {
		page_blob_u8(b, "row_kinds", kinds.items, kinds.count);
	}
	vec_done(&kinds);
}

static void write_table_cells(struct page_blob *b, const struct row_set *r,
                              const column_list *columns)
{
	json_key(&b->json, "cells");
	json_array(&b->json);
	vec_each (c, columns) {
		struct page_cells cells = {0};

		for (size_t i = 0; i < r->shown; i++) {
			struct cell cell =
			        row_cell(r->source, *c, r->order.items[i], &cells.scratch);

			cell_shown(*c, cell, &cells.shown);
			add_cell(&cells, cell);
		}
		write_cells(b, &cells);
	}
	json_end_array(&b->json);
}

/* A line of sums; as in text, its label is in the place of the last column. */
static void write_line(struct json *j, const char *key, bool present, const struct row_set *r,
                       const column_list *columns, const struct cell *sums, const char *label)
{
	struct buf shown = {0}, plain = {0};

	json_key(j, key);
	if (!present) {
		json_null(j);
		return;
	}
	json_object(j);
	json_kstr(j, "label", label);
	json_key(j, "texts");
	json_array(j);
	vec_each (c, columns) {
		buf_clear(&shown);
		buf_clear(&plain);
		if (c != vec_last(columns))
			cell_shown(*c, sums[*c - r->source->columns.items], &shown);
		plain_text_add(&plain, buf_text(&shown), shown.size);
		json_str(j, buf_text(&plain));
	}
	json_end_array(j);
	json_end_object(j);
	buf_done(&shown);
	buf_done(&plain);
}

void page_table_write(struct page_blob *b, struct row_set *r, size_t rows)
{
	column_list columns = columns_of(r->source);
	struct json *j = &b->json;
	struct buf label = {0};

	r->source->width = 0;
	row_set_cut(r, rows);
	row_set_rest_label(r, &label);
	write_columns(j, &columns);
	json_ku64(j, "rows", r->shown);
	write_kinds(b, r);
	write_table_cells(b, r, &columns);
	write_line(j, "rest", r->shown < r->order.count, r, &columns, r->rest, buf_text(&label));
	write_line(j, "unselected", r->has_unselected, r, &columns, r->unselected,
	           "[not selected]");
	write_line(j, "removed", r->removed, r, &columns, r->removed, "[removed]");
	write_line(j, "total", !r->source->no_total, r, &columns, r->total, "total");
	vec_done(&columns);
	buf_done(&label);
}

/* The nodes of a tree that are shown, depth first. */
struct page_nodes {
	row_ids nodes, parents; /* parents: indices */
	VEC(uint16_t) depths;
};

static void add_node(struct page_nodes *to, const struct view_tree_walk *w, uint32_t parent)
{
	vec_push(&to->nodes, w->node);
	vec_push(&to->parents, parent);
	vec_push(&to->depths, (uint16_t)(w->depth < UINT16_MAX ? w->depth : UINT16_MAX));
}

/* Collects at most `most` nodes. */
static void collect(const struct section *s, size_t most, struct page_nodes *to)
{
	uint32_t *index = xcalloc(s->tree->nodes.count + 1, sizeof(*index));
	struct view_tree_walk w = {0};
	bool shown;

	do {
		shown = (to->nodes.count < most || view_tree_is_removed(s->tree, w.node)) &&
		        view_tree_shown(s->tree, w.node, s->limit);
		if (shown) {
			index[w.node] = (uint32_t)to->nodes.count;
			add_node(to, &w,
			         w.node == TREE_ROOT ? NO_PARENT
			                             : index[s->tree->nodes.items[w.node].parent]);
		}
	} while (view_tree_step(s->tree, &w,
	                        shown && (to->nodes.count < most || w.node == TREE_ROOT)));
	free(index);
}

static void write_tree_cells(struct page_blob *b, const struct view_tree *t,
                             const struct page_nodes *of, const column_list *columns)
{
	json_key(&b->json, "cells");
	json_array(&b->json);
	vec_each (c, columns) {
		struct page_cells cells = {0};

		vec_each (node, &of->nodes) {
			struct cell cell = row_cell(t->source, *c, *node, &cells.scratch);

			if (c == vec_last(columns))
				tree_text_name(&cells.shown, t, *node, (*c)->unit, cell);
			else
				cell_shown(*c, cell, &cells.shown);
			add_cell(&cells, cell);
		}
		write_cells(b, &cells);
	}
	json_end_array(&b->json);
}

void page_tree_write(struct page_blob *b, const struct section *s, size_t rows)
{
	column_list columns = columns_of(s->tree->source);
	struct page_nodes nodes = {0};

	s->tree->source->width = 0;
	collect(s, s->lines && s->lines < rows ? s->lines : rows, &nodes);
	write_columns(&b->json, &columns);
	json_ku64(&b->json, "rows", nodes.nodes.count);
	page_blob_u32(b, "parent", nodes.parents.items, nodes.parents.count);
	page_blob_u16(b, "depth", nodes.depths.items, nodes.depths.count);
	write_tree_cells(b, s->tree, &nodes, &columns);
	vec_done(&columns);
	vec_done(&nodes.nodes);
	vec_done(&nodes.parents);
	vec_done(&nodes.depths);
}
