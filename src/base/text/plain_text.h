/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain_text: makes text from files, processes and arguments safe for a terminal.
 *
 * A name must not move the cursor, change colours, set a title, begin a new line, or change the
 * order of the characters that the reader sees. medium_text.h lists the characters that are
 * escaped; these are its rules for a field and for lines. No state. No function fails. Any thread.
 * Uses: base.
 */
#ifndef ASSAY_BASE_TEXT_PLAIN_TEXT_H
#define ASSAY_BASE_TEXT_PLAIN_TEXT_H

#include "base/memory/buf.h"

/*
 * Appends one field of a line: a line feed, a carriage return and a tab become `
 * `, `\r` and `\t`.
 */
void plain_text_add(struct buf *out, const char *text, size_t bytes);

/*
 * Appends whole lines that assay composed: line feeds, tabs and the sequences that assay uses for
 * bold, faint and coloured text are kept. Each field of foreign text in the lines must have been
 * added by plain_text_add(); this function escapes the bytes that were missed.
 */
void plain_text_lines(struct buf *out, const char *text, size_t bytes);

#endif
