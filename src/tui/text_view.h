/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_view: lines of text on the screen, scrolled and filtered.
 *
 * A new struct is all zeros. text_view_show() copies the text and keeps the position. No function
 * fails. One thread. Uses: base, tui.
 */
#ifndef ASSAY_TUI_TEXT_VIEW_H
#define ASSAY_TUI_TEXT_VIEW_H

#include "tui/canvas.h"
#include "tui/line_filter.h"
#include "tui/scroll.h"

struct text_view {
	struct buf text; /* each line ends with a 0 */
	struct line_filter filter;
	struct scroll scroll; /* no line is selected: the first line on the screen counts */
	VEC(size_t) lines;    /* begins of the lines that match the filter */
};

void text_view_show(struct text_view *v, const char *text);
void text_view_done(struct text_view *v);
int text_view_filter(struct text_view *v, const char *text, struct error *err);
void text_view_move(struct text_view *v, long lines);
void text_view_draw(struct text_view *v, struct canvas *c, unsigned line, unsigned lines);

#endif
