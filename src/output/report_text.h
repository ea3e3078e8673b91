/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_text: the report for people. Plain and stable without a terminal;
 * colour, bars and the terminal's width where the style says so. Appends to a
 * buf. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_REPORT_TEXT_H
#define ASSAY_OUTPUT_REPORT_TEXT_H

#include "output/table.h"
#include "view/report.h"

/* Rows below this share are summed up unless --percent-limit says otherwise. */
#define REPORT_TEXT_LIMIT 0.01

struct report_text_options {
	struct text_style style;
	bool wide; /* 95 % intervals as columns, whole paths of images, every CPU */
};

void report_text(struct report *r, const struct report_text_options *options, struct buf *out);

/* The parts, each under its heading (report_text_account.c, _rates.c, _tables.c). */
void report_text_account(const struct report *r, const struct report_text_options *o,
                         struct buf *out);
/* Rates where they changed, buffers where they were short. */
void report_text_rates(const struct report *r, const struct report_text_options *o,
                       struct buf *out);
/* One sentence; false: there was no budget. */
bool report_text_budget(const struct recording *rec, struct buf *out);
void report_text_processes(const struct report *r, const struct report_text_options *o,
                           struct buf *out);
void report_text_flat(struct flat *f, const struct report *r, const struct report_text_options *o,
                      struct buf *out);
void report_text_tree(const struct report *r, const struct report_text_options *o, struct buf *out);

#endif
