/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * utf8: finds valid UTF-8 sequences, and makes them. Lengths are in bytes; the length of an invalid
 * sequence is 0.
 * No state. Any thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_TEXT_UTF8_H
#define ASSAY_BASE_TEXT_UTF8_H

#include <stdint.h>

/*
 * Length of the valid UTF-8 sequence at p, 0 if there is none. Reads no further than the first byte
 * that does not belong to the sequence, so a NUL ends it.
 */
static inline int utf8_length(const unsigned char *p)
{
	int n = p[0] < 0x80   ? 1
	        : p[0] < 0xc2 ? 0
	        : p[0] < 0xe0 ? 2
	        : p[0] < 0xf0 ? 3
	        : p[0] < 0xf5 ? 4
	                      : 0;

	for (int i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms; UTF-16 surrogates; code points beyond U+10FFFF */
	if ((n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) ||
	    (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))))
		return 0;
	return n;
}

/* Writes the sequence of a code point below 0x200000. Returns its length. */
static inline unsigned utf8_encode(char out[4], uint32_t code)
{
	unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};

	out[0] = (char)(heads[more] | code >> (6 * more));
	for (unsigned i = 1; i <= more; i++)
		out[i] = (char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
	return more + 1;
}

#endif
