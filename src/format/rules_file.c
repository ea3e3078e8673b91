/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/rules_file.h"

#include "base/limit.h"
#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "base/read/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAY_OUT "a line is 'GROUP: PATTERN PATTERN ...', as in 'net: tcp_* ip_*'"

struct parsing {
	const char *path;
	size_t line;
	rules_file_fn *rule;
	void *of;
	struct error *err;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int bad(const struct parsing *p, const char *what)
{
	return error_set(p->err, EINVAL, "%s, line %zu: %s; " WAY_OUT, p->path, p->line, what);
}

/* Trims the text before a comment. */
static void trim(const char **text, size_t *length)
{
	for (size_t i = 0; i < *length; i++)
		if ((*text)[i] == '#' && (!i || is_blank((*text)[i - 1])))
			*length = i;
	while (*length && is_blank((*text)[*length - 1]))
		--*length;
	while (*length && is_blank(**text)) {
		++*text;
		--*length;
	}
}

static bool has_control(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < 0x20 && text[i] != '\t') || text[i] == 0x7f)
			return true;
	return false;
}

static size_t each_pattern(const struct parsing *p, const char *group, const char *text,
                           size_t length)
{
	size_t count = 0, end;

	for (size_t i = 0; i < length; i = end) {
		char *pattern;

		while (i < length && is_blank(text[i]))
			i++;
		for (end = i; end < length && !is_blank(text[end]); end++)
			;
		if (end == i)
			break;
		pattern = xstrndup(text + i, end - i);
		p->rule(p->of, group, pattern);
		free(pattern);
		count++;
	}
	return count;
}

static int parse_line(const struct parsing *p, const char *text, size_t length)
{
	const char *colon, *name = text;
	size_t size, patterns;
	char *group;

	trim(&text, &length);
	if (!length)
		return 0;
	if (has_control(text, length))
		return bad(p, "control characters");
	colon = memchr(text, ':', length);
	if (!colon)
		return bad(p, "no ':' after a group's name");
	name = text;
	size = (size_t)(colon - text);
	trim(&name, &size);
	if (!size)
		return bad(p, "no group name before the ':'");
	if (*name == '(')
		return bad(p, "groups that begin with '(' are reserved for the report");
	group = xstrndup(name, size);
	patterns = each_pattern(p, group, colon + 1, length - (size_t)(colon + 1 - text));
	free(group);
	if (!patterns)
		return bad(p, "no pattern after the ':'");
	return text[length - 1] == '!' ? bad(p, "no pattern after the last FILE!, which qualifies "
	                                        "the patterns behind it")
	                               : 0;
}

int rules_file_parse(const char *text, size_t length, const char *path, rules_file_fn *rule,
                     void *of, struct error *err)
{
	struct parsing p = {.path = path, .rule = rule, .of = of, .err = err};
	const char *end = text + length;
	int ret = 0;

	while (text < end && !ret) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		p.line++;
		ret = parse_line(&p, text, (size_t)(stop - text));
		text = newline ? newline + 1 : end;
	}
	return ret;
}

int rules_file_read(const char *path, rules_file_fn *rule, void *of, struct error *err)
{
	const char *name = input_file_name(path);
	int fd = input_file_open(path, err), ret;
	struct buf text = {0};

	if (fd < 0)
		return fd;
	ret = input_file_read(fd, name, LIMIT_RULES_BYTES, "is it a file of rules? " WAY_OUT, &text,
	                      err);
	if (!ret)
		ret = rules_file_parse(buf_text(&text), text.size, name, rule, of, err);
	input_file_close(fd);
	buf_done(&text);
	return ret;
}
