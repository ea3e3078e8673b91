/* SPDX-License-Identifier: MIT */
/*
 * filter: ASSAY_CALLS_FILTER, which functions are wanted.
 *
 * Patterns apart by commas: globs (* ? [a-z]) over a function's name or an
 * image's (path or its last part); "!pattern" leaves out. Wanted is what a
 * pattern names and no later "!" leaves out; with "!" patterns alone, all else.
 * Names are those of .symtab, or .dynsym where there is none; C++ names match as
 * written in the file or as "ns::Class::method" (nested names without
 * templates' arguments); what a compiler adds after a dot (foo.part.0) may be
 * left away. An image's symbols are read once, at its first function; who comes
 * while another thread reads looks its own function up by itself and waits for
 * nothing. No malloc, no stdio. Uses: linux/images.h, linux/symbols.h,
 * calls/port.h (memory).
 */
#ifndef ASSAY_RUNTIME_LINUX_FILTER_H
#define ASSAY_RUNTIME_LINUX_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* `patterns` must stay; NULL or "": everything is wanted. */
void filter_begin(const char *patterns);
bool filter_is_set(void);
/* For the function at `address`, in image `image` of images.h (-1: none). Remembered. */
bool filter_wants(uint64_t address, int image);
/* Matches one glob; for tests. */
bool filter_glob(const char *pattern, const char *text);

#endif
