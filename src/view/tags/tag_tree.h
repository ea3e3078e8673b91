/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_tree: the call tree of a trace of event tags, processes first, and the callers and callees
 * of a function.
 *
 * tag_tree_new() reads the trace once more and sums its calls by call path (tag_paths.h). A node
 * "(outside)" has the time in no known function, so all nodes add up to the run time. The report
 * must outlive the tree. tag_tree_free(), after the document that has `tree`. One thread. Uses:
 * base, profile, tags, view.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_TREE_H
#define ASSAY_VIEW_TAGS_TAG_TREE_H

#include "view/symbolized/symbolized_report.h"
#include "view/tags/tag_report.h"
#include "view/tree/neighbour_tables.h"

struct tag_tree {
	struct symbolized_profile profile; /* values: view/symbolized/symbolized.h */
	struct named_selection selection;
	struct view_tree *tree; /* a document takes ownership of it; NULL: not requested */
	struct neighbour_tables neighbours;
	column_names words;             /* names of the functions that the filter selects */
	struct symbolized_report *sums; /* the table of the request's keys or filters; NULL: none */
};

/* Whether the request needs the call paths of the trace: for a tree, callers, filters, or keys. */
bool tag_tree_wanted(const struct report_request *q);

/* Errors of reading; -EFBIG: the tree has too many nodes; -ENOENT: no call of the function of
 * callers or callees. */
int tag_tree_new(struct tag_tree **out, struct tag_recording *recording, const struct tag_report *r,
                 struct error *err);
void tag_tree_free(struct tag_tree *t);

#endif
