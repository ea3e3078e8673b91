/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump: what a program wrote about the code that it generates, in perf's
 * jitdump format: functions with times, code bytes and lines.
 *
 * Bytes are foreign and checked; a file whose end is missing or damaged gives
 * what stands before. Times are ns of CLOCK_MONOTONIC. Nothing is held; one thread
 * a jit_code. Uses: base, image.
 */
#ifndef ASSAY_FORMAT_JIT_JITDUMP_H
#define ASSAY_FORMAT_JIT_JITDUMP_H

#include "base/error.h"
#include "image/jit_code.h"

#include <stddef.h>

/* The bytes begin a jitdump, of either byte order. */
bool jitdump_recognise(const void *bytes, size_t size);

/*
 * Adds what the bytes tell to `c`, which points into them and must not outlive
 * them. With `timed`, functions are there from their time on; else all are from
 * the beginning, newer ones first. -errno with a sentence where it is no jitdump
 * that can be read.
 */
int jitdump_read(struct jit_code *c, const void *bytes, size_t size, bool timed, struct error *err);

#endif
