/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter: which rows of a profile a view is about.
 *
 * Each list that is not empty must match; within a list one match is enough,
 * whole words as with perf. A selection holds row ids of the event asked for
 * and of the switch events, and what shares are taken of. filter_select() /
 * selection_done(). Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_FILTER_H
#define ASSAY_VIEW_FILTER_H

#include "base/error.h"
#include "view/view.h"

struct filter_list {
	const char *const *items;
	size_t count;
};

/* Numbers that a list names, from..to each. */
struct filter_range {
	long from, to;
};
typedef VEC(struct filter_range) filter_ranges;

struct filter {
	struct filter_list comm;     /* process or thread names */
	struct filter_list pid, tid; /* numbers */
	struct filter_list cpu;      /* numbers and ranges "0-3" */
	struct filter_list image;    /* base names or whole paths */
	struct filter_list function; /* names */
	struct filter_list cgroup;   /* paths, each with all below it */
	bool no_idle;                /* idle time is no part of the whole */
	bool relative;               /* shares of what was selected, not of all */
};

struct selection {
	uint8_t event;
	VEC(uint32_t) rows;  /* of that event */
	VEC(uint32_t) waits; /* of ATTR_SWITCH events */
	uint8_t witness_event;
	VEC(uint32_t) witness; /* of a second clock, that only bears witness */
	bool own_base;         /* shares are of the rows alone */
	bool no_idle;          /* idle rows are no part of the base */
	uint64_t samples, weight;
	uint64_t base_samples, base_weight; /* what shares are of */
};

/*
 * The list as numbers, or, where `ranges`, as ranges, too; to be vec_done(). -EINVAL: "'x' is no
 * WHAT number".
 */
int filter_ranges_parse(const struct filter_list *list, const char *what, bool ranges,
                        filter_ranges *out, struct error *err);
/* Empty ones and lists have all. */
bool filter_ranges_have(const filter_ranges *v, long value);
bool filter_list_has(const struct filter_list *list, const char *a, const char *b);

/* -EINVAL where a pid, tid or cpu is no number. */
int filter_select(struct view *v, const struct filter *f, uint8_t event, struct selection *out,
                  struct error *err);
void selection_done(struct selection *s);

#endif
