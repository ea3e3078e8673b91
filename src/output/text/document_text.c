/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents as text for a terminal or a pipe. */
#include "output/document_output.h"

#include "base/piece.h"
#include "base/text/plural.h"
#include "output/text/tree_text.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define LABEL 12
#define ROWS_AT_ONCE PIECE_OF(4096)

struct text_printing {
	const struct document_text_options *options;
	const struct output_stream *stream;
	struct buf *out;
	struct buf cell, scratch;
	/* The column of the table that has bars with --bars; NULL: none. */
	const struct column *charted;
	double charted_whole; /* the value of a whole bar */
};

typedef VEC(const struct column *) column_list;

/* The columns that fit the terminal. */
static void choose_columns(const struct text_printing *p, const struct row_source *s,
                           column_list *columns)
{
	unsigned width = p->options->style.width;

	if (!width || p->options->wide)
		width = UINT_MAX;
	vec_each (c, &s->columns)
		if (column_is_for(c, MEDIA_READERS) && c->room <= width)
			vec_push(columns, c);
}

static bool has_bar(const struct text_printing *p, const struct column *c)
{
	return c->bar || c == p->charted;
}

static double bar_of(const struct text_printing *p, const struct column *c, struct cell cell)
{
	double whole = c->bar ? c->bar_full > 0 ? c->bar_full : 1 : p->charted_whole;

	return whole > 0 ? cell_number(cell) / whole : 0;
}

/* The column that gets bars with --bars if the table declares none: the column by which the rows
 * are sorted or, if readers do not get it, the first column with its unit. */
static const struct column *charted_column(const struct row_set *r, const column_list *columns)
{
	const struct column *same = NULL;

	vec_each (c, columns)
		if ((*c)->bar)
			return NULL;
	vec_each (c, columns) {
		if (*c == r->by)
			return *c;
		if (!same && r->by && (*c)->unit == r->by->unit)
			same = *c;
	}
	return same;
}

/* A whole bar is the sum of the column or, without a sum, its largest value. */
static double charted_whole(struct text_printing *p, const struct row_set *r)
{
	const struct column *c = p->charted;
	double most = 0;

	if (c->role == ROLE_SUM)
		return cell_number(r->total[c - r->source->columns.items]);
	for (size_t i = 0; i < r->shown; i++)
		most = fmax(most, fabs(cell_number(
		                          row_cell(r->source, c, r->order.items[i], &p->scratch))));
	return most;
}

static void add_titles(const struct text_printing *p, struct table *t, const column_list *columns)
{
	vec_each (c, columns) {
		table_column(t, (*c)->title,
		             (*c)->path         ? TABLE_PATH
		             : (*c)->unit->left ? TABLE_LEFT
		                                : TABLE_RIGHT);
		if (has_bar(p, *c))
			table_column(t, "", TABLE_BAR);
	}
}

static void add_cell(struct text_printing *p, struct table *t, const struct column *c,
                     struct cell cell, bool bar)
{
	buf_clear(&p->cell);
	if (!c->blank_zero || !cell_is_zero(cell))
		unit_text_add(c->unit, cell, &p->cell);
	table_text(t, buf_text(&p->cell));
	if (has_bar(p, c) && bar)
		table_bar(t, bar_of(p, c, cell));
	else if (has_bar(p, c) && t->style->bars)
		table_text(t, "");
}

static void add_row(struct text_printing *p, struct table *t, const struct row_set *r,
                    const column_list *columns, uint32_t row)
{
	static const enum table_kind kinds[] = {[ROW_ITEM] = TABLE_ROW,
	                                        [ROW_WARM] = TABLE_WARM,
	                                        [ROW_HOT] = TABLE_HOT,
	                                        [ROW_PART] = TABLE_REST,
	                                        [ROW_TOTAL] = TABLE_TOTAL};
	enum row_kind kind = row_kind_of(r->source, row);

	table_row(t, kinds[kind]);
	vec_each (c, columns)
		add_cell(p, t, *c, row_cell(r->source, *c, row, &p->scratch), kind != ROW_TOTAL);
}

/* A line of sums has its label in the last column. */
static void add_sums(struct text_printing *p, struct table *t, const struct row_set *r,
                     const column_list *columns, enum table_kind kind, const struct cell *sums,
                     const char *label)
{
	table_row(t, kind);
	vec_each (c, columns) {
		if (c == vec_last(columns))
			table_text(t, label);
		else
			add_cell(p, t, *c, sums[*c - r->source->columns.items], false);
	}
}

static void add_last_lines(struct text_printing *p, struct table *t, const struct row_set *r,
                           const column_list *columns)
{
	struct buf label = {0};

	row_set_rest_label(r, &label);
	if (r->shown < r->order.count)
		add_sums(p, t, r, columns, TABLE_REST, r->rest, buf_text(&label));
	if (r->has_unselected)
		add_sums(p, t, r, columns, TABLE_REST, r->unselected, "[not selected]");
	if (r->removed)
		add_sums(p, t, r, columns, TABLE_REST, r->removed, "[removed]");
	if (!r->source->no_total)
		add_sums(p, t, r, columns, TABLE_TOTAL, r->total, "total");
	buf_done(&label);
}

static void flush(struct text_printing *p, struct table *t, size_t lines)
{
	if (lines % ROWS_AT_ONCE)
		return;
	table_flush(t, p->out);
	output_stream_flush(p->stream, p->out);
}

static void print_table(struct text_printing *p, const struct section *s)
{
	struct text_style style = p->options->style;
	struct row_set *r = s->rows;
	column_list columns = {0};
	struct table t;

	r->source->width = p->options->style.width;
	choose_columns(p, r->source, &columns);
	style.bars |= r->source->chart;
	if (r->source->squeezed && p->options->wide)
		style.width = 0; /* whole names */
	p->charted = style.chart ? charted_column(r, &columns) : NULL;
	if (p->charted)
		p->charted_whole = charted_whole(p, r);
	table_init(&t, &style);
	t.squeezed = r->source->squeezed;
	add_titles(p, &t, &columns);
	for (size_t i = 0; i < r->shown; i++) {
		add_row(p, &t, r, &columns, r->order.items[i]);
		flush(p, &t, i + 1);
	}
	add_last_lines(p, &t, r, &columns);
	table_print(&t, p->out);
	table_done(&t);
	p->charted = NULL;
	vec_done(&columns);
}

/* The last column has the name, indented by the depth. */
static void add_node(struct text_printing *p, struct table *t, const struct view_tree *tree,
                     const column_list *columns, const struct view_tree_walk *w)
{
	struct buf name = {0};

	table_row(t, TABLE_ROW);
	vec_each (c, columns) {
		struct cell cell = row_cell(tree->source, *c, w->node, &p->scratch);

		if (c != vec_last(columns)) {
			add_cell(p, t, *c, cell, true);
			continue;
		}
		tree_text_indent(&name, w->depth);
		tree_text_name(&name, tree, w->node, (*c)->unit, cell);
		table_text(t, buf_text(&name));
	}
	buf_done(&name);
}

/* Returns the number of nodes with a value that were left out. -n does not cut removed values. */
static size_t add_nodes(struct text_printing *p, struct table *t, const struct section *s,
                        const column_list *columns)
{
	size_t most = s->lines ? s->lines : SIZE_MAX, lines = 0, all = 0;
	struct view_tree_walk w = {0};
	bool shown;

	do {
		shown = (lines < most || view_tree_is_removed(s->tree, w.node)) &&
		        view_tree_shown(s->tree, w.node, s->limit);
		if (shown) {
			add_node(p, t, s->tree, columns, &w);
			flush(p, t, ++lines);
		}
		/* Removed values are a node of the first level. */
	} while (view_tree_step(s->tree, &w, shown && (lines < most || w.node == TREE_ROOT)));
	vec_each (node, &s->tree->nodes)
		all += node == s->tree->nodes.items || !node->empty;
	return all - lines;
}

static void print_tree(struct text_printing *p, const struct section *s)
{
	column_list columns = {0};
	struct table t;
	size_t left;

	s->tree->source->width = p->options->style.width;
	choose_columns(p, s->tree->source, &columns);
	table_init(&t, &p->options->style);
	add_titles(p, &t, &columns);
	left = add_nodes(p, &t, s, &columns);
	table_print(&t, p->out);
	if (left)
		buf_addf(p->out, "%zu %s left out (%s)\n", left, plural(left, "line", "lines"),
		         s->lines ? "-n N shows N" : "--percent-limit 0 shows all");
	table_done(&t);
	vec_done(&columns);
}

/*
 * The line is a command with its purpose as a comment. If both do not fit on one line of the
 * terminal, the comment has a line of its own. The command is never cut, so that it can be copied.
 */
static void print_command(struct text_printing *p, const char *line, size_t indent)
{
	const char *comment = strstr(line, "  # ");
	size_t width = p->options->style.width, size = comment ? (size_t)(comment - line) : 0;

	if (!comment || !width || indent + strlen(line) <= width) {
		text_clean(p->out, line);
		return;
	}
	while (size && line[size - 1] == ' ')
		size--;
	buf_clear(&p->scratch);
	buf_add(&p->scratch, line, size);
	text_clean(p->out, buf_text(&p->scratch));
	if (indent + size + strlen(comment) > width) {
		buf_putc(p->out, '\n');
		buf_pad(p->out, ' ', indent + 2);
		comment += 2;
	}
	text_clean(p->out, comment);
}

static void print_verbatim(struct text_printing *p, const struct fact *fact)
{
	size_t label = fact->key ? strlen(fact->key) : LABEL;
	size_t pad = label < LABEL ? LABEL - label : fact->key != NULL;

	if (fact->key)
		buf_puts(p->out, fact->key);
	buf_pad(p->out, ' ', pad);
	print_command(p, fact->value.s, fact->key ? label + pad : 0);
	buf_putc(p->out, '\n');
}

static void print_facts(struct text_printing *p, const struct section *s)
{
	vec_each (fact, &s->facts) {
		if (fact->kind == FACT_LINE)
			text_fill(p->out, &p->options->style, fact->key, LABEL, fact->value.s);
		else if (fact->kind == FACT_VERBATIM)
			print_verbatim(p, fact);
	}
}

static void print_sections(struct text_printing *p, const struct document *d);

static void print_part(void *of, const struct document *part)
{
	struct text_printing *p = of;

	print_sections(p, part);
	output_stream_flush(p->stream, p->out);
}

static void print_text(struct text_printing *p, const struct section *s)
{
	const char *label = s->title ? s->title : "";

	if (s->title)
		buf_putc(p->out, '\n');
	text_fill(p->out, &p->options->style, label, *label ? strlen(label) + 2 : 0,
	          s->notes.items[0]);
}

static void print_title(struct text_printing *p, const struct section *s)
{
	if (!s->title || s->kind == SECTION_TEXT)
		return;
	if (*s->title)
		text_heading(p->out, &p->options->style, "%s", s->title);
	else if (p->out->size)
		buf_putc(p->out, '\n');
}

static void print_section(struct text_printing *p, const struct section *s)
{
	if (s->kind == SECTION_NOTES && !s->notes.count)
		return;
	print_title(p, s);
	switch (s->kind) {
	case SECTION_HEADING:
		break;
	case SECTION_FACTS:
		print_facts(p, s);
		break;
	case SECTION_TABLE:
		print_table(p, s);
		break;
	case SECTION_TREE:
		print_tree(p, s);
		break;
	case SECTION_NOTES:
		vec_each (note, &s->notes)
			text_fill(p->out, &p->options->style, "- ", 2, *note);
		break;
	case SECTION_TEXT:
		print_text(p, s);
		break;
	case SECTION_PARTS:
		section_each_part(s, print_part, p);
		break;
	}
}

static void print_sections(struct text_printing *p, const struct document *d)
{
	vec_each (s, &d->sections)
		if (s->media & MEDIA_READERS)
			print_section(p, s);
}

void document_text_print(const struct document *d, const struct document_text_options *o,
                         const struct output_stream *stream, struct buf *out)
{
	struct text_printing p = {.options = o, .stream = stream, .out = out};

	print_sections(&p, d);
	buf_done(&p.cell);
	buf_done(&p.scratch);
}
