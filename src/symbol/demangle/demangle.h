/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demangle: readable names of C++, Rust, D, OCaml and Ada functions.
 *
 * Time and memory are bounded for malicious names. A C name stays as it is. Names of C++, Rust and
 * D begin with a prefix that C reserves, and must be valid to their end. Names of OCaml begin with
 * "caml" and a capital letter, contain a module and a function, and end in a number (C functions of
 * its runtime are caml_...). Names of Ada look like C names, and are recognised only in files of
 * GNAT. Uses: base.
 */
#ifndef ASSAY_SYMBOL_DEMANGLE_DEMANGLE_H
#define ASSAY_SYMBOL_DEMANGLE_DEMANGLE_H

#include <stdbool.h>

/* The caller frees the result. NULL: the name is not mangled. "name@plt" keeps its suffix. */
char *demangle(const char *name);

/* As above, without parameters and return type. */
char *demangle_bare(const char *name);

/*
 * For a file of GNAT, which demangle_is_gnat() recognises by its functions: "pkg__child__spin__2"
 * is pkg.child.spin, "pkg__Oadd" is pkg."+", a task's body "pkg__workerTB" is pkg.worker. The
 * caller frees the result. NULL: not an Ada name.
 */
char *demangle_ada(const char *name);
bool demangle_is_gnat(const char *function);

/* True if `wanted` is the whole name, or the name without its parameters. */
bool demangle_matches(const char *name, const char *wanted);

#endif
