/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_map: reads the text files perf-PID.map, in which programs name the code that they generate:
 * "START SIZE NAME", numbers in hexadecimal, one function on each line.
 *
 * The file has no times: all functions exist from the beginning, and if several have one address,
 * the last line is used. Invalid lines and an incomplete last line are skipped. No state; one
 * thread for each jit_code. Uses: base, image.
 */
#ifndef ASSAY_FORMAT_JIT_PERF_MAP_H
#define ASSAY_FORMAT_JIT_PERF_MAP_H

#include "image/jit_code.h"

#include <stddef.h>

/*
 * Adds the functions to `c`, which points into the text; the text is modified: lines are
 * terminated. `text` may be a later part of a file of which earlier parts were added.
 */
void perf_map_read(struct jit_code *c, char *text, size_t size);

#endif
