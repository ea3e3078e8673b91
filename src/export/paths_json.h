/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths_json: a symbolized profile as JSON, complete and without repetition: `images`, `functions`,
 * `places`, `paths` and `samples` are arrays of objects that refer to each other by index. A path
 * has a parent, which comes before it. docs/FORMAT.md lists the keys.
 *
 * Appends to a spill, which reports failures. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_PATHS_JSON_H
#define ASSAY_EXPORT_PATHS_JSON_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

void paths_json_write(const struct symbolized_profile *n, struct spill *out);

#endif
