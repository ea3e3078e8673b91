/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callgrind: counted call paths as a profile of valgrind's callgrind, which
 * KCachegrind and callgrind_annotate read: each function's own times, and for
 * each pair of caller and callee the calls and the times with all below.
 *
 * A function that is called again below itself brings its times to those that
 * called the outermost; the calls below are counted, and bring none: so what
 * goes into a function adds up to what it took, and no time is there twice. All
 * processes are one, under "(outside)". Times below nothing are left out, as
 * the format has no sign, and are given back. Times are ns. Appends to a
 * spill, which tells of failures. Nothing is held. One thread. Uses: base,
 * profile.
 */
#ifndef ASSAY_OUTPUT_CALLGRIND_H
#define ASSAY_OUTPUT_CALLGRIND_H

#include "base/spill.h"
#include "profile/named_paths.h"

/* The model's values: calls first, then times. Made with no depth_max. */
struct named_below callgrind_write(const struct named_paths *n, struct spill *out);

#endif
