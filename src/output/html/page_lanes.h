/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_lanes: the calls of each thread in the order of time, or its times on and off the CPUs, as
 * data of a page.
 *
 * page_lanes_init(); page_lanes_name() for each name of a call, 0 is ""; a struct page_lane for
 * each thread in `lanes`, with its names; page_lanes_add() for each call, in any order. At most
 * PAGE_SPANS calls are kept, the first ones that are added; `left` counts the others.
 * page_lanes_done(). Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_LANES_H
#define ASSAY_OUTPUT_HTML_PAGE_LANES_H

#include "base/memory/intern.h"
#include "output/html/page_blob.h"

#define PAGE_SPANS 1000000 /* each has 3 to 8 bytes in the page */

enum page_span_kind { PAGE_SPAN_CALL, PAGE_SPAN_OUT }; /* OUT: the thread was switched out */

struct page_span {
	uint64_t begin_ns, length_ns; /* begin: since the start of the trace */
	uint32_t name;
	uint16_t depth; /* number of calls around it */
	uint8_t kind;   /* enum page_span_kind */
};

struct page_lane {
	char *process, *thread;
	VEC(struct page_span) spans;
};

struct page_lanes {
	VEC(struct page_lane) lanes;
	struct intern names;
	bool switches;        /* calls are times on a CPU; these and times OUT have no depth */
	uint64_t duration_ns; /* of the trace */
	uint64_t count, left; /* calls that are in the page, and that are not */
};

void page_lanes_init(struct page_lanes *l);
/* The number of a name, for struct page_span. */
uint32_t page_lanes_name(struct page_lanes *l, const char *name);
void page_lanes_add(struct page_lanes *l, size_t lane, const struct page_span *span);
/* Writes null if there are no lanes (`l` NULL). Sorts the calls. */
void page_lanes_write(struct page_blob *b, const char *key, struct page_lanes *l);
void page_lanes_done(struct page_lanes *l);

#endif
