/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_json: the report as JSON. docs/FORMAT.md describes the keys. Shares are 0 to 1, times are
 * ns, a missing figure is null. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_SAMPLES_REPORT_JSON_H
#define ASSAY_OUTPUT_SAMPLES_REPORT_JSON_H

#include "base/memory/buf.h"
#include "base/text/json.h"
#include "view/samples/report.h"

/* `nested`: the form of the call tree (tree_json.h). */
void report_json(struct report *r, bool nested, struct buf *out);

/* "ledger": {...} (report_json_ledger.c) */
void report_json_ledger(struct json *j, const struct report *r);
/* "rates": [...], "buffers": [...], "budget": {...} of one recording (report_json_rates.c) */
void report_json_rates(struct json *j, const struct recording *rec);

#endif
