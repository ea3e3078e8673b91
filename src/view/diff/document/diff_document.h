/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_document: a comparison as a document (docs/FORMAT.md describes the keys). Nothing fails.
 * Uses: base, view.
 */
#ifndef ASSAY_VIEW_DIFF_DOCUMENT_DIFF_DOCUMENT_H
#define ASSAY_VIEW_DIFF_DOCUMENT_DIFF_DOCUMENT_H

#include "view/diff/diff.h"
#include "view/document/document.h"

/* The columns by which the tables can be sorted, as for --sort. */
#define DIFF_ORDERS "size,before,after,change,low,high,q,image,function"

/*
 * `d` must outlive the document. `q`: the columns of the order, then the size of the change;
 * at most `lines` rows of a table, 0: all.
 */
void diff_document(struct document *out, const struct diff *d, const struct document_reader *reader,
                   const struct row_request *q);

/* Appends "+12.3 %", "x 3.4", "new"; 0: "gone". */
void diff_ratio_text(double ratio, struct buf *out);

#endif
