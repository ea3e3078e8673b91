/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_summary: the summary (view/summary/summary.h) of a report on samples. Nothing fails. Uses:
 * base, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_DOCUMENT_REPORT_SUMMARY_H
#define ASSAY_VIEW_SAMPLES_DOCUMENT_REPORT_SUMMARY_H

#include "view/document/document.h"
#include "view/samples/report.h"

/* The functions with the most busy samples, by process, largest first; to be freed. */
struct flat *report_reasons(struct view *v, const struct selection *s);
void report_summary(struct document *d, const struct report *r,
                    const struct document_reader *reader);

#endif
