/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/annotate_text.h"

#include <string.h>

/* Lines from these shares are coloured on a terminal. */
#define HOT_SHARE 0.10
#define WARM_SHARE 0.01

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void add_heading(const struct annotate *a, const struct text_style *style, struct buf *out)
{
	struct buf note = {0};

	buf_puts(out, style->colour ? "\033[1m" : "");
	text_clean(out, a->symbol->name);
	buf_puts(out, style->colour ? "\033[0m" : "");
	buf_puts(out, " in ");
	text_clean(out, a->image);
	buf_puts(out, "\n");
	text_counted(out, a->samples, "sample of ", "samples of ");
	text_clean(out, a->event);
	buf_puts(out, ", ");
	text_share(out, share_of(a->samples, a->base_samples));
	buf_puts(out, " of ");
	text_count(out, a->base_samples);
	buf_puts(out, "; code from ");
	text_clean(out, a->code_source);
	buf_puts(out, "\n");
	if (a->symbol->range)
		text_fill(out, style, "", 0,
		          "This file is stripped: this is all code between two dynamic symbols, "
		          "perhaps several functions.");
	if (!a->inside)
		return;
	text_counted(&note, a->inside, "sample is", "samples are");
	buf_puts(&note, " not at an instruction's first byte: the code differs from the code that "
	                "ran, or it is data.");
	text_fill(out, style, "", 0, note.data);
	buf_done(&note);
}

/* Prints tabs as spaces and escapes other control characters. */
static void add_source_text(const char *source, struct buf *out)
{
	struct buf text = {0};

	for (; *source; source++)
		if (*source == '\t')
			buf_pad(&text, ' ', 4);
		else
			buf_putc(&text, *source);
	buf_puts(out, "  ");
	text_clean(out, buf_text(&text));
	buf_done(&text);
}

static void add_source(const struct annotate_line *line, struct buf *out)
{
	const char *slash = strrchr(line->file, '/');

	buf_pad(out, ' ', 21);
	text_clean(out, slash ? slash + 1 : line->file);
	buf_addf(out, ":%d", line->line);
	if (line->source)
		add_source_text(line->source, out);
	buf_puts(out, "\n");
}

static bool same_inlines(const struct annotate *a, const struct annotate_line *x,
                         const struct annotate_line *y)
{
	const struct symbol_inline *in = a->inlines.items;

	if (!x || x->inlines != y->inlines)
		return !x && !y->inlines;
	for (uint32_t i = 0; i < x->inlines; i++) {
		const struct symbol_inline *p = &in[x->first_inline + i];
		const struct symbol_inline *q = &in[y->first_inline + i];

		if (p->name != q->name || p->call_line != q->call_line)
			return false;
	}
	return true;
}

/* "; inlined: inner at a.c:3, in outer at b.c:4", or the function itself after inlined code. */
static void add_inlines(const struct annotate *a, const struct annotate_line *line, struct buf *out)
{
	buf_pad(out, ' ', 21);
	buf_puts(out, line->inlines ? "; inlined: " : "; in ");
	if (!line->inlines)
		text_clean(out, a->symbol->name);
	for (uint32_t i = 0; i < line->inlines; i++) {
		const struct symbol_inline *in = &a->inlines.items[line->first_inline + i];
		const char *slash = in->call_file ? strrchr(in->call_file, '/') : NULL;

		buf_puts(out, i ? ", in " : "");
		text_clean(out, in->name);
		if (!in->call_file)
			continue;
		buf_puts(out, " at ");
		text_clean(out, slash ? slash + 1 : in->call_file);
		buf_addf(out, ":%d", in->call_line);
	}
	buf_puts(out, "\n");
}

static void add_bytes(const struct annotate_line *line, uint32_t widest, struct buf *out)
{
	for (uint32_t i = 0; i < widest; i++) {
		if (line->bytes && i < line->size)
			buf_addf(out, " %02x", line->bytes[i]);
		else
			buf_puts(out, "   ");
	}
}

static void add_share(const struct annotate *a, const struct annotate_line *line,
                      const struct text_style *style, struct buf *out)
{
	double share = share_of(line->samples, a->samples);
	const char *colour = "";

	if (!line->samples) {
		buf_pad(out, ' ', 19);
		return;
	}
	if (style->colour)
		colour = share >= HOT_SHARE ? "\033[31m" : share >= WARM_SHARE ? "\033[32m" : "";
	buf_addf(out, "%s%7.2f %% %9llu%s", colour, 100 * share, (unsigned long long)line->samples,
	         *colour ? "\033[0m" : "");
}

static bool same_source(const struct annotate_line *a, const struct annotate_line *b)
{
	return a && a->file && a->line == b->line && !strcmp(a->file, b->file);
}

static size_t count_cold(const struct annotate *a)
{
	size_t cold = 0;

	vec_each (line, &a->lines)
		cold += !line->hot;
	return cold;
}

static void add_line(const struct annotate *a, const struct annotate_line *line,
                     const struct annotate_line *before, uint32_t widest,
                     const struct text_style *style, struct buf *out)
{
	if (line->bytes && !same_inlines(a, before, line))
		add_inlines(a, line, out);
	if (line->file && !same_source(before, line))
		add_source(line, out);
	add_share(a, line, style, out);
	buf_addf(out, "  %16llx ", (unsigned long long)line->address);
	add_bytes(line, widest, out);
	buf_puts(out, "  ");
	text_clean(out, line->text);
	buf_puts(out, "\n");
}

static void add_columns(uint32_t widest, struct buf *out)
{
	buf_puts(out, "\n    share   samples           address  bytes");
	buf_pad(out, ' ', widest > 1 ? 3 * widest - 4 : 1);
	buf_puts(out, "assembly\n");
}

/* Prints the number of lines that were left out, and resets it. */
static void add_gap(size_t *left_out, struct buf *out)
{
	if (!*left_out)
		return;
	buf_pad(out, ' ', 21);
	buf_addf(out, "... %zu instructions without samples\n", *left_out);
	*left_out = 0;
}

static void add_end(const struct annotate *a, size_t cold, const struct text_style *style,
                    struct buf *out)
{
	struct buf note = {0};

	if (!cold)
		return;
	buf_puts(out, "\n");
	text_count(&note, cold);
	buf_puts(&note, " of ");
	text_count(&note, a->lines.count);
	buf_puts(&note, " instructions are left out: neither they nor their neighbours have "
	                "samples. --full prints all.");
	text_fill(out, style, "", 0, note.data);
	buf_done(&note);
}

void annotate_text(const struct annotate *a, const struct text_style *style, bool full,
                   struct buf *out)
{
	const struct annotate_line *before = NULL;
	size_t left_out = 0;
	uint32_t widest = 0;

	add_heading(a, style, out);
	vec_each (line, &a->lines)
		if ((full || line->hot) && line->size > widest)
			widest = line->size;
	add_columns(widest, out);
	vec_each (line, &a->lines) {
		if (!full && !line->hot) {
			left_out++;
			before = NULL;
			continue;
		}
		add_gap(&left_out, out);
		add_line(a, line, before, widest, style, out);
		if (line->bytes)
			before = line;
	}
	add_gap(&left_out, out);
	add_end(a, full ? 0 : count_cold(a), style, out);
}
