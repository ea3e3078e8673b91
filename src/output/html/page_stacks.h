/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_stacks: call paths as data of a page: a tree of functions, a row for each path and thread,
 * and the row of each sample in the order of time.
 *
 * Inlined functions are nodes of their own. Places of one function below the same caller are one
 * node. Rows with the most samples in the order of time come first, since small numbers need fewer
 * bytes. Nothing fails. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_STACKS_H
#define ASSAY_OUTPUT_HTML_PAGE_STACKS_H

#include "output/html/page.h"
#include "output/html/page_blob.h"

/* Writes null for NULL. */
void page_stacks_write(struct page_blob *b, const char *key, const struct page_stacks *s);

#endif
