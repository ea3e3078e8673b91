/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_rows: the columns and cells of tables and trees as data of a page. Each column is a list of
 * texts, as readers get them, and an array of numbers. Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_ROWS_H
#define ASSAY_OUTPUT_HTML_PAGE_ROWS_H

#include "output/html/page_blob.h"
#include "view/document/document.h"

/* Keys of an object: the columns, the cells, and the lines below the rows. `rows` at most. */
void page_table_write(struct page_blob *b, struct row_set *r, size_t rows);
/* The last column has the names of the nodes. */
void page_tree_write(struct page_blob *b, const struct section *s, size_t rows);

#endif
