/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pyroscope/label_selector.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

struct selector_text {
	const char *begin, *at;
};

static int refuse(const struct selector_text *t, const char *expected, struct error *err)
{
	return error_set(err, EINVAL,
	                 "label selector: %s expected at byte %zu; a selector is "
	                 "{service_name=\"NAME\", host=~\"PATTERN\"}",
	                 expected, (size_t)(t->at - t->begin));
}

static void skip_blanks(struct selector_text *t)
{
	t->at += strspn(t->at, " \t\n");
}

static bool take(struct selector_text *t, const char *word)
{
	size_t size = strlen(word);

	skip_blanks(t);
	if (strncmp(t->at, word, size) != 0)
		return false;
	t->at += size;
	return true;
}

static int read_name(struct selector_text *t, struct label_condition *c, struct error *err)
{
	size_t size;

	skip_blanks(t);
	size = strspn(t->at, LETTERS DIGITS);
	if (!size || size > LABEL_CONDITION_MAX || strchr(DIGITS, *t->at))
		return refuse(t, "the name of a label", err);
	c->name = xstrndup(t->at, size);
	t->at += size;
	return 0;
}

static int read_match(struct selector_text *t, struct label_condition *c, struct error *err)
{
	static const struct {
		const char *word;
		enum label_match how;
	} words[] = {{"=~", LABEL_MATCHES},
	             {"!~", LABEL_MATCHES_NOT},
	             {"!=", LABEL_IS_NOT},
	             {"=", LABEL_IS}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!take(t, words[i].word))
			continue;
		c->how = words[i].how;
		return 0;
	}
	return refuse(t, "=, !=, =~ or !~", err);
}

/* The character of an escape; 0: there is no such one. */
static char unescaped(char c)
{
	static const char letters[] = "\\\"nt", characters[] = "\\\"\n\t";
	const char *found = c ? strchr(letters, c) : NULL;

	return found ? characters[found - letters] : '\0';
}

static int read_value(struct selector_text *t, struct label_condition *c, struct error *err)
{
	struct buf value = {0};
	int status = 0;

	if (!take(t, "\""))
		return refuse(t, "a value in double quotes", err);
	for (; *t->at && *t->at != '"' && value.size <= LABEL_CONDITION_MAX; t->at++) {
		char character = *t->at;

		if (character == '\\')
			character = unescaped(*++t->at);
		if (!character)
			break;
		buf_putc(&value, character);
	}
	if (value.size > LABEL_CONDITION_MAX)
		status = refuse(t, "a shorter value", err);
	else if (*t->at != '"')
		status = refuse(t, "a quote, or one of the escapes \\\\ \\\" \\n \\t,", err);
	else
		t->at++;
	c->value = xstrdup(buf_text(&value));
	buf_done(&value);
	return status;
}

/* Repeated counts need memory, and back references time, that is exponential. */
static bool is_cheap(const char *pattern)
{
	for (const char *p = pattern; *p; p++) {
		if (*p == '{')
			return false;
		if (*p == '\\' && (!p[1] || strchr(LETTERS DIGITS, *++p)))
			return false;
	}
	return strlen(pattern) <= LABEL_PATTERN_MAX;
}

static int refuse_pattern(const struct selector_text *t, const char *why, struct error *err)
{
	return error_set(err, EINVAL, "label selector: the pattern before byte %zu %s",
	                 (size_t)(t->at - t->begin), why);
}

static int compile(struct selector_text *t, struct label_condition *c, struct error *err)
{
	if (c->how != LABEL_MATCHES && c->how != LABEL_MATCHES_NOT)
		return 0;
	if (!is_cheap(c->value))
		return refuse_pattern(t,
		                      "is longer than 256 bytes, or has { or a backslash before "
		                      "a letter or digit, which are not supported",
		                      err);
	if (!regcomp(&c->pattern, c->value, REG_EXTENDED))
		return 0;
	return refuse_pattern(t, "is not a valid extended regular expression", err);
}

/* A condition that is not complete is removed. */
static int read_condition(struct label_selector *s, struct selector_text *t, struct error *err)
{
	struct label_condition *c;
	int status;

	if (s->conditions.count == LABEL_CONDITIONS_MAX)
		return refuse(t, "at most 32 conditions, and no further one", err);
	c = vec_add(&s->conditions);
	*c = (struct label_condition){0};
	status = read_name(t, c, err);
	if (!status)
		status = read_match(t, c, err);
	if (!status)
		status = read_value(t, c, err);
	if (!status)
		status = compile(t, c, err);
	if (!status)
		return 0;
	free(c->name);
	free(c->value);
	s->conditions.count--;
	return status;
}

int label_selector_parse(struct label_selector *s, const char *text, struct error *err)
{
	struct selector_text t = {text, text};
	int status = 0;

	skip_blanks(&t);
	if (!*t.at)
		return 0;
	if (!take(&t, "{"))
		return refuse(&t, "{", err);
	while (!take(&t, "}")) {
		status = read_condition(s, &t, err);
		if (status)
			return status;
		skip_blanks(&t);
		if (!take(&t, ",") && *t.at != '}')
			return refuse(&t, ", or }", err);
	}
	skip_blanks(&t);
	return *t.at ? refuse(&t, "the end", err) : 0;
}

/* POSIX finds the first of the longest matches: it is the whole value if one is. */
static bool matches(const regex_t *pattern, const char *value)
{
	regmatch_t match;

	return !regexec(pattern, value, 1, &match, 0) && !match.rm_so &&
	       (size_t)match.rm_eo == strlen(value);
}

static bool holds(const struct label_condition *c, const char *value)
{
	switch (c->how) {
	case LABEL_IS:
		return !strcmp(c->value, value);
	case LABEL_IS_NOT:
		return strcmp(c->value, value) != 0;
	case LABEL_MATCHES:
		return matches(&c->pattern, value);
	case LABEL_MATCHES_NOT:
		return !matches(&c->pattern, value);
	}
	return false;
}

bool label_selector_has(const struct label_selector *s, const char *name, const char *value)
{
	vec_each (c, &s->conditions)
		if (!strcmp(c->name, name) && !holds(c, value))
			return false;
	return true;
}

void label_selector_done(struct label_selector *s)
{
	vec_each (c, &s->conditions) {
		if (c->how == LABEL_MATCHES || c->how == LABEL_MATCHES_NOT)
			regfree(&c->pattern);
		free(c->name);
		free(c->value);
	}
	vec_done(&s->conditions);
}
