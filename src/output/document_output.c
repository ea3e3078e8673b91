/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/document_output.h"

#define STREAM_BYTES (256 * 1024)

void output_stream_flush(const struct output_stream *stream, struct buf *out)
{
	if (!stream || !stream->write || out->size < STREAM_BYTES)
		return;
	stream->write(stream->ctx, out);
	buf_clear(out);
}
