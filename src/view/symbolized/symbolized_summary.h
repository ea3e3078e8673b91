/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_summary: the summary (view/summary/summary.h) of a report on a symbolized profile.
 * `path` and `left` as in symbolized_document.h. Nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_SUMMARY_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_SUMMARY_H

#include "view/document/document.h"
#include "view/symbolized/symbolized_report.h"

void symbolized_summary(struct document *d, const struct symbolized_report *r,
                        const struct document_reader *reader, const char *path, const char *left);

#endif
