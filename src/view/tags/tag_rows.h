/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_rows: the tables of a report on event tags.
 *
 * The report and the groups must outlive the rows. Nothing fails. Uses: base, tags, view.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_ROWS_H
#define ASSAY_VIEW_TAGS_TAG_ROWS_H

#include "view/tags/tag_groups.h"

/* Rows of r->functions. */
struct row_set *tag_rows_functions(const struct tag_report *r);
/* Rows of r->inlines, most frequent first. */
struct row_set *tag_rows_inlines(const struct tag_report *r);
/* `empty`: groups without functions and times, too. */
struct row_set *tag_rows_groups(const struct tag_report *r, const struct tag_groups *g, bool empty);

/* Appends the name of a function, with its program if several programs have it. */
void tag_row_name(const struct tag_row *row, struct buf *out);

#endif
