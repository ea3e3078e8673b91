/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_pages: the pages of a sampled profile on the screen (tui/browser.h): reports, call trees,
 * callers, callees and annotated functions, each as a document. Each table and each tree of a
 * document is a tab (tui/screen_page.h).
 *
 * A document refers to the profile and to the symbolizer: free it before the profile changes.
 * Plain data; the caller owns what it points to. One thread. Uses: profile, symbol, view, tui.
 */
#ifndef ASSAY_CMD_TOP_SAMPLE_PAGES_H
#define ASSAY_CMD_TOP_SAMPLE_PAGES_H

#include "tui/browser.h"
#include "view/samples/report.h"

struct sample_pages {
	const struct profile *profile;
	struct symbolizer *symbols;
	struct report_request request; /* filters, event, keys and tree of the first page */
	bool waits;                    /* waits are recorded */
	bool brief;                    /* the first page has no summary */
};

int sample_pages_make(const struct sample_pages *p, enum page_about about,
                      const struct screen_page_row *row, struct screen_page_document *made,
                      struct error *err);

/* Appends the first lines: what was recorded, and the account in a line for narrow screens and in
 * one for wide screens. */
void sample_pages_head(const struct screen_page_document *made, struct buf *whole,
                       struct buf *narrow, struct buf *wide);
/* The report of a document of sample_pages_make(); NULL: it is an annotated function. */
const struct report *sample_pages_report(const struct screen_page_document *made);

#endif
