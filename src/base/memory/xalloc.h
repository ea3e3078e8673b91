/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xalloc: memory allocation that never returns NULL.
 *
 * A failed small allocation ends the program with a message (abort), because a profiler cannot
 * continue without memory. The caller checks a size that comes from a file against the file's size
 * first.
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
