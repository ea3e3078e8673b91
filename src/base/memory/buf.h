/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf: a growing text or byte array. `data` is NUL-terminated after every call that adds. An empty
 * buf has data == NULL before the first one (buf_text() returns "").
 */
#ifndef ASSAY_BASE_MEMORY_BUF_H
#define ASSAY_BASE_MEMORY_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

struct buf {
	char *data;
	size_t size, room;
};

void buf_add(struct buf *b, const void *bytes, size_t size);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_pad(struct buf *b, char c, size_t count);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Appends up to one chunk from a file or pipe. Returns its size, 0 at the end, or -errno
 * (-ENOMEM, too). */
ssize_t buf_read(struct buf *b, int fd);
const char *buf_text(const struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */
void buf_done(struct buf *b);

#endif
