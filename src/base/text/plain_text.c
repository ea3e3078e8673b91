/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/plain_text.h"

#include "base/text/medium_text.h"

void plain_text_add(struct buf *out, const char *text, size_t bytes)
{
	medium_text_add(out, MEDIUM_FIELD, text, bytes);
}

void plain_text_lines(struct buf *out, const char *text, size_t bytes)
{
	medium_text_add(out, MEDIUM_LINES, text, bytes);
}
