/* SPDX-License-Identifier: GPL-2.0-or-later */
/* canvas_lines: the lines of a canvas as text, for tests. */
#ifndef ASSAY_TESTS_CANVAS_LINES_H
#define ASSAY_TESTS_CANVAS_LINES_H

#include "check.h"
#include "tui/canvas.h"

static inline void check_line(const struct canvas *c, unsigned line, const char *want)
{
	struct buf got = {0};

	canvas_line_text(c, line, &got);
	CHECK_STR(buf_text(&got), want);
	buf_done(&got);
}

/* The line that is selected; height: none. */
static inline unsigned selected_line(const struct canvas *c)
{
	unsigned line = 0;

	while (line < c->height && c->lines[line].over != CANVAS_SELECTED)
		line++;
	return line;
}

#endif
