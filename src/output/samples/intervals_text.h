/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intervals_text: the time between samples as text; intervals_json: as JSON (docs/FORMAT.md
 * describes the keys). Both append to a buf; nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_SAMPLES_INTERVALS_TEXT_H
#define ASSAY_OUTPUT_SAMPLES_INTERVALS_TEXT_H

#include "base/text/json.h"
#include "output/text/table.h"
#include "view/confidence/intervals.h"

void intervals_text(const struct intervals *v, const struct text_style *style, struct buf *out);
void intervals_json(const struct intervals *v, struct buf *out);

#endif
