/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump: reads perf's jitdump format, in which a program describes the code that it generates:
 * functions with times, code bytes, lines and unwind tables.
 *
 * The bytes are untrusted and checked; if the end of a file is missing or damaged, the data before
 * it is used. Times are ns of CLOCK_MONOTONIC. No state; one thread for each jit_code. Uses: base,
 * image.
 */
#ifndef ASSAY_FORMAT_JIT_JITDUMP_H
#define ASSAY_FORMAT_JIT_JITDUMP_H

#include "base/error.h"
#include "image/jit_code.h"

#include <stddef.h>

/* The bytes begin a jitdump, of either byte order. */
bool jitdump_recognise(const void *bytes, size_t size);

/*
 * Adds the functions to `c`, which points into the bytes and must not outlive them. With `timed`, a
 * function exists from its time on; otherwise all functions exist from the beginning, and newer
 * ones have priority. Returns -errno with a sentence if the bytes are not a readable jitdump.
 */
int jitdump_read(struct jit_code *c, const void *bytes, size_t size, bool timed, struct error *err);

#endif
