/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intervals_document: the time between samples as a document (docs/FORMAT.md describes the keys).
 * Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_CONFIDENCE_INTERVALS_DOCUMENT_H
#define ASSAY_VIEW_CONFIDENCE_INTERVALS_DOCUMENT_H

#include "view/confidence/intervals.h"
#include "view/document/document.h"

/* `v` must outlive the document. */
void intervals_document_fill(struct document *d, struct intervals *v);

#endif
