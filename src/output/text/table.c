/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/text/table.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <string.h>

#define BAR_WIDTH 16
#define BAR_LEAST 4  /* shorter bars are left out */
#define NAME_ROOM 20 /* bars leave this room for the last column */
#define GAP 2
#define SQUEEZED 10 /* columns are not made narrower than this */

void table_init(struct table *t, const struct text_style *style)
{
	*t = (struct table){.style = style};
}

void table_done(struct table *t)
{
	buf_done(&t->texts);
	vec_done(&t->cells);
	vec_done(&t->columns);
	vec_done(&t->kinds);
	vec_done(&t->widths);
}

void table_column(struct table *t, const char *title, enum table_align align)
{
	struct table_column column = {title, align};

	if (align != TABLE_BAR || t->style->bars)
		vec_push(&t->columns, column);
}

/* Width on the screen: one place per character. */
static size_t text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void table_row(struct table *t, enum table_kind kind)
{
	while (t->cells.count < t->kinds.count * t->columns.count)
		table_text(t, "");
	vec_push(&t->kinds, kind);
}

void table_text(struct table *t, const char *text)
{
	struct table_cell cell = {.at = t->texts.size};

	text_clean(&t->texts, text);
	buf_putc(&t->texts, '\0');
	cell.width = text_width(t->texts.data + cell.at);
	vec_push(&t->cells, cell);
}

void table_bar(struct table *t, double share)
{
	struct buf text = {0};

	if (!t->style->bars)
		return;
	if (share > 0)
		buf_pad(&text, '*', (size_t)lround(fmin(share, 1) * BAR_WIDTH));
	table_text(t, buf_text(&text));
	buf_done(&text);
}

/* `width` is the width of the text. */
static void add_cut(struct buf *out, const char *text, size_t width, size_t room)
{
	size_t n = 0;

	if (width <= room) {
		buf_puts(out, text);
		return;
	}
	for (; *text; text++) {
		bool start = ((unsigned char)*text & 0xc0) != 0x80;

		if (start && n + 1 >= room)
			break;
		n += start;
		buf_putc(out, *text);
	}
	buf_putc(out, '~');
}

#define STEP " > "
#define GAP_OF_PATH "... > "

/* The longest end of a path, of whole names, with at most `room` characters; NULL: none. */
static const char *path_end(const char *text, size_t room)
{
	while (text_width(text) > room) {
		text = strstr(text, STEP);
		if (!text)
			return NULL;
		text += strlen(STEP);
	}
	return text;
}

/* "main > ... > sort > compare": the last functions are kept, and the first if there is room. */
static void add_cut_path(struct buf *out, const char *text, size_t width, size_t room)
{
	const char *first = strstr(text, STEP), *end = NULL;
	size_t head = first ? (size_t)(first - text) + strlen(STEP) : 0, gap = strlen(GAP_OF_PATH);

	if (width <= room) {
		buf_puts(out, text);
		return;
	}
	if (head && head <= room / 3 && room > head + gap)
		end = path_end(text + head, room - head - gap);
	if (end) {
		buf_add(out, text, head);
	} else {
		end = room > gap ? path_end(text, room - gap) : NULL;
	}
	if (end) {
		buf_addf(out, GAP_OF_PATH "%s", end);
		return;
	}
	end = text + strlen(text);
	for (size_t n = 0; end > text && n + 1 < room; n++)
		do
			end--;
		while (((unsigned char)*end & 0xc0) == 0x80);
	buf_addf(out, "~%s", end);
}

static void add_text(struct buf *out, const struct table_column *column, const char *text,
                     size_t width, size_t room)
{
	if (column->align == TABLE_PATH)
		add_cut_path(out, text, width, room);
	else
		add_cut(out, text, width, room);
}

/* NULL: the row ends before the column. */
static const struct table_cell *cell_at(const struct table *t, size_t row, size_t column)
{
	size_t i = row * t->columns.count + column;

	return i < t->cells.count ? &t->cells.items[i] : NULL;
}

/* The length of a bar in a narrower column; a bar that has a star keeps one. */
static size_t scaled_bar(size_t stars, size_t room)
{
	size_t scaled = (stars * room + BAR_WIDTH / 2) / BAR_WIDTH;

	return stars && room && !scaled ? 1 : scaled;
}

static void print_line(const struct table *t, const size_t *widths, const char *dress, bool titles,
                       size_t row, struct buf *out)
{
	size_t used = 0, columns = t->columns.count, start;

	buf_puts(out, dress);
	start = out->size;
	for (size_t c = 0; c < columns; c++) {
		const struct table_column *column = &t->columns.items[c];
		const struct table_cell *cell = titles ? NULL : cell_at(t, row, c);
		const char *text = cell ? t->texts.data + cell->at : titles ? column->title : "";
		size_t whole = cell ? cell->width : text_width(text);
		size_t width = whole < widths[c] ? whole : widths[c];
		bool dropped = column->align == TABLE_BAR && !widths[c];
		size_t gap = GAP * (c > 0 && !dropped);
		bool colour = t->style->colour && column->align == TABLE_BAR && width;

		if (column->align == TABLE_RIGHT)
			gap += widths[c] - width;
		buf_pad(out, ' ', gap);
		used += gap;
		if (colour)
			buf_puts(out, "\033[33m");
		if (cell && column->align == TABLE_BAR && widths[c] < BAR_WIDTH)
			buf_pad(out, '*', width = scaled_bar(whole, widths[c]));
		else if (c + 1 == columns && t->style->width)
			add_text(out, column, text, whole,
			         t->style->width > used + 8 ? t->style->width - used : 8);
		else
			add_text(out, column, text, whole, widths[c]);
		if (colour)
			buf_addf(out, "\033[0m%s", dress);
		used += width;
		if (column->align != TABLE_RIGHT && c + 1 < columns) {
			buf_pad(out, ' ', widths[c] - width);
			used += widths[c] - width;
		}
	}
	while (out->size > start && out->data[out->size - 1] == ' ')
		out->data[--out->size] = '\0';
	buf_puts(out, *dress ? "\033[0m\n" : "\n");
}

static const char *dress_of(const struct table *t, enum table_kind kind)
{
	static const char *const dresses[] = {[TABLE_ROW] = "",
	                                      [TABLE_WARM] = "\033[32m",
	                                      [TABLE_HOT] = "\033[31m",
	                                      [TABLE_REST] = "\033[2m",
	                                      [TABLE_TOTAL] = "\033[1m"};

	return t->style->colour ? dresses[kind] : "";
}

static bool has_titles(const struct table *t)
{
	vec_each (column, &t->columns)
		if (column->title[0])
			return true;
	return false;
}

static size_t *measure(const struct table *t)
{
	size_t *widths = xcalloc(t->columns.count + 1, sizeof(*widths));

	for (size_t c = 0; c < t->columns.count; c++) {
		widths[c] = text_width(t->columns.items[c].title);
		if (c < t->widths.count && t->widths.items[c] > widths[c])
			widths[c] = t->widths.items[c];
		if (t->columns.items[c].align == TABLE_BAR && widths[c] < BAR_WIDTH)
			widths[c] = BAR_WIDTH;
		for (size_t r = 0; r < t->kinds.count; r++) {
			const struct table_cell *cell = cell_at(t, r, c);

			if (cell && cell->width > widths[c])
				widths[c] = cell->width;
		}
	}
	return widths;
}

/* Takes width from the widest text column until a line fits. */
static void squeeze(const struct table *t, size_t *widths)
{
	size_t columns = t->columns.count, all = columns ? GAP * (columns - 1) : 0;

	for (size_t c = 0; c < columns; c++)
		all += widths[c];
	while (all > t->style->width) {
		size_t widest = columns;

		for (size_t c = 0; c < columns; c++)
			if ((t->columns.items[c].align == TABLE_LEFT ||
			     t->columns.items[c].align == TABLE_PATH) &&
			    widths[c] > SQUEEZED &&
			    (widest == columns || widths[c] > widths[widest]))
				widest = c;
		if (widest == columns)
			return;
		widths[widest]--;
		all--;
	}
}

/* Takes width from bars until the last column has room for a name. */
static void shorten_bars(const struct table *t, size_t *widths)
{
	size_t columns = t->columns.count, all = columns ? GAP * (columns - 1) : 0, over;

	for (size_t c = 0; c < columns; c++)
		all += c + 1 == columns && widths[c] > NAME_ROOM ? NAME_ROOM : widths[c];
	for (size_t c = 0; c < columns && all > t->style->width; c++) {
		if (t->columns.items[c].align != TABLE_BAR)
			continue;
		over = all - t->style->width;
		over = widths[c] < over + BAR_LEAST ? widths[c] : over;
		widths[c] -= over;
		all -= over;
	}
}

static size_t *widths_of(const struct table *t)
{
	size_t *widths = measure(t);

	if (t->style->width)
		shorten_bars(t, widths);

	if (t->squeezed && t->style->width)
		squeeze(t, widths);
	return widths;
}

static void print_lines(const struct table *t, const size_t *widths, struct buf *out)
{
	if (has_titles(t) && !t->widths.count)
		print_line(t, widths, dress_of(t, TABLE_REST), true, 0, out);
	for (size_t r = 0; r < t->kinds.count; r++)
		print_line(t, widths, dress_of(t, t->kinds.items[r]), false, r, out);
}

void table_print(const struct table *t, struct buf *out)
{
	size_t *widths = widths_of(t);

	print_lines(t, widths, out);
	free(widths);
}

void table_flush(struct table *t, struct buf *out)
{
	size_t *widths = widths_of(t);

	print_lines(t, widths, out);
	t->texts.size = t->cells.count = t->kinds.count = 0;
	t->widths.count = 0;
	for (size_t c = 0; c < t->columns.count; c++)
		vec_push(&t->widths, widths[c]);
	free(widths);
}
