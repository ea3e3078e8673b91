/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_report_text: the report on named call paths as text: the file's metadata, whether the
 * figures add up, tables, and the information that is missing from the file. The output is plain
 * and stable if there is no terminal. Appends to a buf; nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_SYMBOLIZED_SYMBOLIZED_REPORT_TEXT_H
#define ASSAY_OUTPUT_SYMBOLIZED_SYMBOLIZED_REPORT_TEXT_H

#include "output/text/table.h"
#include "view/symbolized/symbolized_report.h"

struct symbolized_report_text_options {
	struct text_style style;
	bool wide;        /* complete paths, and every file with its build-id */
	const char *path; /* of the profile */
};

void symbolized_report_text(struct symbolized_report *r,
                            const struct symbolized_report_text_options *o, struct buf *out);

/* Appends "1.234 s", "12.3 MB", "1,234 objects", by the value's unit. */
void symbolized_report_text_value(const struct named_value *v, int64_t value, struct buf *out);

/* The tables (symbolized_report_text_tables.c). */
void symbolized_report_text_sums(struct symbolized_sums *s, const struct symbolized_report *r,
                                 const struct symbolized_report_text_options *o, struct buf *out);
void symbolized_report_text_tree(const struct symbolized_report *r,
                                 const struct symbolized_report_text_options *o, struct buf *out);

#endif
