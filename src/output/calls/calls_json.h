/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_json: a report on call paths as JSON. docs/FORMAT.md describes the keys. Times are ns,
 * shares are 0 to 1, a missing figure is null.
 *
 * The text is passed on in pieces, so memory does not grow with the number of paths. Nothing fails.
 * Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_CALLS_CALLS_JSON_H
#define ASSAY_OUTPUT_CALLS_CALLS_JSON_H

#include "base/memory/buf.h"
#include "output/calls/calls_text.h"
#include "view/calls/call_report.h"

/*
 * Paths name their functions by nodes, and each node names its caller. `nested`: each path has all
 * its names, so the output grows with the square of the depth. `spill`: as in calls_text_options;
 * may be NULL.
 */
void calls_json(const struct call_report *r, bool nested, const struct calls_spill *spill,
                struct buf *out);

#endif
