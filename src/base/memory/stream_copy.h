/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_copy: copies bytes that nobody will read soon.
 *
 * What comes out of a ring and goes to a disk passes the CPU once. An ordinary
 * copy reads the destination's cache lines before it overwrites them, and
 * turns out what the profiled programs had in the cache. This one writes past
 * the cache where the machine can (x86-64), and reads ahead: half the time of
 * memcpy() on data that another CPU wrote. Areas must not overlap. Uses: nothing.
 */
#ifndef ASSAY_BASE_MEMORY_STREAM_COPY_H
#define ASSAY_BASE_MEMORY_STREAM_COPY_H

#include <stddef.h>

void stream_copy(void *to, const void *from, size_t size);

#endif
