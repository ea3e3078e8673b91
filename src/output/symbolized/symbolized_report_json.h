/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_report_json: the complete report on named call paths as JSON, with values in the
 * file's own units and shares from 0 to 1. Information that the file does not have is null. Appends
 * to a buf; nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_SYMBOLIZED_SYMBOLIZED_REPORT_JSON_H
#define ASSAY_OUTPUT_SYMBOLIZED_SYMBOLIZED_REPORT_JSON_H

#include "view/symbolized/symbolized_report.h"

/*
 * `left`: sentences on parts of the file that were not read, one per line; may be empty. `nested`:
 * the form of the call tree (tree_json.h).
 */
void symbolized_report_json(struct symbolized_report *r, const char *path, const char *left,
                            bool nested, struct buf *out);

#endif
