/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_map: the text files perf-PID.map, in which programs name the code that
 * they generate: "START SIZE NAME", numbers in hexadecimal, a function a line.
 *
 * There are no times in them: all functions are there from the beginning, and
 * where several lie at one address the later line wins. Lines that make no
 * sense are skipped, as is one that has no end yet. Nothing is held; one thread a
 * jit_code. Uses: base, image.
 */
#ifndef ASSAY_FORMAT_JIT_PERF_MAP_H
#define ASSAY_FORMAT_JIT_PERF_MAP_H

#include "image/jit_code.h"

#include <stddef.h>

/* Adds what the text tells to `c`, which points into it; the text is changed: lines get ends. */
void perf_map_read(struct jit_code *c, char *text, size_t size);

#endif
