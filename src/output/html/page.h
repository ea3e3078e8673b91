/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page: a report as one HTML page that needs no other file and no network.
 *
 * The page is the bundle of src/web/page/dist/page.html, which is compiled into the program, with
 * the data of the report as one element: a document, call paths with names, and the time of each
 * sample. docs/FORMAT.md describes the data. The caller fills a struct page, whose parts must exist
 * during the call. The page knows no kind of recording.
 *
 * page_data() appends the data alone, compressed by zlib; page_write() the complete page;
 * page_shell() the bundle with any element in the place of the data. 0 or -errno: zlib found no
 * memory. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_H
#define ASSAY_OUTPUT_HTML_PAGE_H

#include "base/error.h"
#include "base/file/spill.h"
#include "output/html/page_lanes.h"
#include "output/html/page_waits.h"
#include "profile/symbolized_profile.h"
#include "view/document/document.h"
#include "view/groups/group_rules.h"

struct profile;

/* Each has 2 to 4 bytes in the page. Sums of windows are fewer: histories also have more paths. */
#define PAGE_ENTRIES 2000000
#define PAGE_SUMS 1000000
#define PAGE_ROWS 5000 /* of a table or tree, at most */

/* Call paths, for graphs and tables that the reader changes. */
struct page_stacks {
	const struct symbolized_profile *n;
	const uint32_t *rows; /* the rows of `n` that are shown; NULL: all */
	size_t row_count;
	struct group_rules *rules; /* for the groups of functions; NULL: none */
	/* The profile with the time of each sample, and for each of its rows the row in `n`, as
	 * named_of_samples() fills it. NULL: no times. */
	const struct profile *times;
	const uint32_t *row_of;
	size_t entries; /* of times, at most; 0: PAGE_ENTRIES, PAGE_SUMS */
	unsigned cpus;  /* 0: unknown */
	unsigned runs;  /* whose sums these are; 0: one */
	double work;    /* the values divided by it can be compared; 0: 1 */
	const char *work_unit;
};

/* A function, instruction by instruction. */
struct page_code {
	const char *function, *image;
	struct document document;
};

struct page {
	const char *title, *kind;
	const struct document *document;
	const struct page_stacks *stacks; /* NULL: none */
	const struct page_stacks *before; /* the first side of a comparison; NULL: none */
	struct page_lanes *lanes;         /* the calls of each thread over time; NULL: none */
	struct page_waits *waits;         /* why threads waited; NULL: none */
	const struct page_code *code;
	size_t code_count;
};

int page_data(const struct page *page, struct buf *out, struct error *err);
int page_write(const struct page *page, struct spill *out, struct error *err);

/* Appends the bundle with `element`, which is HTML, in the place of the data. */
void page_shell(const char *element, struct buf *out);

#endif
