/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle: names of C++, Rust, D, OCaml and Ada as people write them.
 *
 * Bounded in time and memory for names made to harm. A name of C stays as it is: those of
 * C++, Rust and D begin as none may in C and must be read to their end; OCaml's begin with "caml"
 * and a capital letter, hold a module and a function, and end in a number (C functions of its
 * runtime are caml_...). Ada's look like C's, and are taken for Ada's in files of GNAT alone. Uses:
 * base.
 */
#ifndef ASSAY_SYMBOL_DEMANGLE_DEMANGLE_H
#define ASSAY_SYMBOL_DEMANGLE_DEMANGLE_H

#include <stdbool.h>

/* To be freed; NULL where the name is not a mangled one. "name@plt" keeps its end. */
char *demangle(const char *name);

/* The same without parameters and return type. */
char *demangle_bare(const char *name);

/*
 * Of a file of GNAT, whose functions say so (demangle_is_gnat()): "pkg__child__spin__2" is
 * pkg.child.spin, "pkg__Oadd" is pkg."+", a task's body "pkg__workerTB" pkg.worker. To be freed;
 * NULL: not a name of Ada's.
 */
char *demangle_ada(const char *name);
bool demangle_is_gnat(const char *function);

/* Is it this function: the whole name, or all before its parameters? */
bool demangle_matches(const char *name, const char *wanted);

#endif
