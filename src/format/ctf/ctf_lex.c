/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits metadata into tokens. Comments are skipped, except comments of assay ("assay X"), which
 * are attached to the next token. Uses: base.
 */
#include "format/ctf/ctf_tsdl.h"

#include <errno.h>
#include <string.h>

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static int digit_value(char c)
{
	return digit(c)               ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : 99;
}

static void take_note(struct ctf_lexer *l, struct ctf_token *t, const char *text, const char *end,
                      size_t line)
{
	static const char mark[] = "assay ", names[] = "assay names ";
	size_t length = (size_t)(end - text);

	if (length > sizeof(names) - 1 && !memcmp(text, names, sizeof(names) - 1)) {
		text += sizeof(names) - 1;
		vec_push(&l->names, (struct ctf_names_note){text, (size_t)(end - text), line});
	} else if (length >= sizeof(mark) && !memcmp(text, mark, sizeof(mark) - 1)) {
		t->note = text + sizeof(mark) - 1;
		t->note_length = (size_t)(end - t->note);
	}
}

/* Called after the two characters that begin a comment. */
static int skip_comment(struct ctf_lexer *l, struct ctf_token *t, struct error *err)
{
	const char *begin = l->at + 2;
	size_t line = l->line;

	if (l->at[1] == '/') {
		const char *stop = memchr(begin, '\n', (size_t)(l->end - begin));

		l->at = stop ? stop : l->end;
		return 0;
	}
	for (const char *p = begin; p + 1 < l->end; p++) {
		l->line += *p == '\n';
		if (p[0] == '*' && p[1] == '/') {
			take_note(l, t, begin, p, line);
			l->at = p + 2;
			return 0;
		}
	}
	return error_set(err, EINVAL, "%s:%zu: this comment has no end", l->path, line);
}

static int skip_blanks(struct ctf_lexer *l, struct ctf_token *t, struct error *err)
{
	int rc = 0;

	while (!rc && l->at < l->end) {
		if (*l->at == '\n')
			l->line++;
		if (*l->at == ' ' || (*l->at >= '\t' && *l->at <= '\r'))
			l->at++;
		else if (*l->at == '/' && l->at + 1 < l->end &&
		         (l->at[1] == '*' || l->at[1] == '/'))
			rc = skip_comment(l, t, err);
		else
			break;
	}
	return rc;
}

static int take_number(struct ctf_lexer *l, struct ctf_token *t, struct error *err)
{
	int base = 10;

	t->kind = CTF_NUMBER;
	if (*l->at == '0' && l->at + 1 < l->end && (l->at[1] == 'x' || l->at[1] == 'X')) {
		base = 16;
		l->at += 2;
	} else if (*l->at == '0') {
		base = 8;
	}
	if (l->at >= l->end || digit_value(*l->at) >= base)
		goto bad;
	for (; l->at < l->end && digit_value(*l->at) < base; l->at++)
		if (__builtin_mul_overflow(t->number, (uint64_t)base, &t->number) ||
		    __builtin_add_overflow(t->number, (uint64_t)digit_value(*l->at), &t->number))
			goto bad;
	while (l->at < l->end && strchr("uUlL", *l->at) && *l->at)
		l->at++;
	if (l->at >= l->end || !(letter(*l->at) || digit(*l->at)))
		return 0;
bad:
	return error_set(err, EINVAL, "%s:%zu: this is not a 64-bit number", l->path, l->line);
}

/* Called after a backslash. */
static char take_escape(struct ctf_lexer *l)
{
	static const char names[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
	const char *name = memchr(names, *l->at, sizeof(names) - 1);
	int value = 0, digits = 0, base = 8;

	if (name) {
		l->at++;
		return values[name - names];
	}
	if (*l->at == 'x') {
		base = 16;
		l->at++;
	} else if (digit_value(*l->at) > 7) {
		return *l->at++;
	}
	for (; digits < (base == 8 ? 3 : 2) && l->at < l->end && digit_value(*l->at) < base;
	     l->at++, digits++)
		value = value * base + digit_value(*l->at);
	return (char)value;
}

static int take_string(struct ctf_lexer *l, struct ctf_token *t, struct error *err)
{
	const char *plain = ++l->at;

	t->kind = CTF_STRING;
	while (l->at < l->end && *l->at != '"' && *l->at != '\\' && *l->at != '\n')
		l->at++;
	/* The common case: no escape sequence. */
	if (l->at < l->end && *l->at == '"') {
		t->text = plain;
		t->length = (size_t)(l->at++ - plain);
		return 0;
	}
	buf_clear(&l->string);
	buf_add(&l->string, plain, (size_t)(l->at - plain));
	while (l->at < l->end && *l->at != '"' && *l->at != '\n') {
		if (*l->at != '\\') {
			buf_putc(&l->string, *l->at++);
			continue;
		}
		if (++l->at < l->end)
			buf_putc(&l->string, take_escape(l));
	}
	if (l->at >= l->end || *l->at != '"')
		return error_set(err, EINVAL, "%s:%zu: a string has no end on its line", l->path,
		                 l->line);
	l->at++;
	t->text = buf_text(&l->string);
	t->length = l->string.size;
	return 0;
}

static void take_sign(struct ctf_lexer *l, struct ctf_token *t)
{
	t->kind = CTF_SIGN;
	t->number = (unsigned char)*l->at++;
	if (t->number == ':' && l->at < l->end && *l->at == '=') {
		t->number = 'A';
		l->at++;
	}
}

int ctf_lexer_next(struct ctf_lexer *l, struct ctf_token *t, struct error *err)
{
	int rc;

	*t = (struct ctf_token){0};
	rc = skip_blanks(l, t, err);
	t->line = l->line;
	if (rc || l->at >= l->end)
		return rc;
	t->text = l->at;
	if (letter(*l->at)) {
		t->kind = CTF_WORD;
		while (l->at < l->end && (letter(*l->at) || digit(*l->at)))
			l->at++;
		t->length = (size_t)(l->at - t->text);
		return 0;
	}
	if (*l->at == '-' && l->at + 1 < l->end && digit(l->at[1])) {
		t->negative = true;
		l->at++;
	}
	if (digit(*l->at))
		return take_number(l, t, err);
	if (*l->at == '"')
		return take_string(l, t, err);
	take_sign(l, t);
	return 0;
}

bool ctf_token_is(const struct ctf_token *t, const char *word)
{
	return t->kind == CTF_WORD && strlen(word) == t->length &&
	       !memcmp(t->text, word, t->length);
}

bool ctf_token_sign(const struct ctf_token *t, char sign)
{
	return t->kind == CTF_SIGN && t->number == (unsigned char)sign;
}
