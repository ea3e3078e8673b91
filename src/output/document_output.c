/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/document_output.h"

#include "base/memory/xalloc.h"

#include <string.h>

#define STREAM_BYTES (256 * 1024)

/* The last line stays: the outputs put an empty line before a heading if there is text before it.
 */
void output_stream_flush(const struct output_stream *stream, struct buf *out)
{
	const char *end;
	char *last;

	if (!stream || !stream->write || out->size < STREAM_BYTES)
		return;
	end = memrchr(out->data, '\n', out->size - 1);
	if (!end)
		return;
	last = xstrdup(end + 1);
	out->size = (size_t)(end + 1 - out->data);
	out->data[out->size] = '\0';
	stream->write(stream->ctx, out);
	buf_clear(out);
	buf_puts(out, last);
	free(last);
}
