/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_json: the report for programs. docs/FORMAT.md names the keys. Shares
 * are 0 to 1, times ns, a figure that cannot be had is null. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_REPORT_JSON_H
#define ASSAY_OUTPUT_REPORT_JSON_H

#include "base/buf.h"
#include "base/json.h"
#include "view/report.h"

/* `nested`: the form of the call tree (tree_json.h). */
void report_json(struct report *r, bool nested, struct buf *out);

/* "ledger": {...} (report_json_ledger.c) */
void report_json_ledger(struct json *j, const struct report *r);
/* "rates": [...], "buffers": [...], "budget": {...}, of one recording (report_json_rates.c) */
void report_json_rates(struct json *j, const struct recording *rec);

#endif
