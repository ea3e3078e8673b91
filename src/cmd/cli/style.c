/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/style.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN 40

const struct option style_option_table[] = {
        {OPTION_STRING, 0, "color", "WHEN",
         "colour and bars: auto (on a terminal, the default), always or never",
         .choices = "auto,always,never",
         .details = "The environment variable NO_COLOR, if it is not empty, disables colour with "
                    "auto.",
         .offset = offsetof(struct style_options, colour)},
        {.kind = OPTION_END},
};

void style_choose(const struct style_options *o, struct text_style *style)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *when = o->colour ? o->colour : "auto";
	bool always = !strcmp(when, "always"), never = !strcmp(when, "never");
	bool terminal = isatty(STDOUT_FILENO);
	bool dumb = (no_colour && *no_colour) || (term && !strcmp(term, "dumb"));
	struct winsize size;

	*style = (struct text_style){.bars = terminal || always};
	style->colour = always || (terminal && !never && !dumb);
	if (terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		style->width = size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}
