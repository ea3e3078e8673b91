/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifdef __x86_64__
#include "base/memory/stream_copy.h"

#include <emmintrin.h>
#include <stdint.h>
#include <string.h>

#define LINE 64
#define AHEAD 1024 /* bytes; about the latency of memory at its bandwidth */

static void copy_line(char *to, const char *from)
{
	__m128i a = _mm_loadu_si128((const __m128i *)from);
	__m128i b = _mm_loadu_si128((const __m128i *)(from + 16));
	__m128i c = _mm_loadu_si128((const __m128i *)(from + 32));
	__m128i d = _mm_loadu_si128((const __m128i *)(from + 48));

	_mm_stream_si128((__m128i *)to, a);
	_mm_stream_si128((__m128i *)(to + 16), b);
	_mm_stream_si128((__m128i *)(to + 32), c);
	_mm_stream_si128((__m128i *)(to + 48), d);
}

void stream_copy(void *to, const void *from, size_t size)
{
	char *t = to;
	const char *f = from;
	size_t head = -(uintptr_t)t & (LINE - 1);

	/* Only whole cache lines can be written past the cache without being read first. */
	head = head < size ? head : size;
	memcpy(t, f, head);
	t += head;
	f += head;
	size -= head;
	for (; size >= LINE; t += LINE, f += LINE, size -= LINE) {
		/* An address past the end is harmless: a prefetch never faults. */
		_mm_prefetch((const char *)((uintptr_t)f + AHEAD), _MM_HINT_NTA);
		copy_line(t, f);
	}
	/*
	 * Makes the streaming stores visible before any later store, for other CPUs and devices
	 * that read the destination.
	 */
	_mm_sfence();
	memcpy(t, f, size);
}
#endif
