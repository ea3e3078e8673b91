/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_words: tests of the words of a packet (include/assay/tags_wire.h) for the usual case, in
 * which they can be copied as they are, and the time of a word. Each test is one pass without
 * branches. No state. Any thread. Uses: include/assay.
 */
#ifndef ASSAY_TAGS_TAG_WORDS_H
#define ASSAY_TAGS_TAG_WORDS_H

#include "assay/tags_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the 40-bit clock never decreases from one word to the next. */
static inline bool tag_words_ascend(const uint64_t *words, size_t count)
{
	uint64_t last = count ? words[0] >> ASSAY_TAGS_TAG_BITS : 0, wrong = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t clock = words[i] >> ASSAY_TAGS_TAG_BITS;

		wrong |= clock - last; /* has the highest bit set if the clock decreased */
		last = clock;
	}
	return !(wrong >> 63);
}

/* True if every word is an event: none is an empty or a void slot. */
static inline bool tag_words_are_events(const uint64_t *words, size_t count)
{
	uint64_t wrong = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t word = words[i];

		wrong |= (word == 0) | ((word & ASSAY_TAGS_TAG_MASK) == ASSAY_TAG_VOID);
	}
	return !wrong;
}

/* The whole time of a word that is at or after `now`. */
static inline uint64_t tag_words_time(uint64_t now, uint64_t word)
{
	return now + (((word >> ASSAY_TAGS_TAG_BITS) - now) & ASSAY_TAGS_CLOCK_MASK);
}

/* Ticks from the first word to the last word, if the clocks of the words ascend. */
static inline uint64_t tag_words_span(const uint64_t *words, size_t count)
{
	return count ? (words[count - 1] >> ASSAY_TAGS_TAG_BITS) - (words[0] >> ASSAY_TAGS_TAG_BITS)
	             : 0;
}

#endif
