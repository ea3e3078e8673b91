/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The word that is suggested for a misspelled one.
 */
#include "base/text/spelling.h"
#include "check.h"

#define NEAREST(word, ...)                                                                         \
	spelling_nearest(word, (const char *const[]){__VA_ARGS__},                                 \
	                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* A word of six letters may differ by three: letters omitted, inserted or replaced. */
static void each_kind_of_misspelling_counts_one(void)
{
	CHECK_STR(NEAREST("frequncy", "frequency"), "frequency");
	CHECK_STR(NEAREST("frequuency", "frequency"), "frequency");
	CHECK_STR(NEAREST("frequancy", "frequency"), "frequency");
	CHECK_STR(NEAREST("abcdef", "xyzdef"), "xyzdef");
	CHECK_STR(NEAREST("abcdef", "abc"), "abc");
	CHECK_STR(NEAREST("abcdef", "abcdefghi"), "abcdefghi");
	CHECK_STR(NEAREST("abcdef", "uvxabcdef"), "uvxabcdef");
	CHECK(NEAREST("abcdef", "wxyzef") == NULL);
	CHECK(NEAREST("abcdef", "ab") == NULL);
	CHECK(NEAREST("abcdef", "uvwxabcdef") == NULL);
	CHECK(NEAREST("abcdef", "abqqqqcdef") == NULL);
}

/* A moved letter counts as one omitted and one inserted. */
static void letters_that_moved_count_two(void)
{
	CHECK_STR(NEAREST("abcdef", "bcdefa"), "bcdefa");
	CHECK_STR(NEAREST("abcdef", "fabcde"), "fabcde");
	CHECK_STR(NEAREST("abc", "acb"), "acb");
	CHECK(NEAREST("abc", "cba1") == NULL);
}

static void the_least_distance_wins_and_the_first_of_equals(void)
{
	CHECK_STR(NEAREST("abcdef", "abcxyf", "abcdxf", "abcdyf"), "abcdxf");
	CHECK_STR(NEAREST("abcdef", "xyzdef", "abcdxf"), "abcdxf");
	CHECK(NEAREST("abcdef", "zzzzzz", "qqqqqq") == NULL);
}

/* A prefix is the best match; one letter matches too many words. */
static void a_beginning_is_nearest(void)
{
	CHECK_STR(NEAREST("cou", "con", "count-of-all-samples"), "count-of-all-samples");
	CHECK_STR(NEAREST("c", "d", "count-of-all-samples"), "d");
}

static void long_words_are_far(void)
{
	static const char name[] =
	        "a-name-that-has-many-more-letters-than-any-option-of-ours-has-ever-had";

	CHECK(NEAREST("b-name-that-has-many-more-letters-than-any-option-of-ours-has-ever-had",
	              name) == NULL);
	CHECK_STR(NEAREST("a-name-that", name), name);
}

int main(void)
{
	RUN(each_kind_of_misspelling_counts_one);
	RUN(letters_that_moved_count_two);
	RUN(the_least_distance_wins_and_the_first_of_equals);
	RUN(a_beginning_is_nearest);
	RUN(long_words_are_far);
	return check_end();
}
