/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * display_width: the number of columns that text takes on a terminal.
 *
 * Wide characters (CJK, most emoji) take two columns, combining characters none, all others one.
 * The text must be free of controls (base/text/plain_text.h). No state, no locale. No function
 * fails. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_TEXT_DISPLAY_WIDTH_H
#define ASSAY_BASE_TEXT_DISPLAY_WIDTH_H

#include <stddef.h>

size_t display_width(const char *text);

/*
 * The bytes of the longest beginning of the text that takes at most `room` columns; *used: its
 * columns. Combining characters stay with the character before them.
 */
size_t display_fit(const char *text, size_t room, size_t *used);

#endif
