/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../lib/check.h"

#include "tags/tag_words.h"

static uint64_t word(uint64_t clock, uint32_t tag)
{
	return clock << ASSAY_TAGS_TAG_BITS | tag;
}

static void words_ascend_until_the_clock_decreases_or_wraps(void)
{
	uint64_t words[] = {word(5, 1), word(5, 2), word(9, 0xffffff),
	                    word(ASSAY_TAGS_CLOCK_MASK, 3), word(2, 4)};

	CHECK(tag_words_ascend(words, 0));
	CHECK(tag_words_ascend(words, 1));
	CHECK(tag_words_ascend(words, 4));
	CHECK(!tag_words_ascend(words, 5));
	words[0] = word(6, 1);
	CHECK(!tag_words_ascend(words, 2));
}

static void the_span_is_from_the_first_word_to_the_last(void)
{
	const uint64_t words[] = {word(5, 7), word(8, 6), word(25, 1)};

	CHECK_EQ(tag_words_span(words, 0), 0);
	CHECK_EQ(tag_words_span(words, 1), 0);
	CHECK_EQ(tag_words_span(words, 3), 20);
}

static void empty_and_void_slots_are_no_events(void)
{
	uint64_t words[] = {word(5, 7), word(6, 8), word(7, 9)};

	CHECK(tag_words_are_events(words, 3));
	words[1] = 0;
	CHECK(!tag_words_are_events(words, 3));
	CHECK(tag_words_are_events(words, 1));
	words[1] = word(6, ASSAY_TAG_VOID);
	CHECK(!tag_words_are_events(words, 3));
}

int main(void)
{
	RUN(words_ascend_until_the_clock_decreases_or_wraps);
	RUN(the_span_is_from_the_first_word_to_the_last);
	RUN(empty_and_void_slots_are_no_events);
	return check_end();
}
