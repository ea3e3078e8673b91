/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_names: names for the functions of a model of call paths.
 *
 * A name that the recording has wins: it is of the very file that ran. The
 * others are asked of the symbolizer, each once, when a view shows them. What
 * nobody knows is "image+0xOFFSET", which still tells functions apart.
 * call_names_new / call_names_free; model and symbolizer must outlive it. One
 * thread. Uses: base, image, profile, symbol.
 */
#ifndef ASSAY_VIEW_CALL_NAMES_H
#define ASSAY_VIEW_CALL_NAMES_H

#include "base/buf.h"
#include "profile/call_paths.h"
#include "symbol/symbolizer.h"

struct call_names;

/* `symbols` NULL: recorded names alone. `raw`: names as recorded, C++ ones too. */
struct call_names *call_names_new(const struct call_paths *c, struct symbolizer *symbols, bool raw);
void call_names_free(struct call_names *n);
size_t call_names_count(const struct call_names *n); /* functions of the model */

/* "strlen"; "(outside)", "(other)", "(interrupt)". Good until call_names_free(). */
const char *call_names_of(struct call_names *n, uint32_t function);

/* The library that it is called in, "libc.so.6"; NULL: it is none of a library. */
const char *call_names_library(const struct call_names *n, uint32_t function);

/* "strlen [libc.so.6]", appended. */
void call_names_text(struct call_names *n, uint32_t function, struct buf *out);

/* Is it called so: by its whole name, or what comes before parameters? */
bool call_names_match(struct call_names *n, uint32_t function, const char *wanted);

/* For each function its place among all of them by name, from 0. To be freed. */
uint32_t *call_names_ranks(struct call_names *n);

/*
 * Writes the names that the symbolizer knows into the model, with file and line
 * where debug information tells them; those that are there stay.
 */
void call_names_fill(struct call_paths *c, struct symbolizer *symbols);

#endif
