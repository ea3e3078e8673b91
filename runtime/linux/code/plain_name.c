/* SPDX-License-Identifier: MIT */
/*
 * symbols_plain(): demangles C++ function names of the Itanium ABI to the form "a::b". It supports
 * names, nested names, constructors, destructors and operators, and omits template arguments.
 * Lambdas and names local to functions are not supported.
 */
#include "linux/code/symbols.h"

#include <string.h>

#define MOST_LENGTH 4096

struct parse {
	const char *at, *end;
	char *out;
	size_t used, room;
	const char *last; /* the previous name, for constructors */
	size_t last_length;
	bool bad;
};

static char peek(const struct parse *p, size_t ahead)
{
	return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static void put(struct parse *p, const char *text, size_t length)
{
	if (p->bad || length >= p->room - p->used) {
		p->bad = true;
		return;
	}
	memcpy(p->out + p->used, text, length);
	p->used += length;
	p->out[p->used] = 0;
}

static void put_text(struct parse *p, const char *text)
{
	put(p, text, strlen(text));
}

/* "3foo": the name and its length. NULL: no such name. */
static const char *take_source(struct parse *p, size_t *length)
{
	const char *name;

	*length = 0;
	while (is_digit(peek(p, 0)) && *length < MOST_LENGTH)
		*length = *length * 10 + (size_t)(*p->at++ - '0');
	if (!*length || *length > (size_t)(p->end - p->at)) {
		p->bad = true;
		return NULL;
	}
	name = p->at;
	p->at += *length;
	return name;
}

static void skip_past(struct parse *p, char stop)
{
	while (p->at < p->end && *p->at != stop)
		p->at++;
	if (p->at == p->end)
		p->bad = true;
	else
		p->at++;
}

/* Skips a value: "Li5E", "Lb1E", "L3fooE4..". More complex values are not supported. */
static void skip_value(struct parse *p)
{
	size_t length;

	p->at++;
	if (is_digit(peek(p, 0)))
		take_source(p, &length);
	else if (is_lower(peek(p, 0)))
		p->at++;
	else
		p->bad = true;
	if (!p->bad)
		skip_past(p, 'E');
}

/* Skips template arguments, from I to the E that ends them. */
static void skip_arguments(struct parse *p)
{
	int depth = 0;
	size_t length;

	do {
		char c = peek(p, 0), next = peek(p, 1);

		if (is_digit(c)) {
			take_source(p, &length);
		} else if (c == 'L') {
			skip_value(p);
		} else if (c == 'T' || (c == 'S' && !is_lower(next))) {
			skip_past(p, '_'); /* references to earlier parts: T_, T0_, S_, S1_ */
		} else if (c == 'A') {
			skip_past(p, '_');
		} else if (c == 'S' || (c == 'D' && next && next != 't' && next != 'T')) {
			p->at += 2;
		} else if (c == 'I' || c == 'N' || c == 'J' || c == 'F') {
			depth++;
			p->at++;
		} else if (c == 'E') {
			depth--;
			p->at++;
		} else if (is_lower(c) || c == 'P' || c == 'R' || c == 'O' || c == 'K' ||
		           c == 'V' || c == 'M') {
			p->at++;
		} else {
			p->bad = true; /* expressions and the end of the text */
		}
	} while (!p->bad && depth);
}

/* Operators: two letters and the symbol. */
static bool take_operator(struct parse *p)
{
	static const char operators[][2][10] = {
	        {"nw", " new"}, {"na", " new[]"}, {"dl", " delete"}, {"da", " delete[]"},
	        {"co", "~"},    {"pl", "+"},      {"mi", "-"},       {"ml", "*"},
	        {"dv", "/"},    {"rm", "%"},      {"an", "&"},       {"or", "|"},
	        {"eo", "^"},    {"aS", "="},      {"pL", "+="},      {"mI", "-="},
	        {"mL", "*="},   {"dV", "/="},     {"rM", "%="},      {"aN", "&="},
	        {"oR", "|="},   {"eO", "^="},     {"ls", "<<"},      {"rs", ">>"},
	        {"lS", "<<="},  {"rS", ">>="},    {"eq", "=="},      {"ne", "!="},
	        {"lt", "<"},    {"gt", ">"},      {"le", "<="},      {"ge", ">="},
	        {"ss", "<=>"},  {"nt", "!"},      {"aa", "&&"},      {"oo", "||"},
	        {"pp", "++"},   {"mm", "--"},     {"cm", ","},       {"pm", "->*"},
	        {"pt", "->"},   {"cl", "()"},     {"ix", "[]"},      {"ng", "-"},
	        {"ps", "+"},    {"ad", "&"},      {"de", "*"},
	};

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (peek(p, 0) != operators[i][0][0] || peek(p, 1) != operators[i][0][1])
			continue;
		p->at += 2;
		put_text(p, "operator");
		put_text(p, operators[i][1]);
		return true;
	}
	return false;
}

static void take_source_name(struct parse *p)
{
	size_t length;
	const char *name = take_source(p, &length);

	if (!name)
		return;
	if (length >= 10 && !memcmp(name, "_GLOBAL__N", 10)) {
		name = "(anonymous namespace)";
		length = strlen(name);
	}
	put(p, name, length);
	p->last = name;
	p->last_length = length;
}

/* One part of a nested name. */
static void take_part(struct parse *p)
{
	char c = peek(p, 0), next = peek(p, 1);

	if (c == 'L' && is_digit(next)) { /* of internal linkage */
		p->at++;
		c = next;
	}
	if (is_digit(c)) {
		take_source_name(p);
	} else if ((c == 'C' || c == 'D') && is_digit(next)) {
		p->at += 2;
		if (c == 'D')
			put_text(p, "~");
		if (p->last)
			put(p, p->last, p->last_length);
		else
			p->bad = true;
	} else if (c == 'S' && next == 't') {
		p->at += 2;
		put_text(p, "std");
	} else if (!take_operator(p)) {
		p->bad = true;
	}
	while (!p->bad && peek(p, 0) == 'B') { /* a tag of the ABI */
		size_t length;

		p->at++;
		take_source(p, &length);
	}
	if (!p->bad && peek(p, 0) == 'I')
		skip_arguments(p);
}

static void take_nested(struct parse *p)
{
	while (strchr("rVKRO", peek(p, 0)) && peek(p, 0))
		p->at++;
	do {
		if (p->used)
			put_text(p, "::");
		take_part(p);
	} while (!p->bad && peek(p, 0) != 'E');
}

bool symbols_plain(const char *name, size_t length, char *out, size_t room)
{
	struct parse p = {.at = name, .end = name + length, .out = out, .room = room};

	if (length < 4 || !room || name[0] != '_' || name[1] != 'Z')
		return false;
	p.at += 2;
	if (peek(&p, 0) == 'N') {
		p.at++;
		take_nested(&p);
	} else if (peek(&p, 0) == 'S' && peek(&p, 1) == 't') {
		p.at += 2;
		put_text(&p, "std::");
		take_part(&p);
	} else if (is_upper(peek(&p, 0)) && peek(&p, 0) != 'L') {
		return false; /* tables, guards, thunks, local names */
	} else {
		take_part(&p);
	}
	return !p.bad && p.used;
}
