/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_document: the report on event tags as a document for any output: the measured time, the
 * functions, and notes on lost or uncertain events if there are any.
 *
 * Nothing fails. Uses: base, tags, view.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_DOCUMENT_H
#define ASSAY_VIEW_TAGS_TAG_DOCUMENT_H

#include "view/document/document.h"
#include "view/tags/tag_distribution.h"
#include "view/tags/tag_groups.h"
#include "view/tags/tag_tree.h"

struct tag_document {
	struct tag_report *report;
	/* Readers get these in place of the table of functions. NULL: not requested. */
	const struct tag_groups *groups;
	const struct tag_distribution *distribution;
	struct tag_tree *paths;
};

/* The document takes ownership of report->table and paths->tree, and must not outlive `parts`. */
void tag_document_fill(struct document *d, const struct tag_document *parts,
                       const struct document_reader *reader);

#endif
