/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_print: one interval of `assay top --batch` on standard output, at once: text, Markdown, or a
 * line of JSON with the keys of 'assay report --json'. Errors are stored in `failed`. Uses:
 * cmd/cli, view.
 */
#ifndef ASSAY_CMD_TOP_TOP_PRINT_H
#define ASSAY_CMD_TOP_TOP_PRINT_H

#include "cmd/cli/style.h"
#include "cmd/top/sample_pages.h"

void top_print(const struct sample_pages *pages, const struct style_options *style,
               struct error *failed);

#endif
