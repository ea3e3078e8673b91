/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * canvas: the contents of the screen as styled text, before a terminal shows it.
 *
 * Each line is filled from left to right. Every text is a single field: bytes that could act on a
 * terminal are escaped (base/text/plain_text.h), and text beyond its room is cut, with a '~' at
 * its end. Lines below the screen are ignored.
 *
 *	canvas_init(c, 80, 24)
 *	canvas_add(c, 0, CANVAS_BOLD, "Functions", 20); canvas_move(c, 0, 22); ...
 *	canvas_done(c)
 *
 * Sizes are columns and lines. No function fails. One thread. Uses: base.
 */
#ifndef ASSAY_TUI_CANVAS_H
#define ASSAY_TUI_CANVAS_H

#include "base/memory/buf.h"
#include "base/memory/vec.h"

#include <stdbool.h>

enum canvas_style {
	CANVAS_PLAIN,
	CANVAS_DIM,
	CANVAS_BOLD,
	CANVAS_WARM,     /* a row that matters */
	CANVAS_HOT,      /* a row that matters more */
	CANVAS_HEADER,   /* titles of columns */
	CANVAS_TAB,      /* the table that is shown */
	CANVAS_SELECTED, /* the selected line */
	CANVAS_STYLES,
};

struct canvas_span {
	unsigned column, width;
	enum canvas_style style;
	size_t at, bytes; /* in `texts` */
};

struct canvas_line {
	VEC(struct canvas_span) spans;
	unsigned used;          /* columns */
	enum canvas_style over; /* of the whole line, in place of the styles of its spans */
};

struct canvas {
	unsigned width, height;
	struct buf texts, scratch;
	struct canvas_line *lines;
	int cursor_column, cursor_line; /* -1: not shown */
};

void canvas_init(struct canvas *c, unsigned width, unsigned height);
void canvas_done(struct canvas *c);

/* The text of a field, as it can be shown. */
void canvas_clean(struct buf *out, const char *text);

/* Appends a text to the line; at most `room` columns. */
void canvas_add(struct canvas *c, unsigned line, enum canvas_style style, const char *text,
                unsigned room);
/* The same, aligned to the right in `room` columns. */
void canvas_add_right(struct canvas *c, unsigned line, enum canvas_style style, const char *text,
                      unsigned room);
/* The next text begins at that column, if the line is not longer already. */
void canvas_move(struct canvas *c, unsigned line, unsigned column);
/* The style of the line up to the right edge. */
void canvas_over(struct canvas *c, unsigned line, enum canvas_style style);
void canvas_cursor(struct canvas *c, unsigned line, unsigned column);

/* Appends the line as plain text, without blanks at its end: for tests. */
void canvas_line_text(const struct canvas *c, unsigned line, struct buf *out);

#endif
