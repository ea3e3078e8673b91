/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile_document: the result of reconcile.h as a document. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_RECONCILE_RECONCILE_DOCUMENT_H
#define ASSAY_VIEW_RECONCILE_RECONCILE_DOCUMENT_H

#include "view/document/document.h"
#include "view/reconcile/reconcile.h"

/* `lines`: at most this many rows a table; 0: all. The result must outlive the document. */
void reconcile_document(struct document *out, const struct reconcile *r,
                        const struct document_reader *reader, size_t lines);

/* Parts: the tables (reconcile_rows.c). */
void reconcile_processes_table(struct document *out, const struct reconcile *r);
void reconcile_functions_table(struct document *out, const struct reconcile *r,
                               const struct document_reader *reader, size_t lines);

#endif
