/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_document: a document as data of a page: the sections for readers, with the texts of all
 * cells and the numbers that they stand for.
 *
 * Tables and trees have at most PAGE_ROWS rows; the rest of a table is summed up in its line.
 * Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_DOCUMENT_H
#define ASSAY_OUTPUT_HTML_PAGE_DOCUMENT_H

#include "output/html/page.h"
#include "output/html/page_blob.h"
#include "view/document/document.h"

/* Writes the document as the value of `key`. */
void page_document_write(struct page_blob *b, const char *key, const struct document *d);

#endif
