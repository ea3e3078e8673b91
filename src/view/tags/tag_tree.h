/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_tree: the call tree of a trace of event tags, processes first.
 *
 * tag_tree_new() reads the trace once more and sums its calls by call path (tag_paths.h). A node
 * "(outside)" has the time in no known function, so all nodes add up to the run time. The report
 * must outlive the tree. tag_tree_free(), after the document that has `tree`. One thread. Uses:
 * base, profile, tags, view.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_TREE_H
#define ASSAY_VIEW_TAGS_TAG_TREE_H

#include "view/symbolized/symbolized_select.h"
#include "view/tags/tag_report.h"
#include "view/tree/view_tree.h"

struct tag_tree {
	struct symbolized_profile profile; /* values: view/symbolized/symbolized.h */
	struct named_selection selection;
	struct view_tree *tree; /* a document takes it over */
};

/* Errors of reading; -EFBIG: the tree has too many nodes. */
int tag_tree_new(struct tag_tree **out, struct tag_recording *recording, const struct tag_report *r,
                 struct error *err);
void tag_tree_free(struct tag_tree *t);

#endif
