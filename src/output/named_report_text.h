/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_report_text: the report on named call paths for people: what the file says of itself,
 * whether the figures add up, tables, and what the file does not tell. Plain and stable without a
 * terminal. Appends to a buf. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_NAMED_REPORT_TEXT_H
#define ASSAY_OUTPUT_NAMED_REPORT_TEXT_H

#include "output/table.h"
#include "view/named_report.h"

struct named_report_text_options {
	struct text_style style;
	bool wide;        /* whole paths, every file with its build-id */
	const char *path; /* of the profile */
};

void named_report_text(struct named_report *r, const struct named_report_text_options *o,
                       struct buf *out);

/* "1.234 s", "12.3 MB", "1,234 objects": by its unit; appended. */
void named_report_text_value(const struct named_value *v, int64_t value, struct buf *out);

/* The tables (named_report_text_tables.c). */
void named_report_text_sums(struct named_sums *s, const struct named_report *r,
                            const struct named_report_text_options *o, struct buf *out);
void named_report_text_tree(const struct named_report *r, const struct named_report_text_options *o,
                            struct buf *out);

#endif
