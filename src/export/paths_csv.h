/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths_csv: call paths as comma-separated values (RFC 4180, with line feeds): a heading, and one
 * line for each path of each thread with its own values, of any sign.
 *
 * The columns are process, pid, thread, tid, function, path, and a column for each value. The path
 * is written as in folded, outermost function first, with ';' between functions; ';' in a name
 * becomes ':'. `function` is the innermost one, unchanged. Times are in ns, and the name of their
 * column ends in "_ns". Appends to a spill, which reports failures. One thread. Uses: base,
 * profile.
 */
#ifndef ASSAY_EXPORT_PATHS_CSV_H
#define ASSAY_EXPORT_PATHS_CSV_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

void paths_csv_write(const struct symbolized_profile *n, struct spill *out);

#endif
