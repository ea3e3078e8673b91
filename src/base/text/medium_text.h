/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * medium_text: foreign text (names of processes, functions, files; values of a database) in each
 * medium that assay writes. One table has the rules of all media; docs/SECURITY.md lists them.
 *
 * These characters are escaped in every medium: controls below 0x20, DEL, C1 controls (U+0080 to
 * U+009F), characters that change the direction of text or are invisible (medium_text_is_hidden()),
 * and bytes that are not UTF-8. In JSON the escape has the value of the character; in the other
 * media the reader gets the escape as text: `\x1b`, `\u202e`, `\U000e0001`. Bytes that are not
 * UTF-8 are
 * `\xff`, and U+FFFD in JSON.
 *
 * No state. No function fails. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_TEXT_MEDIUM_TEXT_H
#define ASSAY_BASE_TEXT_MEDIUM_TEXT_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum text_medium {
	MEDIUM_FIELD,    /* one field of a line of text */
	MEDIUM_LINES,    /* lines that assay composed, with its own colours; see plain_text.h */
	MEDIUM_JSON,     /* between the quotes of a string */
	MEDIUM_CSV,      /* between the quotes of a field */
	MEDIUM_MARKDOWN, /* in a line or a cell of a table */
	MEDIUM_LABEL,    /* between the quotes of a label's value in metrics of Prometheus */
};

void medium_text_add(struct buf *out, enum text_medium medium, const char *text, size_t bytes);

/*
 * Appends a field of CSV, with quotes if it needs them or if `quoted`. A text that a spreadsheet
 * would take as a formula (it begins with = + - @ or a tab), or that begins with ', gets a leading
 * '. A reader who removes one leading ' has the text.
 */
void medium_csv_field(struct buf *out, const char *text, size_t bytes, bool quoted);

/* Characters without a shape of their own: directions of text, zero widths, tags. */
bool medium_text_is_hidden(uint32_t code);

#endif
