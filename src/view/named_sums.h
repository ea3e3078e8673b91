/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_sums: selected rows of named call paths, summed up by any list of keys.
 *
 * named_sums_new() of a selection, which must outlive it; named_sums_cut() says which are worth
 * showing and sums up the rest. `self` is what ended in a group's functions, `total` with
 * all that they called, each call path once however often a function is in it: told where no key
 * is of a process or thread. Shares are 0 to 1 of the selection's base. Work and memory grow with
 * the paths' places, and not with their depth. named_sums_free(). Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_NAMED_SUMS_H
#define ASSAY_VIEW_NAMED_SUMS_H

#include "view/flat.h"
#include "view/named_select.h"

#define NAMED_SLOTS (2 * FLAT_KEYS)

struct named_sum {
	uint64_t slots[NAMED_SLOTS]; /* what makes the group */
	uint32_t owner;              /* of its first row; NAMED_NONE: none was asked for */
	uint32_t place, line;        /* likewise, in n; NAMED_NONE: no call path */
	uint32_t order;
	int64_t self, total;
	double share, total_share;
};

struct named_sums {
	const struct named_selection *selection;
	enum flat_key keys[FLAT_KEYS];
	size_t key_count;
	bool children;   /* by total, and with groups that have nothing of their own */
	bool has_totals; /* total and total_share are told */
	VEC(struct named_sum) sums;
	struct id_table index;
};

struct named_rest {
	size_t shown, rows;
	int64_t self;
	double share;
};

/* -EINVAL where a key is not told by such paths, or totals are asked for and cannot be told. */
int named_keys_check(const enum flat_key *keys, size_t count, bool children, struct error *err);

struct named_sums *named_sums_new(const struct named_selection *s, const enum flat_key *keys,
                                  size_t count, bool children);
void named_sums_free(struct named_sums *s);

/* The shown ones move to the front; those below `limit`, a share, and behind `lines` (0: all) not.
 */
struct named_rest named_sums_cut(struct named_sums *s, double limit, size_t lines);

/* What a key has for a group, appended: "main", "prog.c:12"; `brief`: without folders. */
void named_sums_cell(const struct named_sums *s, const struct named_sum *sum, enum flat_key key,
                     bool brief, struct buf *out);

#endif
