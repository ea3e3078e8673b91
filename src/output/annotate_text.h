/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate_text: an annotated function for people. Plain and stable without a
 * terminal. Prints the hot lines, or with `full` all; says how many it leaves out.
 * Appends to a buf. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_ANNOTATE_TEXT_H
#define ASSAY_OUTPUT_ANNOTATE_TEXT_H

#include "output/table.h"
#include "view/annotate.h"

void annotate_text(const struct annotate *a, const struct text_style *style, bool full,
                   struct buf *out);

#endif
