/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded: call paths as the lines "process;outermost;...;innermost VALUE", which
 * flame graph tools read. Paths of the same names are one, and so are processes.
 * A path whose process is not known begins with its outermost function, and a
 * sample that has neither process nor functions is the line "[no call path] VALUE".
 *
 * A ';' in a name becomes ':'. Lines have whole numbers above zero: lines with
 * negative numbers are left out, as the tools refuse them; their sum is given
 * back and stands in a first line that no tool takes for a path. Values keep
 * their units (ns, counts). Appends to a spill, which tells of failures. Nothing
 * is held. One thread. Uses: base, profile.
 */
#ifndef ASSAY_OUTPUT_FOLDED_H
#define ASSAY_OUTPUT_FOLDED_H

#include "base/spill.h"
#include "profile/named_paths.h"

/* `columns`: bits of the values that each line is the sum of. */
struct named_below folded_write(const struct named_paths *n, unsigned columns, struct spill *out);

#endif
