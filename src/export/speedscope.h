/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope: call paths in the file format of speedscope (JSON): one sampled profile for each
 * value, whose stacks begin with the process, as folded's do. A frame is a function with its file
 * and line; recursion is kept. Of each value, rows with 0 are not written, and negative rows are
 * left out and returned, since speedscope adds up widths.
 *
 * Appends to a spill, which reports failures. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_SPEEDSCOPE_H
#define ASSAY_EXPORT_SPEEDSCOPE_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

struct named_below speedscope_write(const struct symbolized_profile *n, struct spill *out);

#endif
