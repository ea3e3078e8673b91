/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate_json: an annotated function for programs. Addresses and bytes are
 * hexadecimal strings, shares 0 to 1. Appends to a buf. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_ANNOTATE_JSON_H
#define ASSAY_OUTPUT_ANNOTATE_JSON_H

#include "base/buf.h"
#include "view/annotate.h"

void annotate_json(const struct annotate *a, struct buf *out);

#endif
