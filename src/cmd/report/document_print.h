/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * document_print: prints a document to standard output, as the options of a command say. Uses: cmd,
 * output, view.
 */
#ifndef ASSAY_CMD_REPORT_DOCUMENT_PRINT_H
#define ASSAY_CMD_REPORT_DOCUMENT_PRINT_H

#include "cmd/cli/style.h"
#include "view/document/document.h"

void document_print(const struct document *d, const struct document_reader *reader, bool nested,
                    const struct style_options *style);

#endif
