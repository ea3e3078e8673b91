/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of text on a terminal, with wide and combining characters. */
#include "base/text/display_width.h"
#include "check.h"

static void characters_have_their_width(void)
{
	CHECK_EQ(display_width(""), 0);
	CHECK_EQ(display_width("abc"), 3);
	CHECK_EQ(display_width("größe"), 5);
	CHECK_EQ(display_width("関数"), 4);
	CHECK_EQ(display_width("e\xcc\x81"), 1); /* e and a combining acute accent */
	CHECK_EQ(display_width("한글"), 4);
	CHECK_EQ(display_width("\xf0\x9f\x9a\x80"), 2); /* a rocket */
	CHECK_EQ(display_width("\xff"), 1);
}

static void the_longest_beginning_that_fits_is_found(void)
{
	size_t used;

	CHECK_EQ(display_fit("abcdef", 4, &used), 4);
	CHECK_EQ(used, 4);
	/* A wide character that does not fit is left out. */
	CHECK_EQ(display_fit("a関数", 4, &used), 4);
	CHECK_EQ(used, 3);
	CHECK_EQ(display_fit("ab", 10, &used), 2);
	CHECK_EQ(used, 2);
	/* A combining character stays with its character. */
	CHECK_EQ(display_fit("e\xcc\x81x", 1, &used), 3);
	CHECK_EQ(used, 1);
	CHECK_EQ(display_fit("abc", 0, &used), 0);
}

int main(void)
{
	RUN(characters_have_their_width);
	RUN(the_longest_beginning_that_fits_is_found);
	return check_end();
}
