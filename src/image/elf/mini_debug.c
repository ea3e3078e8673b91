/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/mini_debug.h"

#include "base/limit.h"
#include "base/memory/xalloc.h"

#include <stdlib.h>

#ifdef ASSAY_LZMA

#include <lzma.h>

#define SMALL_BYTES (1u << 20) /* allowed for any packed size */

static size_t most(size_t size)
{
	if (size > (LIMIT_MINI_DEBUG_BYTES - SMALL_BYTES) / LIMIT_MINI_DEBUG_RATIO)
		return LIMIT_MINI_DEBUG_BYTES;
	return SMALL_BYTES + size * LIMIT_MINI_DEBUG_RATIO;
}

/* The buffer grows with the unpacked bytes, not with the size that the headers declare. */
static uint8_t *unpack(lzma_stream *stream, size_t limit, size_t *unpacked)
{
	size_t room = 0;
	uint8_t *bytes = NULL;
	lzma_ret r = LZMA_OK;

	while (r == LZMA_OK) {
		if (!stream->avail_out) {
			if (room == limit)
				break;
			room = room ? room * 2 : 65536;
			room = room < limit ? room : limit;
			bytes = xrealloc(bytes, room, 1);
			stream->next_out = bytes + stream->total_out;
			stream->avail_out = room - stream->total_out;
		}
		r = lzma_code(stream, LZMA_FINISH);
	}
	if (r != LZMA_STREAM_END) {
		free(bytes);
		return NULL;
	}
	*unpacked = stream->total_out;
	return bytes;
}

uint8_t *mini_debug_unpack(const uint8_t *packed, size_t size, size_t *unpacked)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *bytes = NULL;

	*unpacked = 0;
	if (lzma_stream_decoder(&stream, LIMIT_MINI_DEBUG_MEMORY_BYTES, 0) == LZMA_OK) {
		stream.next_in = packed;
		stream.avail_in = size;
		bytes = unpack(&stream, most(size), unpacked);
	}
	lzma_end(&stream);
	return bytes;
}

#else

uint8_t *mini_debug_unpack(const uint8_t *packed, size_t size, size_t *unpacked)
{
	*unpacked = 0;
	return NULL;
}

#endif
