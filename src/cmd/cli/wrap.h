/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wrap: breaks a text at spaces into lines of at most 80 columns. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_WRAP_H
#define ASSAY_CMD_CLI_WRAP_H

#include "base/memory/buf.h"

/*
 * Adds `text` to a line at `column`; following lines begin at `indent`. A line may also break
 * after a comma, so that lists of choices wrap. Adds no newline at the end.
 */
void wrap_text(struct buf *b, const char *text, size_t column, size_t indent);

#endif
