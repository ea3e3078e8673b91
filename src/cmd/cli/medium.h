/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * medium: prints a document to standard output, as the options of a command say: text, JSON, or
 * another medium. A new medium needs its option and a line in medium.c. Uses: cmd/cli, output,
 * view.
 */
#ifndef ASSAY_CMD_CLI_MEDIUM_H
#define ASSAY_CMD_CLI_MEDIUM_H

#include "cmd/cli/style.h"
#include "view/document/document.h"

/* For a struct style_options: --markdown, --color. Each command has its own --json, since the help
 * describes the keys. */
extern const struct option medium_option_table[];

void medium_print(const struct document *d, const struct document_reader *reader,
                  const struct style_options *style);

/* Appends the same to `out`, with lines of any length, and prints nothing. */
void medium_text(const struct document *d, const struct document_reader *reader,
                 const struct style_options *style, struct buf *out);

#endif
