/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_notes: the notes below a comparison: runs that are doubtful, and limits of the tests.
 * Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_DIFF_DOCUMENT_DIFF_NOTES_H
#define ASSAY_VIEW_DIFF_DOCUMENT_DIFF_NOTES_H

#include "view/diff/diff.h"
#include "view/document/document.h"

void diff_notes(struct document *out, const struct diff *d);

#endif
