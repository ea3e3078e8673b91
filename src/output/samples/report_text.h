/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_text: the report as text. The output is plain and stable if there is no terminal; the
 * style selects colour, bars and the terminal's width. Appends to a buf; nothing fails. Uses: base,
 * view.
 */
#ifndef ASSAY_OUTPUT_SAMPLES_REPORT_TEXT_H
#define ASSAY_OUTPUT_SAMPLES_REPORT_TEXT_H

#include "output/text/table.h"
#include "view/samples/report.h"

/* Rows below this share are summed, unless --percent-limit is given. */
#define REPORT_TEXT_LIMIT 0.01

struct report_text_options {
	struct text_style style;
	bool wide; /* 95 % intervals as columns, complete paths of images, every CPU */
};

void report_text(struct report *r, const struct report_text_options *options, struct buf *out);

/* The parts, each with a heading (report_text_account.c, _rates.c, _tables.c). */
void report_text_account(const struct report *r, const struct report_text_options *o,
                         struct buf *out);
/* The rates if they changed, the buffers if they were too full. */
void report_text_rates(const struct report *r, const struct report_text_options *o,
                       struct buf *out);
/* Appends one sentence; false: there was no budget. */
bool report_text_budget(const struct recording *rec, struct buf *out);
void report_text_processes(const struct report *r, const struct report_text_options *o,
                           struct buf *out);
void report_text_flat(struct flat *f, const struct report *r, const struct report_text_options *o,
                      struct buf *out);
void report_text_tree(const struct report *r, const struct report_text_options *o, struct buf *out);

#endif
