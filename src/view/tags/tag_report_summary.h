/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_report_summary: the summary (view/summary/summary.h) of a report on event tags. Nothing
 * fails. Uses: base, tags, view.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_REPORT_SUMMARY_H
#define ASSAY_VIEW_TAGS_TAG_REPORT_SUMMARY_H

#include "view/document/document.h"
#include "view/tags/tag_report.h"

void tag_report_summary(struct document *d, const struct tag_report *r,
                        const struct document_reader *reader);

#endif
