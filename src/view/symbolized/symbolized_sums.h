/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_sums: selected rows of named call paths, summed by any list of keys.
 *
 * symbolized_sums_new() takes a selection, which must outlive it. `self` is the value of the paths
 * that end in the group's functions. `total` includes all callees, and counts each call path once
 * even if a function is in it several times. Totals exist only if no key is a process or thread.
 * Work and memory grow with the number of places on the paths, not with their depth.
 * symbolized_rows() sorts and cuts the groups. symbolized_sums_free(). Nothing else fails. Uses:
 * base, profile, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_SUMS_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_SUMS_H

#include "view/samples/flat.h"
#include "view/symbolized/symbolized_select.h"

#define NAMED_SLOTS (2 * FLAT_KEYS)

struct named_sum {
	uint64_t slots[NAMED_SLOTS]; /* the key of the group */
	uint32_t owner;              /* owner of its first row; NAMED_NONE: no key needs it */
	uint32_t place, line; /* place and line of its first row, in n; NAMED_NONE: no call path */
	int64_t self, total;
	int64_t removed, total_removed; /* parts of self and total that --without removes */
	int64_t values[NAMED_VALUES];   /* as `self`, of each value */
};

struct symbolized_sums {
	const struct named_selection *selection;
	enum flat_key keys[FLAT_KEYS];
	size_t key_count;
	struct group_rules *rules; /* for FLAT_GROUP */
	bool children;             /* groups that have only callees are included */
	bool has_totals;           /* total is valid */
	VEC(struct named_sum) sums;
	struct id_table index;
};

/* -EINVAL if such paths do not have a key, or if totals are requested and a key is a process or
 * thread. */
int named_keys_check(const enum flat_key *keys, size_t count, bool children, struct error *err);

struct symbolized_sums *symbolized_sums_new(const struct named_selection *s,
                                            const enum flat_key *keys, size_t count, bool children,
                                            struct group_rules *rules);
void symbolized_sums_free(struct symbolized_sums *s);

/* Appends the text of a key for a group: "main", "prog.c:12"; `brief`: without directories. */
void symbolized_sums_cell(const struct symbolized_sums *s, const struct named_sum *sum,
                          enum flat_key key, bool brief, struct buf *out);

#endif
