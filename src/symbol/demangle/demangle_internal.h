/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle_internal: one function for each language whose names assay demangles itself. Each
 * function reads a whole name without its "@plt" or ".cold" and appends to `out`. False: the name
 * is not of that language, and the caller discards the appended text. Any thread. Uses: base.
 */
#ifndef ASSAY_SYMBOL_DEMANGLE_DEMANGLE_INTERNAL_H
#define ASSAY_SYMBOL_DEMANGLE_DEMANGLE_INTERNAL_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* "camlStdlib__List__map_236", "camlStdlib__List.map_236": "Stdlib.List.map_236". */
bool demangle_ocaml(const char *name, size_t size, struct buf *out);

/* "_D3std5stdio7writelnFiZv": "std.stdio.writeln(int)"; bare: without "(int)". */
bool demangle_d(const char *name, size_t size, bool bare, struct buf *out);

#endif
