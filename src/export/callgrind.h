/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callgrind: counted call paths in the format of valgrind's callgrind, which KCachegrind and
 * callgrind_annotate read: each function's own times, and for each pair of caller and callee the
 * calls and the times including all callees.
 *
 * In a recursion only the outermost call adds its times to the pair with its caller; inner calls
 * are counted without times. The times that flow into a function therefore add up to the function's
 * time, and no time is counted twice. All processes are summed, under "(outside)". The format has
 * no sign, so negative times are left out and returned. Times are ns. Appends to a
 * spill, which reports failures. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_CALLGRIND_H
#define ASSAY_EXPORT_CALLGRIND_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

/* The values of `n`: calls first, then times. `n` was made without depth_max. */
struct named_below callgrind_write(const struct symbolized_profile *n, struct spill *out);

#endif
