/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wrap: breaks a text at spaces, so that lines end by column 80.
 * Uses: base.
 */
#ifndef ASSAY_CMD_CLI_WRAP_H
#define ASSAY_CMD_CLI_WRAP_H

#include "base/memory/buf.h"

/*
 * Adds `text` to a line that stands at `column`; lines that follow begin at
 * `indent`. A comma ends a word too, so that lists of choices wrap. No newline
 * at the end.
 */
void wrap_text(struct buf *b, const char *text, size_t column, size_t indent);

#endif
