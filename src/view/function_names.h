/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_names: finds functions by a name that a user typed, the same for every kind of
 * recording.
 *
 * Equal names have priority over names that are equal without their parameters, and these over
 * names that match as a shell pattern (* ? [...]). Any thread. Uses: base, symbol.
 */
#ifndef ASSAY_VIEW_FUNCTION_NAMES_H
#define ASSAY_VIEW_FUNCTION_NAMES_H

#include "base/error.h"
#include "base/memory/buf.h"

#include <stdint.h>

/* Sets chosen[i] to 1 for each of the best matches, else to 0. -ENOENT: no name matches; the
 * sentence lists names near it. */
int function_names_choose(const char *const *names, size_t count, const char *wanted,
                          uint8_t *chosen, struct error *err);

/* Returns -ENOENT; the sentence lists the names that contain `wanted`, else the most similar name.
 */
int function_names_none(const char *const *names, size_t count, const char *wanted,
                        struct error *err);

/* Appends " f, g and 3 more"; several long names are cut. */
void function_names_list(const char *const *names, size_t count, struct buf *out);

#endif
