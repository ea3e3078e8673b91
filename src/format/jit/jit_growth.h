/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_growth: reads what a running process added to the file with the names of its code, for
 * jit_finder_again(). Plain functions on a jit_code; one thread. Uses: base, image.
 */
#ifndef ASSAY_FORMAT_JIT_JIT_GROWTH_H
#define ASSAY_FORMAT_JIT_JIT_GROWTH_H

#include "format/jit/jit_file.h"
#include "image/jit_code.h"

/* `text`: the next bytes of a perf map, not parsed yet. Only complete lines are counted. */
void jit_growth_mark(struct jit_growth *g, const char *text, size_t size);
/* Adds the complete lines after the known ones; false: the file does not continue the known one. */
bool jit_growth_read(struct jit_code *c, const struct jit_file *f);
/* `now` has all functions of `c` with the same numbers: its contents replace those of `c`. */
bool jit_growth_replace(struct jit_code *c, struct jit_code *now);

#endif
