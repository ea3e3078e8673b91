/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * without: --without: whose own time is taken out of a report.
 *
 * A word is a function (function_names.h), or "group:NAME" with a group as --sort group shows it.
 * Only the own time is taken out: callees keep theirs. without_find() finds the words among the
 * functions of a recording, and needs the rules of the request; adapters mark their rows with the
 * result and fill in the sums. without_done(). One thread. Uses: base, view.
 *
 * Rows have three figures: the share as is, the value without the removed functions, and its share
 * of the remainder (normalised). The removed time is a row of its own, so that the values add up.
 */
#ifndef ASSAY_VIEW_GROUPS_WITHOUT_H
#define ASSAY_VIEW_GROUPS_WITHOUT_H

#include "view/groups/group_rules.h"
#include "view/request.h"

#define WITHOUT_ROW "[removed]"

/* Names of functions, each once. */
struct without_names {
	const char *const *items;
	size_t count;
};

struct without {
	uint8_t *functions; /* per name: 1: it is removed */
	uint8_t *groups;    /* per group of the rules, then [other], [other of the kernel] */
	struct group_rules *rules;
	bool by_group;         /* some group is removed */
	int64_t base, removed; /* the base of shares, and the part of it that was removed */
};

/* -ENOENT: no function or group has the name; the sentence has names near it. */
int without_find(struct without *w, const struct report_request *q,
                 const struct without_names *names, struct error *err);
void without_done(struct without *w);

bool without_has_group(const struct without *w, uint16_t group, bool is_kernel);

/* The remainder. */
struct cell without_base(const struct without *w);

/* A line for readers, and an object for programs. */
void without_facts(struct document *d, const struct without *w, const struct report_request *q,
                   const struct unit *unit);

/* Columns of a tree: its last measure is the value without the removed functions. */
void without_tree_columns(struct row_source *s, const struct without *w, size_t measure,
                          const struct unit *unit);
/* Adds a removed value to the tree, as a node of its own. */
void without_tree_add(struct view_tree *t, size_t measure, int64_t value);

#endif
