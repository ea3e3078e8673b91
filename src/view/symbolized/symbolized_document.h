/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_document: the report on a symbolized profile as a document.
 *
 * The document refers to the report, which must outlive it. `path` is the file's; `left` has
 * sentences about parts of the file that were not read, one per line. Nothing fails. Uses: base,
 * profile, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_DOCUMENT_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_DOCUMENT_H

#include "view/document/document.h"
#include "view/symbolized/symbolized_report.h"

void symbolized_document(struct document *d, struct symbolized_report *r,
                         const struct document_reader *reader, const char *path, const char *left);

/* The rows of a table of sums (symbolized_rows.c); `sums` must outlive them. */
struct row_set *symbolized_rows(struct symbolized_sums *sums, const struct symbolized_report *r,
                                const struct document_reader *reader);

#endif
