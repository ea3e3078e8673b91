/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_report_json: the complete report on named call paths as JSON, with values in the file's own
 * units and shares from 0 to 1. Information that the file does not have is null. Appends to a buf;
 * nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_NAMED_NAMED_REPORT_JSON_H
#define ASSAY_OUTPUT_NAMED_NAMED_REPORT_JSON_H

#include "view/named/named_report.h"

/*
 * `left`: sentences on parts of the file that were not read, one per line; may be empty. `nested`:
 * the form of the call tree (tree_json.h).
 */
void named_report_json(struct named_report *r, const char *path, const char *left, bool nested,
                       struct buf *out);

#endif
