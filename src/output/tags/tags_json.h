/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_json: the report on event tags as JSON. docs/FORMAT.md describes the keys. Times are ns,
 * shares are 0 to 1, a missing figure is null. Nothing fails. Uses: base, view, trace.
 */
#ifndef ASSAY_OUTPUT_TAGS_TAGS_JSON_H
#define ASSAY_OUTPUT_TAGS_TAGS_JSON_H

#include "base/memory/buf.h"
#include "view/tags/tag_groups.h"
#include "view/tags/tag_report.h"
#include "view/tags/tag_distribution.h"

/* `groups`, `spread`: NULL if not requested. */
void tags_json(const struct tag_report *r, const struct tag_groups *groups,
               const struct tag_distribution *spread, struct buf *out);

#endif
