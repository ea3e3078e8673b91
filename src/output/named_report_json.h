/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_report_json: the report on named call paths as JSON: all of it, values in the file's own
 * units, shares from 0 to 1; what the file does not tell is null. Appends to a buf. Uses: base,
 * view.
 */
#ifndef ASSAY_OUTPUT_NAMED_REPORT_JSON_H
#define ASSAY_OUTPUT_NAMED_REPORT_JSON_H

#include "view/named_report.h"

/*
 * `left`: sentences on what of the file was not read, a line each; may be empty. `nested`: the form
 * of the call tree (tree_json.h).
 */
void named_report_json(struct named_report *r, const char *path, const char *left, bool nested,
                       struct buf *out);

#endif
