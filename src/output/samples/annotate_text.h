/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate_text: an annotated function as text. The output is plain and stable if there is no
 * terminal. Prints the hot lines, or all lines with `full`, and the number of lines left out.
 * Appends to a buf; nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_SAMPLES_ANNOTATE_TEXT_H
#define ASSAY_OUTPUT_SAMPLES_ANNOTATE_TEXT_H

#include "output/text/table.h"
#include "view/annotate/annotate.h"

void annotate_text(const struct annotate *a, const struct text_style *style, bool full,
                   struct buf *out);

#endif
