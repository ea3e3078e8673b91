/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages are wrapped at spaces, but not within a command in quotes. */
#include "check.h"
#include "cmd/cli/wrap.h"

static void check_message(const char *text, size_t width, const char *want)
{
	struct buf b = {0};

	wrap_message(&b, text, 2, width);
	CHECK_STR(buf_text(&b), want);
	buf_done(&b);
}

static void lines_end_at_spaces(void)
{
	check_message("", 10, "");
	check_message("one two three", 15, "one two three");
	check_message("one two three", 14, "one two\n  three");
	check_message("one  two", 20, "one  two");
	check_message("alongwordthatdoesnotfit x", 10, "alongwordthatdoesnotfit\n  x");
}

static void commands_in_quotes_are_whole(void)
{
	check_message("use 'assay help' now", 16, "use\n  'assay help'\n  now");
	check_message("(see 'a b', c)", 12, "(see\n  'a b', c)");
	check_message("('a b c' d)", 9, "('a b c'\n  d)");
	check_message("it's a machine's x", 12, "it's a\n  machine's\n  x");
	check_message("an 'open quote", 10, "an\n  'open quote");
}

int main(void)
{
	RUN(lines_end_at_spaces);
	RUN(commands_in_quotes_are_whole);
	return check_end();
}
