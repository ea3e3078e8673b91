/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_report_text: the report on named call paths as text: the file's metadata, whether the
 * figures add up, tables, and the information that is missing from the file. The output is plain
 * and stable if there is no terminal. Appends to a buf; nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_NAMED_NAMED_REPORT_TEXT_H
#define ASSAY_OUTPUT_NAMED_NAMED_REPORT_TEXT_H

#include "output/text/table.h"
#include "view/named/named_report.h"

struct named_report_text_options {
	struct text_style style;
	bool wide;        /* complete paths, and every file with its build-id */
	const char *path; /* of the profile */
};

void named_report_text(struct named_report *r, const struct named_report_text_options *o,
                       struct buf *out);

/* Appends "1.234 s", "12.3 MB", "1,234 objects", by the value's unit. */
void named_report_text_value(const struct named_value *v, int64_t value, struct buf *out);

/* The tables (named_report_text_tables.c). */
void named_report_text_sums(struct named_sums *s, const struct named_report *r,
                            const struct named_report_text_options *o, struct buf *out);
void named_report_text_tree(const struct named_report *r, const struct named_report_text_options *o,
                            struct buf *out);

#endif
