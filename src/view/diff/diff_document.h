/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_document: a comparison as a document (docs/FORMAT.md describes the keys). Nothing fails.
 * Uses: base, view.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_DOCUMENT_H
#define ASSAY_VIEW_DIFF_DIFF_DOCUMENT_H

#include "view/diff/diff.h"
#include "view/document/document.h"

/* `d` must outlive the document. lines: at most this many rows of a table; 0: all. */
void diff_document(struct document *out, const struct diff *d, const struct document_reader *reader,
                   size_t lines);

/* Appends "+12.3 %", "x 3.4", "new"; 0: "gone". */
void diff_ratio_text(double ratio, struct buf *out);

#endif
