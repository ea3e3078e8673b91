/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate_json: an annotated function as JSON. Addresses and bytes are hexadecimal strings, shares
 * are 0 to 1. Appends to a buf; nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_SAMPLES_ANNOTATE_JSON_H
#define ASSAY_OUTPUT_SAMPLES_ANNOTATE_JSON_H

#include "base/memory/buf.h"
#include "view/annotate/annotate.h"

void annotate_json(const struct annotate *a, struct buf *out);

#endif
