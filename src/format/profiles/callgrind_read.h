/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callgrind_read: reads files of valgrind's callgrind, and of tools that write its format.
 *
 * The format has pairs of caller and callee and no call paths, so each function becomes one path
 * with its own values; their sums are exact, and values with callees are not known. The first
 * NAMED_VALUES - 1 events are read, n->wanted in the place of the last of them; the number of calls
 * into each function is the last value. Files and objects without a definition are named by their
 * number. Compressed names, relative positions and several parts (threads) are read. Jumps are
 * skipped, but their places may define compressed names. The bytes are not trusted: -EBADMSG with
 * file and line. One thread. Uses: base, profile.
 */
#ifndef ASSAY_FORMAT_PROFILES_CALLGRIND_READ_H
#define ASSAY_FORMAT_PROFILES_CALLGRIND_READ_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "profile/symbolized_profile.h"

bool callgrind_recognise(const void *bytes, size_t size);
/* `left`, if not NULL: sentences about omitted parts are appended, one on each line. */
int callgrind_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                          size_t size, struct buf *left, struct error *err);

#endif
