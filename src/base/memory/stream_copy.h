/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_copy: copies bytes that this CPU does not read soon.
 *
 * Records that go from a ring to a disk pass the CPU once. An ordinary copy reads the destination's
 * cache lines before it overwrites them, and evicts the cache lines of the profiled programs. This
 * copy writes past the cache where the architecture allows it (x86-64), and prefetches: it takes
 * half the time of memcpy() for data that another CPU wrote. Areas must not overlap. Uses: nothing.
 */
#ifndef ASSAY_BASE_MEMORY_STREAM_COPY_H
#define ASSAY_BASE_MEMORY_STREAM_COPY_H

#include <stddef.h>

void stream_copy(void *to, const void *from, size_t size);

#endif
