/* SPDX-License-Identifier: MIT */
/*
 * filter: ASSAY_CALLS_FILTER selects the functions that are recorded.
 *
 * The value is a list of patterns separated by commas. A pattern is a glob (* ? [a-z]) over a
 * function's name or an image's name (the path or its last part). "!pattern" excludes. A function
 * is wanted if a pattern matches and no later "!" pattern matches. If all patterns begin with "!",
 * all other functions are wanted. The names are those of .symtab, or of .dynsym if there is no
 * .symtab. C++ names match as in the file or as "ns::Class::method" (nested names without template
 * arguments). A suffix that the compiler adds after a dot (foo.part.0) may be omitted. The symbols
 * of an image are read once, at its first function. A thread that comes while another thread reads
 * them looks up only its own function and does not wait. No malloc, no stdio. Uses:
 * linux/code/images.h, linux/code/symbols.h, calls/port.h (memory).
 */
#ifndef ASSAY_RUNTIME_LINUX_CODE_FILTER_H
#define ASSAY_RUNTIME_LINUX_CODE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* `patterns` must stay valid. NULL or "": all functions are wanted. */
void filter_begin(const char *patterns);
bool filter_is_set(void);
/*
 * Whether the function at `address` in image `image` of images.h (-1: none) is wanted. Results are
 * cached.
 */
bool filter_wants(uint64_t address, int image);
/* Matches one glob; for tests. */
bool filter_glob(const char *pattern, const char *text);

#endif
