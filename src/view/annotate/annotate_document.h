/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate_document: the instructions of a function as a document. docs/FORMAT.md describes the
 * keys. Nothing fails. Uses: base, symbol, view.
 */
#ifndef ASSAY_VIEW_ANNOTATE_ANNOTATE_DOCUMENT_H
#define ASSAY_VIEW_ANNOTATE_ANNOTATE_DOCUMENT_H

#include "view/annotate/annotate.h"
#include "view/document/document.h"

/* `a` must outlive the document. `full`: readers get all instructions. */
void annotate_document_fill(struct document *d, const struct annotate *a, bool full,
                            const struct document_reader *reader);

#endif
