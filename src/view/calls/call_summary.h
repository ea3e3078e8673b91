/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_summary: the summary (view/summary/summary.h) of a report on call paths: functions are
 * summed over the selected processes. Nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_SUMMARY_H
#define ASSAY_VIEW_CALLS_CALL_SUMMARY_H

#include "view/calls/call_document.h"

void call_summary(struct call_document *d);

#endif
