/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded_read: reads folded stacks, "outermost;...;innermost NUMBER" on each line, as flame graph
 * tools write them.
 *
 * Lines that begin with '#' and empty lines are skipped. All names are functions, also a process at
 * the beginning, since the format does not mark it. The value is `samples`. If all lines have two
 * numbers (a comparison of two profiles), the values are `after`, the main one, and `before`.
 * Numbers with fractions are stored exactly, in the unit of their last decimal; numbers with more
 * than NAMED_DECIMALS decimals are rounded and counted. Negative numbers and exponents are refused.
 * The bytes are not trusted: -EBADMSG with file and line. One thread. Uses: base, profile.
 */
#ifndef ASSAY_FORMAT_PROFILES_FOLDED_READ_H
#define ASSAY_FORMAT_PROFILES_FOLDED_READ_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "profile/symbolized_profile.h"

/* True if the first bytes begin with complete lines of stacks, and one of these has several
 * functions. */
bool folded_recognise(const void *bytes, size_t size, bool whole);
/* `left`, if not NULL: sentences for the user are appended, one on each line. */
int folded_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                       size_t size, struct buf *left, struct error *err);

#endif
