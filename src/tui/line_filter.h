/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_filter: selects lines of a list by a regular expression.
 *
 * The expression is POSIX extended. It ignores case unless it contains a capital letter. A new
 * struct is all zeros and selects all lines. line_filter_done(). One thread. Uses: base.
 */
#ifndef ASSAY_TUI_LINE_FILTER_H
#define ASSAY_TUI_LINE_FILTER_H

#include "base/error.h"

#include <regex.h>
#include <stdbool.h>

struct line_filter {
	char *text; /* NULL: all lines are selected */
	regex_t expression;
};

/* "" selects all lines. -EINVAL: not an expression; the filter is unchanged. */
int line_filter_set(struct line_filter *f, const char *text, struct error *err);
bool line_filter_has(const struct line_filter *f, const char *line);
void line_filter_done(struct line_filter *f);

#endif
