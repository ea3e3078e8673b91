/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callgrind: a symbolized profile in the format of valgrind's callgrind, which KCachegrind and
 * callgrind_annotate read: each function's own costs, and for each pair of caller and callee the
 * calls and the costs including all callees. If the first of several values is "calls", it is the
 * number of calls, and the other values are costs. Otherwise all values are costs, and each pair
 * has 1 call, since readers require a number.
 *
 * In a recursion only the outermost call adds its times to the pair with its caller; inner calls
 * are counted without times. The times that flow into a function therefore add up to the function's
 * time, and no time is counted twice. All processes are summed, under "(outside)" if `n` has it.
 * The format has no sign, so negative costs are left out and returned. Appends to a spill, which
 * reports failures. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_CALLGRIND_H
#define ASSAY_EXPORT_CALLGRIND_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

/* `n` must have been made without depth_max. */
struct named_below callgrind_write(const struct symbolized_profile *n, struct spill *out);

#endif
