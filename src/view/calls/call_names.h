/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_names: names for the functions of a model of call paths.
 *
 * A name in the recording has priority, because it comes from the file that ran. The symbolizer
 * looks up each other name once, when a view first shows it. A function without a name is shown as
 * "image+0xOFFSET", which still distinguishes functions. call_names_new() / call_names_free();
 * model and symbolizer must outlive it. Nothing fails. One thread. Uses: base, image, profile,
 * symbol.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_NAMES_H
#define ASSAY_VIEW_CALLS_CALL_NAMES_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "profile/calls/call_paths.h"
#include "symbol/symbolizer.h"

struct call_names;

/* `symbols` NULL: only recorded names. `raw`: names as recorded; C++ names are not demangled. */
struct call_names *call_names_new(const struct call_paths *c, struct symbolizer *symbols, bool raw);
void call_names_free(struct call_names *n);
size_t call_names_count(const struct call_names *n); /* number of functions of the model */

/* "strlen"; "(outside)", "(other)", "(interrupt)". Valid until call_names_free(). */
const char *call_names_of(struct call_names *n, uint32_t function);

/* The library that has the function, "libc.so.6"; NULL: the function was not counted as a library
 * function. */
const char *call_names_library(const struct call_names *n, uint32_t function);

/* Appends "strlen [libc.so.6]". */
void call_names_text(struct call_names *n, uint32_t function, struct buf *out);

/* Whether `wanted` is the function's whole name, or its name without parameters. */
bool call_names_match(struct call_names *n, uint32_t function, const char *wanted);

/* *chosen: per function 1 if it is one of the best matches of `wanted` (function_names.h). The
 * caller frees it, also if there is no match: -ENOENT. */
int call_names_choose(struct call_names *n, const char *wanted, uint8_t **chosen,
                      struct error *err);

/* The rank of each function in the order of names, from 0. The caller frees it. */
uint32_t *call_names_ranks(struct call_names *n);

/*
 * Writes the names that the symbolizer finds into the model, with file and line if debug
 * information has them. Existing names, files and lines are kept.
 */
void call_names_fill(struct call_paths *c, struct symbolizer *symbols);

#endif
