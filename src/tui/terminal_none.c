/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Without ncursesw there is no screen. */
#include "tui/terminal.h"

#include <errno.h>

bool terminal_is_built(void)
{
	return false;
}

int terminal_check(struct error *err)
{
	return error_set(err, ENOSYS,
	                 "assay was built without ncursesw, so there is no screen: install "
	                 "libncurses-dev and build assay again");
}

int terminal_open(struct terminal **t, bool colour, struct error *err)
{
	*t = NULL;
	return terminal_check(err);
}

void terminal_close(struct terminal *t)
{
}

void terminal_size(const struct terminal *t, unsigned *width, unsigned *height)
{
	*width = *height = 0;
}

int terminal_fd(const struct terminal *t)
{
	return -1;
}

bool terminal_key(struct terminal *t, struct key_event *key)
{
	return false;
}

void terminal_show(struct terminal *t, const struct canvas *c)
{
}
