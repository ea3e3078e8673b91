/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents as Markdown, as issue trackers show it. */
#include "output/document_output.h"

#include "base/text/medium_text.h"
#include "base/text/plain_text.h"
#include "output/text/tree_text.h"

#include <string.h>

struct markdown_printing {
	const struct output_stream *stream;
	struct buf *out;
	struct buf cell, scratch;
};

static void put_escaped(struct buf *out, const char *text)
{
	medium_text_add(out, MEDIUM_MARKDOWN, text, strlen(text));
}

static void put_cell(struct markdown_printing *p, const struct column *c, struct cell cell)
{
	buf_clear(&p->cell);
	if (!c->blank_zero || !cell_is_zero(cell))
		unit_text_add(c->unit, cell, &p->cell);
	buf_puts(p->out, " ");
	put_escaped(p->out, buf_text(&p->cell));
	buf_puts(p->out, " |");
}

static void put_titles(struct markdown_printing *p, const struct row_source *s)
{
	buf_puts(p->out, "|");
	vec_each (c, &s->columns) {
		if (!column_is_for(c, MEDIA_READERS))
			continue;
		buf_puts(p->out, " ");
		put_escaped(p->out, c->title);
		buf_puts(p->out, " |");
	}
	buf_puts(p->out, "\n|");
	vec_each (c, &s->columns)
		if (column_is_for(c, MEDIA_READERS))
			buf_puts(p->out, c->unit->left ? " :-- |" : " --: |");
	buf_puts(p->out, "\n");
}

static void put_sums(struct markdown_printing *p, const struct row_source *s,
                     const struct cell *sums, const char *label)
{
	const struct column *last = NULL;

	vec_each (c, &s->columns)
		last = column_is_for(c, MEDIA_READERS) ? c : last;
	buf_puts(p->out, "|");
	vec_each (c, &s->columns)
		if (column_is_for(c, MEDIA_READERS))
			put_cell(p, c == last ? &(struct column){.unit = &unit_text} : c,
			         c == last ? cell_text(label) : sums[c - s->columns.items]);
	buf_puts(p->out, "\n");
}

static void print_table(struct markdown_printing *p, const struct row_set *r)
{
	struct buf label = {0};

	put_titles(p, r->source);
	for (size_t i = 0; i < r->shown; i++) {
		buf_puts(p->out, "|");
		vec_each (c, &r->source->columns)
			if (column_is_for(c, MEDIA_READERS))
				put_cell(p, c,
				         row_cell(r->source, c, r->order.items[i], &p->scratch));
		buf_puts(p->out, "\n");
		output_stream_flush(p->stream, p->out);
	}
	row_set_rest_label(r, &label);
	if (r->shown < r->order.count)
		put_sums(p, r->source, r->rest, buf_text(&label));
	if (r->has_unselected)
		put_sums(p, r->source, r->unselected, "[not selected]");
	if (r->removed)
		put_sums(p, r->source, r->removed, "[removed]");
	if (!r->source->no_total)
		put_sums(p, r->source, r->total, "total");
	buf_done(&label);
}

/* A tree is text in a block of code, which keeps the indentation. */
static void print_tree(struct markdown_printing *p, const struct section *s)
{
	struct document_text_options o = {0};
	struct section plain = *s;
	struct document d = {0};

	plain.title = NULL;
	vec_push(&d.sections, plain);
	buf_puts(p->out, "```\n");
	document_text_print(&d, &o, p->stream, p->out);
	buf_puts(p->out, "```\n");
	vec_done(&d.sections);
}

static void put_label(struct markdown_printing *p, const char *label)
{
	if (!label || !*label)
		return;
	buf_puts(p->out, "**");
	put_escaped(p->out, label);
	buf_puts(p->out, "**: ");
}

/* A line to be copied is code; code cannot contain the character that ends it. */
static void put_fact(struct markdown_printing *p, const struct fact *fact)
{
	bool code = fact->kind == FACT_VERBATIM && !strchr(fact->value.s, '`');

	if (!code) {
		put_escaped(p->out, fact->value.s);
		return;
	}
	buf_putc(p->out, '`');
	plain_text_add(p->out, fact->value.s, strlen(fact->value.s));
	buf_putc(p->out, '`');
}

static void print_list(struct markdown_printing *p, const struct section *s)
{
	vec_each (fact, &s->facts) {
		if (fact->kind != FACT_LINE && fact->kind != FACT_VERBATIM)
			continue;
		buf_puts(p->out, "- ");
		put_label(p, fact->key);
		put_fact(p, fact);
		buf_puts(p->out, "\n");
	}
	vec_each (note, &s->notes) {
		buf_puts(p->out, s->kind == SECTION_TEXT ? "" : "- ");
		if (s->kind == SECTION_TEXT)
			put_label(p, s->title);
		put_escaped(p->out, *note);
		buf_puts(p->out, "\n");
	}
}

static void print_sections(struct markdown_printing *p, const struct document *d);

static void print_part(void *of, const struct document *part)
{
	print_sections(of, part);
}

static bool is_empty(const struct section *s)
{
	vec_each (fact, &s->facts)
		if (fact->kind == FACT_LINE || fact->kind == FACT_VERBATIM)
			return false;
	return s->kind == SECTION_FACTS || (s->kind == SECTION_NOTES && !s->notes.count);
}

static void print_section(struct markdown_printing *p, const struct section *s)
{
	if (is_empty(s))
		return;
	if (s->title && *s->title && s->kind != SECTION_TEXT) {
		buf_puts(p->out, p->out->size ? "\n### " : "### ");
		put_escaped(p->out, s->title);
		buf_puts(p->out, "\n");
	}
	if (s->kind != SECTION_HEADING && p->out->size)
		buf_puts(p->out, "\n");
	if (s->kind == SECTION_TABLE)
		print_table(p, s->rows);
	else if (s->kind == SECTION_TREE)
		print_tree(p, s);
	else if (s->kind == SECTION_PARTS)
		section_each_part(s, print_part, p);
	else
		print_list(p, s);
}

static void print_sections(struct markdown_printing *p, const struct document *d)
{
	vec_each (s, &d->sections)
		if (s->media & MEDIA_READERS)
			print_section(p, s);
}

void document_markdown_print(const struct document *d, const struct output_stream *stream,
                             struct buf *out)
{
	struct markdown_printing p = {.stream = stream, .out = out};

	print_sections(&p, d);
	buf_done(&p.cell);
	buf_done(&p.scratch);
}
