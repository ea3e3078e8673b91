/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scroll: the selected line of a list, and the part of the list that is on the screen.
 *
 * A new struct is all zeros. Lines count from 0. After scroll_fit() the selected line exists, if
 * the list is not empty, and is on the screen. No function fails. One thread. Uses: nothing.
 */
#ifndef ASSAY_TUI_SCROLL_H
#define ASSAY_TUI_SCROLL_H

#include <stdbool.h>
#include <stddef.h>

struct scroll {
	size_t count; /* lines of the list */
	size_t page;  /* lines on the screen */
	size_t at;    /* the selected line */
	size_t top;   /* the first line on the screen */
};

/* The lines of the list that are on the screen. */
#define scroll_each(at, s)                                                                         \
	for (size_t at = (s)->top; at < (s)->top + (s)->page && at < (s)->count; at++)

/* The list or the screen changed. */
void scroll_fit(struct scroll *s, size_t count, size_t page);
/* Selects a line; beyond an end the last or the first line. */
void scroll_to(struct scroll *s, size_t line);
void scroll_by(struct scroll *s, long lines);
/* Moves the screen and keeps the selected line if it stays on the screen. */
void scroll_view(struct scroll *s, long lines);

#endif
