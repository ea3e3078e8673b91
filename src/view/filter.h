/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter: selects the rows of a profile that a view is about. filter.c does it for samples; the
 * other kinds of recordings apply a struct filter in symbolized/symbolized_select.c,
 * calls/call_report.c, symbolized/symbolized_calls.c and tags/tag_tree.c.
 *
 * Each non-empty list must match. A list matches if one of its words matches, whole words only, as
 * with perf. Interrupts are counted for no process: the name "[interrupts]" selects them, and the
 * name or number of a process, thread or cgroup does not. A selection holds the row ids of the
 * requested event, of the switch events and of the second clock, and the base of shares.
 * filter_select() / selection_done(). Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_FILTER_H
#define ASSAY_VIEW_FILTER_H

#include "base/error.h"
#include "view/view.h"

struct filter_list {
	const char *const *items;
	size_t count;
};

/* A range of numbers in a list, both ends included. */
struct filter_range {
	long from, to;
};
typedef VEC(struct filter_range) filter_ranges;

struct filter {
	struct filter_list comm;     /* process or thread names */
	struct filter_list pid, tid; /* numbers */
	struct filter_list cpu;      /* numbers and ranges "0-3" */
	struct filter_list image;    /* base names or complete paths */
	struct filter_list function; /* names */
	struct filter_list cgroup;   /* paths; each includes its descendants */
	struct filter_list label;    /* "NAME=GLOB" */
	bool no_idle;                /* idle time is not part of the base */
	bool relative;               /* shares are of the selected rows, not of all rows */
};

struct selection {
	uint8_t event;
	VEC(uint32_t) rows;  /* of that event */
	VEC(uint32_t) waits; /* of ATTR_SWITCH events */
	VEC(uint32_t) hits;  /* rows of interrupts that hit the selected processes */
	uint8_t witness_event;
	/* Rows of the second clock, which only serves to check the first clock; empty if the two
	 * cannot be compared. */
	VEC(uint32_t) witness;
	bool own_base; /* shares are of the selected rows */
	bool no_idle;  /* idle rows are not in the base */
	uint64_t samples, weight;
	uint64_t base_samples, base_weight; /* the denominator of shares */
};

/*
 * Parses the list as numbers, and if `ranges` also as ranges. The caller calls vec_done() on `out`.
 * -EINVAL: "'x' is not a WHAT number".
 */
int filter_ranges_parse(const struct filter_list *list, const char *what, bool ranges,
                        filter_ranges *out, struct error *err);
/* True if the list is empty or contains the value. */
bool filter_ranges_have(const filter_ranges *v, long value);
bool filter_list_has(const struct filter_list *list, const char *a, const char *b);

/* Whether no list selects. */
bool filter_is_empty(const struct filter *f);
/* -EINVAL if a pid, tid or cpu is not a number. */
int filter_select(struct view *v, const struct filter *f, uint8_t event, struct selection *out,
                  struct error *err);
void selection_done(struct selection *s);

#endif
