/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wrap: breaks a text at spaces into lines. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_WRAP_H
#define ASSAY_CMD_CLI_WRAP_H

#include "base/memory/buf.h"

/*
 * Adds `text` to a line of 80 columns at `column`; following lines begin at `indent`. A line may
 * also break after a comma, so that lists of choices wrap. Adds no newline at the end.
 */
void wrap_text(struct buf *b, const char *text, size_t column, size_t indent);

/*
 * The same for messages and any width: following lines begin at `column`, too. Spaces are kept, and
 * text in single quotes, such as a command, is not broken.
 */
void wrap_message(struct buf *b, const char *text, size_t column, size_t width);

#endif
