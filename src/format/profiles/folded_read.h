/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded_read: reads folded stacks, "outermost;...;innermost NUMBER" on each line, as flame graph
 * tools write them.
 *
 * Lines that begin with '#' and empty lines are skipped. All names are functions, also a process at
 * the beginning, since the format does not mark it. The value is `samples`; fractions are rounded.
 * The bytes are not trusted: -EBADMSG with file and line. One thread. Uses: base, profile.
 */
#ifndef ASSAY_FORMAT_PROFILES_FOLDED_READ_H
#define ASSAY_FORMAT_PROFILES_FOLDED_READ_H

#include "base/error.h"
#include "profile/symbolized_profile.h"

/* True if every complete line of the first bytes is a stack, and at least one stack has several
 * functions. */
bool folded_recognise(const void *bytes, size_t size, bool whole);
int folded_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                       size_t size, struct error *err);

#endif
