/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * utf8: which bytes are text. Lengths are bytes; what is no text is no error but
 * a length of 0. Nothing is held. Any thread. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_TEXT_UTF8_H
#define ASSAY_BASE_TEXT_UTF8_H

/*
 * Length of the valid UTF-8 sequence at p, 0 where there is none. Looks no
 * further than the first byte that does not belong to it: a NUL ends it.
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
	/* longer than needed; halves of UTF-16 pairs; beyond the last character */
	if ((n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) ||
	    (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))))
		return 0;
	return n;
}

#endif
