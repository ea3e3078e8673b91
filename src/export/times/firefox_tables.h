/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firefox_tables: the tables of a profile of the Firefox Profiler that all threads share, as JSON.
 * Private to export/firefox*.c.
 *
 * A string is a text of the symbolized profile, by its id; a function, an image and a line also
 * keep their ids, as function, resource and frame. Stacks are numbered in the order of their paths,
 * with one stack for each line of a place. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_TIMES_FIREFOX_TABLES_H
#define ASSAY_EXPORT_TIMES_FIREFOX_TABLES_H

#include "base/file/spill.h"
#include "base/text/json.h"
#include "profile/symbolized_profile.h"

enum firefox_category { FIREFOX_OTHER, FIREFOX_USER, FIREFOX_KERNEL };

/* Writes "libs" and "shared". `stack_of`: an item for each path, which becomes its stack;
 * NAMED_NONE: no stack. */
void firefox_tables_write(const struct symbolized_profile *n, struct json *j, struct spill *out,
                          uint32_t *stack_of);

#endif
