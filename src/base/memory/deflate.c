/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/deflate.h"

#include <errno.h>
#include <limits.h>

#define WINDOW_BITS 15
#define GZIP_BITS 16 /* added to the bits of the window */
#define MEMORY_LEVEL 8

int deflate_begin(struct deflate *d, enum deflate_form form, int level, struct buf *out,
                  struct error *err)
{
	int bits = WINDOW_BITS + (form == DEFLATE_GZIP ? GZIP_BITS : 0);

	*d = (struct deflate){.out = out};
	if (deflateInit2(&d->stream, level, Z_DEFLATED, bits, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return error_set(err, ENOMEM, "zlib cannot start: out of memory");
	return 0;
}

static void pass(struct deflate *d, const void *bytes, unsigned size, int flush)
{
	unsigned char packed[16384];

	d->stream.next_in = (unsigned char *)(uintptr_t)bytes;
	d->stream.avail_in = size;
	do {
		int ret;

		d->stream.next_out = packed;
		d->stream.avail_out = sizeof(packed);
		ret = deflate(&d->stream, flush);
		if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
			d->code = ret;
		buf_add(d->out, packed, sizeof(packed) - d->stream.avail_out);
	} while (!d->code && d->stream.avail_out == 0);
}

void deflate_add(struct deflate *d, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size && !d->code) {
		unsigned piece = size < INT_MAX ? (unsigned)size : INT_MAX;

		pass(d, at, piece, Z_NO_FLUSH);
		at += piece;
		size -= piece;
	}
}

int deflate_finish(struct deflate *d, struct error *err)
{
	if (!d->code)
		pass(d, NULL, 0, Z_FINISH);
	deflateEnd(&d->stream);
	return d->code ? error_set(err, EIO, "zlib cannot compress: %s", zError(d->code)) : 0;
}
