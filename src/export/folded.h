/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded: call paths as lines "process;outermost;...;innermost VALUE", which flame graph tools
 * read. Paths with equal names are summed, and so are processes with equal names. If the process of
 * a path is unknown, the line begins with the outermost function; a sample without process and
 * functions is the line "[no call path] VALUE".
 *
 * A ';' in a name becomes ':'. Lines have positive whole numbers. Lines with negative numbers are
 * left out, because the tools reject them; their sum is returned, and is written in a first line
 * that no tool reads as a path. Values keep their units (ns, counts). Appends to a spill, which
 * reports failures. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_FOLDED_H
#define ASSAY_EXPORT_FOLDED_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

/* `columns`: bits of the values that are summed for each line. */
struct named_below folded_write(const struct symbolized_profile *n, unsigned columns,
                                struct spill *out);

#endif
