/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/scroll.h"

/* line + lines, from 0 to `most`. */
static size_t moved(size_t line, long lines, size_t most)
{
	size_t distance = lines < 0 ? (size_t)-lines : (size_t)lines;

	if (lines < 0)
		return line > distance ? line - distance : 0;
	return most > line && most - line > distance ? line + distance : most;
}

static size_t last_top(const struct scroll *s)
{
	return s->count > s->page ? s->count - s->page : 0;
}

void scroll_fit(struct scroll *s, size_t count, size_t page)
{
	s->count = count;
	s->page = page ? page : 1;
	if (s->at >= count)
		s->at = count ? count - 1 : 0;
	if (s->at < s->top)
		s->top = s->at;
	if (s->at >= s->top + s->page)
		s->top = s->at + 1 - s->page;
	if (s->top > last_top(s))
		s->top = last_top(s);
}

void scroll_to(struct scroll *s, size_t line)
{
	s->at = line;
	scroll_fit(s, s->count, s->page);
}

void scroll_by(struct scroll *s, long lines)
{
	if (s->count)
		scroll_to(s, moved(s->at, lines, s->count - 1));
}

void scroll_view(struct scroll *s, long lines)
{
	s->top = moved(s->top, lines, last_top(s));
	if (s->at < s->top)
		s->at = s->top;
	if (s->at >= s->top + s->page)
		s->at = s->top + s->page - 1;
	scroll_fit(s, s->count, s->page);
}
