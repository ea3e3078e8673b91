/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/line_filter.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>

static bool has_capital(const char *text)
{
	for (; *text; text++)
		if (*text >= 'A' && *text <= 'Z')
			return true;
	return false;
}

int line_filter_set(struct line_filter *f, const char *text, struct error *err)
{
	int flags = REG_EXTENDED | REG_NOSUB | (has_capital(text) ? 0 : REG_ICASE);
	regex_t expression;
	char why[128];
	int status;

	if (!*text) {
		line_filter_done(f);
		return 0;
	}
	status = regcomp(&expression, text, flags);
	if (status) {
		regerror(status, &expression, why, sizeof(why));
		return error_set(err, EINVAL, "'%s': %s", text, why);
	}
	line_filter_done(f);
	f->expression = expression;
	f->text = xstrdup(text);
	return 0;
}

bool line_filter_has(const struct line_filter *f, const char *line)
{
	return !f->text || !regexec(&f->expression, line, 0, NULL, 0);
}

void line_filter_done(struct line_filter *f)
{
	if (!f->text)
		return;
	regfree(&f->expression);
	free(f->text);
	f->text = NULL;
}
