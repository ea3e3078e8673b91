/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain_text: text from files, processes and arguments, made safe for a terminal.
 *
 * A name must not move the cursor, change colours, set a title or begin a line of its own. These
 * bytes are written as `\x1b`: controls below 0x20, DEL, the controls of C1 (U+0080 to U+009F, by
 * their number), and bytes that are no UTF-8, such as those of a name that was cut inside of a
 * character. Nothing is held. Nothing fails. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_TEXT_PLAIN_TEXT_H
#define ASSAY_BASE_TEXT_PLAIN_TEXT_H

#include "base/memory/buf.h"

/* One field of a line: a line feed, a carriage return and a tab become `\n`, `\r` and `\t`. */
void plain_text_add(struct buf *out, const char *text, size_t bytes);

/*
 * Whole lines that assay composed: line feeds and tabs stay, and the sequences by which assay
 * itself makes text bold, faint or coloured. Fields of foreign text in them went through
 * plain_text_add(); this catches what did not.
 */
void plain_text_lines(struct buf *out, const char *text, size_t bytes);

#endif
