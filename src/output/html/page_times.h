/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_times: the samples in the order of time as data of a page: columns of time, row, CPU, number
 * and weight.
 *
 * Times are rounded down to a step that is small against the mean distance of two samples, since
 * exact times would need more bytes; the order and the sums stay exact. If there are more than
 * PAGE_ENTRIES, the step is longer, and the samples of a row and CPU in one step are one entry, so
 * that the size of a page is bounded. Nothing fails. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_TIMES_H
#define ASSAY_OUTPUT_HTML_PAGE_TIMES_H

#include "output/html/page_blob.h"
#include "output/html/page_model.h"

/* Sorts the rows of the model: those that samples are in most often come first. */
void page_times_sort(struct page_model *m);
/* Writes null if the profile has no times. */
void page_times_write(struct page_blob *b, const char *key, const struct page_model *m);

#endif
