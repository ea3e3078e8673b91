/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_page: the parts of a page (--html) that a report has besides its document: call paths, and
 * the code of the functions with the most samples.
 *
 * A zeroed struct report_page is empty. A function for the kind of the recording fills `page`,
 * which refers to the other fields; report_page_done(). One thread. Uses: output, view.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_PAGE_H
#define ASSAY_CMD_REPORT_REPORT_PAGE_H

#include "output/html/page.h"
#include "view/annotate/annotate.h"
#include "view/samples/report.h"

struct report_page {
	struct page page;
	struct page_stacks stacks;
	struct symbolized_profile named;
	bool has_named; /* `named` is initialized */
	struct page_lanes lanes;
	bool has_lanes; /* likewise */
	struct page_waits waits;
	bool has_waits; /* likewise */
	struct group_rules *rules;
	uint32_t *row_of; /* by row of the profile */
	VEC(struct page_code) code;
	VEC(struct annotate *) annotated;
};

/* `title` if the request does not name files. The rules are those of the request, else those of
 * assay. */
int report_page_begin(struct report_page *p, const char *kind, const char *title,
                      const struct report_request *q, struct error *err);
/* Call paths that the caller fills in. */
struct symbolized_profile *report_page_named(struct report_page *p);
/* The calls of each thread over time, which the caller fills in. */
struct page_lanes *report_page_lanes(struct report_page *p);
/* Why threads waited, if the recording says so: the threads are those of `assay waits` with the
 * same filters. Before report_page_samples(), whose lanes have less. */
int report_page_waits(struct report_page *p, struct report *r, struct error *err);
/* The selected samples, with times if the profile has them. */
void report_page_samples(struct report_page *p, struct report *r);
/*
 * Functions with at least 1 % of the samples, instruction by instruction, with the text of the
 * source lines or without. Most of the time in which a page is made is for these functions.
 */
enum report_page_code_of { REPORT_PAGE_SOURCE, REPORT_PAGE_NO_SOURCE, REPORT_PAGE_NO_CODE };
void report_page_code(struct report_page *p, struct report *r, enum report_page_code_of code);
void report_page_done(struct report_page *p);

#endif
