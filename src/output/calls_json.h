/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_json: a report on call paths for programs. docs/FORMAT.md names the
 * keys. Times are ns, shares 0 to 1, a figure that cannot be had is null.
 *
 * What has been written is handed on as it grows, so that a million paths need
 * no more memory than one. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_CALLS_JSON_H
#define ASSAY_OUTPUT_CALLS_JSON_H

#include "base/buf.h"
#include "output/calls_text.h"
#include "view/call_report.h"

/*
 * Paths name their functions by nodes, each of which names its caller; `nested`: each path has all
 * its names, which grows with the square of the depth. `spill` as of calls_text_options; may be
 * NULL.
 */
void calls_json(const struct call_report *r, bool nested, const struct calls_spill *spill,
                struct buf *out);

#endif
