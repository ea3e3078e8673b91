/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chrome_read: reads slices of trace events (the JSON of chrome://tracing, in either form) as call
 * paths: how often each path of slices was entered, and how long it lasted without the slices in
 * it.
 *
 * Events B and E, and X, are read, in any order of time; process_name and thread_name name their
 * owners. The values are `calls` and `time` (ns of elapsed time), the main one. A slice that is
 * open at the end of its thread ends there; one that would end after the slice around it is cut.
 * Both are counted. Counters, instants, flows and asynchronous events are skipped. The bytes are
 * not trusted: -EBADMSG with file and byte. One thread. Uses: base, profile.
 */
#ifndef ASSAY_FORMAT_PROFILES_CHROME_READ_H
#define ASSAY_FORMAT_PROFILES_CHROME_READ_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "profile/symbolized_profile.h"

bool chrome_recognise(const void *bytes, size_t size);
/* `left`, if not NULL: sentences about omitted parts are appended, one on each line. */
int chrome_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                       size_t size, struct buf *left, struct error *err);

#endif
