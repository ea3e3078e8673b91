/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/buf.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 65536 };

static size_t buf_room(const struct buf *b, size_t more)
{
	size_t room = b->room ? b->room : 64;

	while (room < b->size + more + 1)
		room *= 2;
	return room;
}

static void buf_grow(struct buf *b, size_t more)
{
	size_t room = buf_room(b, more);

	if (room == b->room)
		return;
	b->data = xrealloc(b->data, room, 1);
	b->room = room;
}

static bool buf_try_grow(struct buf *b, size_t more)
{
	size_t room = buf_room(b, more);
	char *data = room == b->room ? b->data : realloc(b->data, room);

	if (!data)
		return false;
	b->data = data;
	b->room = room;
	return true;
}

void buf_add(struct buf *b, const void *bytes, size_t size)
{
	buf_grow(b, size);
	if (size)
		memcpy(b->data + b->size, bytes, size);
	b->size += size;
	b->data[b->size] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
	buf_grow(b, 1);
	b->data[b->size++] = c;
	b->data[b->size] = '\0';
}

void buf_pad(struct buf *b, char c, size_t count)
{
	buf_grow(b, count);
	memset(b->data + b->size, c, count);
	b->size += count;
	b->data[b->size] = '\0';
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	buf_grow(b, 64);
	n = vsnprintf(b->data + b->size, b->room - b->size, fmt, ap);
	if (n >= 0 && (size_t)n >= b->room - b->size) {
		buf_grow(b, (size_t)n);
		vsnprintf(b->data + b->size, b->room - b->size, fmt, again);
	}
	if (n > 0)
		b->size += (size_t)n;
	va_end(again);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

ssize_t buf_read(struct buf *b, int fd)
{
	ssize_t got;

	/* Input without an end is an error of its reader, and does not end the program. */
	if (!buf_try_grow(b, CHUNK_BYTES))
		return -ENOMEM;
	do
		got = read(fd, b->data + b->size, CHUNK_BYTES);
	while (got < 0 && errno == EINTR);
	b->size += got > 0 ? (size_t)got : 0;
	b->data[b->size] = '\0';
	return got < 0 ? -errno : got;
}

const char *buf_text(const struct buf *b)
{
	return b->data ? b->data : "";
}

void buf_clear(struct buf *b)
{
	b->size = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
