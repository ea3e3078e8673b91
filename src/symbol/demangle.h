/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle: C++ and Rust names as people write them.
 *
 * Bounded in time and memory for names made to harm. Uses: base.
 */
#ifndef ASSAY_SYMBOL_DEMANGLE_H
#define ASSAY_SYMBOL_DEMANGLE_H

#include <stdbool.h>

/* To be freed; NULL where the name is not a mangled one. "name@plt" keeps its end. */
char *demangle(const char *name);

/* The same without parameters and return type. */
char *demangle_bare(const char *name);

/* Is it this function: the whole name, or all before its parameters? */
bool demangle_matches(const char *name, const char *wanted);

#endif
