/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff_rows: the tables of a comparison. Nothing fails. Uses: base, view. */
#ifndef ASSAY_VIEW_DIFF_DOCUMENT_DIFF_ROWS_H
#define ASSAY_VIEW_DIFF_DOCUMENT_DIFF_ROWS_H

#include "view/diff/diff.h"
#include "view/document/document.h"

enum diff_list {
	DIFF_LIST_CHANGED,
	DIFF_LIST_MOVED,
	DIFF_LIST_NEW,
	DIFF_LIST_GONE,
	DIFF_LIST_PATHS,
	DIFF_LIST_ALL, /* all tested rows */
};

size_t diff_rows_count(const struct diff *d, enum diff_list list);

/* Readers get no empty table, programs get an empty list. */
void diff_rows_table(struct document *out, const struct diff *d, enum diff_list list,
                     const char *title, const char *key, const struct document_reader *reader,
                     const struct row_request *q);

/* Of values per unit of work. */
const struct unit *diff_value_unit(const struct diff *d);

/* Appends "+3.1 to +8.0 %". */
void diff_interval_text(const struct diff_estimate *e, struct buf *out);

#endif
