/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate/annotate_document.h"

#include "base/memory/xalloc.h"
#include "base/text/base_name.h"
#include "base/text/figure.h"

#include <inttypes.h>
#include <string.h>

/* Instructions from these shares are coloured on a terminal. */
#define HOT_SHARE 0.10
#define WARM_SHARE 0.01

#define BYTES_ROOM 120 /* the bytes are shown on terminals at least this wide */

/* A row of the table: an instruction, or text for readers above it. */
struct annotate_row {
	enum annotate_row_kind { ROW_INSTRUCTION, ROW_INLINES, ROW_SOURCE, ROW_GAP } kind;
	uint32_t number; /* number of the line; of a gap: the number of lines left out */
};

struct annotate_rows {
	const struct annotate *of;
	VEC(struct annotate_row) rows;
	uint32_t cold; /* lines left out */
};

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* ---- rows ------------------------------------------------------------------ */

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

static bool same_source(const struct annotate_line *a, const struct annotate_line *b)
{
	return a && a->file && a->line == b->line && !strcmp(a->file, b->file);
}

static void add_row(struct annotate_rows *r, enum annotate_row_kind kind, uint32_t number)
{
	vec_push(&r->rows, (struct annotate_row){kind, number});
}

/* An instruction, below its source line and inlined functions if these change here. */
static void add_line(struct annotate_rows *r, uint32_t number, const struct annotate_line *before)
{
	const struct annotate_line *line = &r->of->lines.items[number];

	if (line->bytes && !same_inlines(r->of, before, line))
		add_row(r, ROW_INLINES, number);
	if (line->file && !same_source(before, line))
		add_row(r, ROW_SOURCE, number);
	add_row(r, ROW_INSTRUCTION, number);
}

static void add_gap(struct annotate_rows *r, uint32_t *left_out)
{
	if (*left_out)
		add_row(r, ROW_GAP, *left_out);
	r->cold += *left_out;
	*left_out = 0;
}

static void add_rows(struct annotate_rows *r, bool full)
{
	const struct annotate_line *before = NULL, *lines = r->of->lines.items;
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < r->of->lines.count; i++) {
		if (!full && !lines[i].hot) {
			left_out++;
			before = NULL;
			continue;
		}
		add_gap(r, &left_out);
		add_line(r, i, before);
		if (lines[i].bytes)
			before = &lines[i];
	}
	add_gap(r, &left_out);
}

static void rows_free(void *model)
{
	struct annotate_rows *r = model;

	vec_done(&r->rows);
	free(r);
}

static enum row_kind kind_of(const struct row_source *s, uint32_t row)
{
	const struct annotate_rows *r = s->model;
	const struct annotate_row *at = &r->rows.items[row];
	double share;

	if (at->kind != ROW_INSTRUCTION)
		return ROW_PART;
	share = share_of(r->of->lines.items[at->number].samples, r->of->samples);
	return share >= HOT_SHARE ? ROW_HOT : share >= WARM_SHARE ? ROW_WARM : ROW_ITEM;
}

/* ---- cells ----------------------------------------------------------------- */

/* "; inlined: inner at a.c:3, in outer at b.c:4", or the function itself after inlined code. */
static void put_inlines(const struct annotate *a, const struct annotate_line *line, struct buf *out)
{
	buf_addf(out, line->inlines ? "; inlined: " : "; in %s", a->symbol->name);
	for (uint32_t i = 0; i < line->inlines; i++) {
		const struct symbol_inline *in = &a->inlines.items[line->first_inline + i];

		buf_addf(out, "%s%s", i ? ", in " : "", in->name);
		if (in->call_file)
			buf_addf(out, " at %s:%d", base_name(in->call_file), in->call_line);
	}
}

/* Tabs become spaces. */
static void put_source(const struct annotate_line *line, struct buf *out)
{
	buf_addf(out, "%s:%d%s", base_name(line->file), line->line, line->source ? "  " : "");
	for (const char *at = line->source ? line->source : ""; *at; at++)
		if (*at == '\t')
			buf_pad(out, ' ', 4);
		else
			buf_putc(out, *at);
}

static const char *row_text(const struct annotate *a, const struct annotate_row *row,
                            struct buf *out)
{
	const struct annotate_line *line = &a->lines.items[row->number];

	if (row->kind == ROW_INSTRUCTION && !line->mark)
		return line->text;
	if (row->kind == ROW_INSTRUCTION)
		buf_addf(out, "%s  [%s]", line->text, line->mark);
	else if (row->kind == ROW_INLINES)
		put_inlines(a, line, out);
	else if (row->kind == ROW_SOURCE)
		put_source(line, out);
	else
		buf_addf(out, "... %" PRIu32 " instructions without samples", row->number);
	return buf_text(out);
}

enum annotate_cell {
	CELL_SHARE,
	CELL_SAMPLES,
	CELL_ADDRESS,
	CELL_BYTES,
	CELL_ASSEMBLY,
	CELL_FILE,
	CELL_LINE,
	CELL_SOURCE,
	CELL_PLAIN,
	CELL_MARK,
};

/* A function may have a million instructions: no printf for each byte. */
static struct cell bytes_of(const struct annotate_line *line, bool spaced, struct buf *text)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; line->bytes && i < line->size; i++) {
		const char byte[] = {' ', digits[line->bytes[i] >> 4], digits[line->bytes[i] & 15]};
		bool space = spaced && i;

		buf_add(text, byte + !space, 2 + space);
	}
	return cell_text(buf_text(text));
}

static struct cell text_or_none(const char *text)
{
	return text ? cell_text(text) : cell_none();
}

static struct cell line_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct annotate_rows *r = s->model;
	const struct annotate_row *at = &r->rows.items[row];
	const struct annotate_line *line = &r->of->lines.items[at->number];

	if (c->argument == CELL_ASSEMBLY)
		return cell_text(row_text(r->of, at, text));
	if (at->kind != ROW_INSTRUCTION)
		return cell_none();
	switch ((enum annotate_cell)c->argument) {
	case CELL_SHARE:
		return cell_real(share_of(line->samples, r->of->samples));
	case CELL_SAMPLES:
		return cell_int((int64_t)line->samples);
	case CELL_ADDRESS:
		return cell_int((int64_t)line->address);
	case CELL_BYTES:
		return bytes_of(line, true, text);
	case CELL_FILE:
		return text_or_none(line->file);
	case CELL_LINE:
		return line->line ? cell_int(line->line) : cell_none();
	case CELL_PLAIN:
		return cell_text(line->text);
	case CELL_MARK:
		return text_or_none(line->mark);
	default:
		return text_or_none(line->source);
	}
}

static const struct annotate_line *line_of(const struct row_source *s, uint32_t row)
{
	const struct annotate_rows *r = s->model;

	return &r->of->lines.items[r->rows.items[row].number];
}

static void code_json(const struct row_source *s, const struct column *c, uint32_t row,
                      struct json *j)
{
	const struct annotate_line *line = line_of(s, row);
	struct buf bytes = {0};

	json_kbool(j, "boundary", line->bytes != NULL);
	json_kstr(j, "bytes", bytes_of(line, false, &bytes).s);
	buf_done(&bytes);
}

static void source_json(const struct row_source *s, const struct column *c, uint32_t row,
                        struct json *j)
{
	const struct annotate *a = ((const struct annotate_rows *)s->model)->of;
	const struct annotate_line *line = line_of(s, row);

	json_kstr_or_null(j, "source", line->source);
	json_key(j, "inlined");
	json_array(j);
	for (uint32_t i = 0; i < line->inlines; i++) {
		const struct symbol_inline *in = &a->inlines.items[line->first_inline + i];

		json_object(j);
		json_kstr(j, "function", in->name);
		json_kstr_or_null(j, "call_file", in->call_file);
		json_ki64(j, "call_line", in->call_line);
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_share(const struct unit *unit, struct cell cell, struct buf *out)
{
	buf_addf(out, "%.2f %%", 100 * cell_number(cell));
}

/* Two decimals: the samples of a function are spread over many instructions. */
static const struct unit unit_fine_share = {.name = "share", .text = put_share};

#define GET(cell) .argument = cell, .get = line_cell

static const struct column columns[] = {
        {"share", "share", "share", &unit_fine_share, .blank_zero = true, GET(CELL_SHARE)},
        {"samples", "samples", "samples", &unit_count, .blank_zero = true, GET(CELL_SAMPLES)},
        {"address", "address", "address", &unit_hex, GET(CELL_ADDRESS)},
        {"bytes", "bytes", .unit = &unit_text, .room = BYTES_ROOM, .json = code_json,
         GET(CELL_BYTES)},
        {"assembly", "assembly", NULL, &unit_text, GET(CELL_ASSEMBLY)},
        {"plain", NULL, "assembly", &unit_text, GET(CELL_PLAIN)},
        {"mark", NULL, "mark", &unit_text, GET(CELL_MARK)},
        {"file", NULL, "file", &unit_text, GET(CELL_FILE)},
        {"line", NULL, "line", &unit_number, GET(CELL_LINE)},
        {"source", NULL, "source", &unit_text, .json = source_json, GET(CELL_SOURCE)},
};

/* ---- the document ---------------------------------------------------------- */

/* Adds a paragraph and frees `text`. */
static void paragraph(struct document *d, const char *label, struct buf *text)
{
	document_text(d, label, buf_text(text));
	buf_done(text);
}

static void marks(struct document *d, const struct annotate *a)
{
	struct buf text = {0};

	if (!a->marked)
		return;
	text_counted(&text, a->marked, "sample is", "samples are");
	buf_puts(&text, " at a line with a mark: the timer waited while interrupts were off. They "
	                "are of the code that ran before the line, in this function or in its "
	                "callers.");
	paragraph(d, NULL, &text);
}

static void heading(struct document *d, const struct annotate *a)
{
	struct buf text = {0};

	document_heading(d, "%s in %s", a->symbol->name, a->image);
	text_counted(&text, a->samples, "sample of ", "samples of ");
	buf_addf(&text, "%s, ", a->event);
	text_share(&text, share_of(a->samples, a->base_samples));
	buf_puts(&text, " of ");
	text_count(&text, a->base_samples);
	buf_addf(&text, "; code from %s", a->code_source);
	paragraph(d, NULL, &text);
	if (a->symbol->range)
		document_text(d, NULL,
		              "This file is stripped: this is all code between two dynamic "
		              "symbols, perhaps several functions.");
	if (a->left_out)
		document_text(d, NULL, a->left_out);
	marks(d, a);
	if (!a->inside)
		return;
	text_counted(&text, a->inside, "sample is", "samples are");
	buf_puts(&text, " not at an instruction's first byte: the code differs from the code that "
	                "ran, or it is data.");
	paragraph(d, NULL, &text);
}

static void facts(struct document *d, const struct annotate *a)
{
	struct buf start = {0};

	buf_addf(&start, "0x%" PRIx64, a->symbol->start);
	document_string(d, "function", a->symbol->name);
	document_string(d, "image", a->image);
	document_string(d, "event", a->event);
	document_string(d, "code", a->code_source);
	document_string(d, "start", buf_text(&start));
	document_int(d, "size", (int64_t)a->symbol->size);
	document_bool(d, "range", a->symbol->range);
	document_int(d, "samples", (int64_t)a->samples);
	document_int(d, "marked", (int64_t)a->marked);
	document_int(d, "inside_instruction", (int64_t)a->inside);
	document_int(d, "all_samples", (int64_t)a->base_samples);
	document_string_or_null(d, "left_out", a->left_out);
	buf_done(&start);
}

static void cold(struct document *d, const struct annotate_rows *r)
{
	struct buf text = {0};

	if (!r->cold)
		return;
	text_count(&text, r->cold);
	buf_puts(&text, " of ");
	text_count(&text, r->of->lines.count);
	buf_puts(&text, " instructions are left out: neither they nor their neighbours have "
	                "samples. --full prints all.");
	paragraph(d, "", &text);
}

void annotate_document_fill(struct document *d, const struct annotate *a, bool full,
                            const struct document_reader *reader)
{
	struct annotate_rows *r = xcalloc(1, sizeof(*r));
	struct row_source *s = row_source_new(r);
	const struct row_request all = {0};

	r->of = a;
	add_rows(r, full || reader->program);
	s->rows = (uint32_t)r->rows.count;
	s->row_kind = kind_of;
	s->free = rows_free;
	s->no_total = true;
	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	heading(d, a);
	facts(d, a);
	document_table(d, MEDIA_ALL, "", "instructions", row_set_new(s, &all));
	cold(d, r);
}
