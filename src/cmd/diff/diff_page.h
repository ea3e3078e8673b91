/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_page: the call paths of both sides, for the page of a comparison (--html).
 *
 * diff_page_init() fills `page`, which refers to the other fields; diff_page_done(). One thread.
 * Uses: output, view.
 */
#ifndef ASSAY_CMD_DIFF_DIFF_PAGE_H
#define ASSAY_CMD_DIFF_DIFF_PAGE_H

#include "output/html/page.h"
#include "view/diff/diff_runs.h"

struct diff_page {
	struct page page;
	struct page_stacks stacks[DIFF_SIDES];
	struct symbolized_profile named[DIFF_SIDES];
	struct buf title;
};

/* `rules`: for the groups of functions; NULL: none. */
void diff_page_init(struct diff_page *p, const struct diff_runs *runs, struct group_rules *rules);
void diff_page_done(struct diff_page *p);

#endif
