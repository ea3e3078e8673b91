/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xalloc: memory that is there or ends the program.
 *
 * Running out of memory for small allocations ends the program with a message
 * (abort), as there is nothing a profiler could do better. Sizes that come
 * from a file are checked against the file's size before they get here.
 */
#ifndef ASSAY_BASE_MEMORY_XALLOC_H
#define ASSAY_BASE_MEMORY_XALLOC_H

#include <stdarg.h>
#include <stddef.h>

void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *old, size_t count, size_t bytes); /* count * bytes, overflow checked */
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t max);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

#endif
