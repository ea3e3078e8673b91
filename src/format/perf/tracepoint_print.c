/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/tracepoint_print.h"

#include <ctype.h>
#include <string.h>

/* The end of a quoted text that begins at `p`, after its second quote. */
static const char *after_quotes(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* The end of an argument: the next comma outside of brackets and quotes. */
static const char *after_argument(const char *p, const char *end)
{
	int depth = 0;

	while (p < end && (*p != ',' || depth > 0)) {
		depth += (*p == '(' || *p == '{' || *p == '[') -
		         (*p == ')' || *p == '}' || *p == ']');
		p = *p == '"' ? after_quotes(p, end) : p + 1;
	}
	return p;
}

/*
 * The letter of the next conversion at or after *at, which is moved behind it; 0: there is none.
 * '*' is a width that is an argument of its own: its conversion follows without a '%'.
 */
static char next_conversion(const char **at, const char *end)
{
	const char *p = *at;
	bool begun = p[-1] == '*';

	while (!begun && p < end && *p != '%')
		p++;
	for (p += !begun && p < end; p < end && strchr("-+ #0123456789.hlLqjzt", *p); p++)
		;
	*at = p < end ? p + 1 : end;
	return p < end ? *p : 0;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The field of an argument that has nothing else except brackets and casts: "(void *)REC->ip". */
static struct tracepoint_field *field_of(struct tracepoint *t, const char *p, const char *end)
{
	const char *name = memmem(p, (size_t)(end - p), "REC->", 5), *rest;

	if (!name)
		return NULL;
	for (; p < name; p++)
		if (!is_name(*p) && !strchr("(*) \t\n", *p))
			return NULL;
	name += 5;
	for (rest = name; rest < end && is_name(*rest);)
		rest++;
	for (p = rest; p < end; p++)
		if (!strchr(") \t\n", *p))
			return NULL;
	vec_each (field, &t->fields)
		if (strlen(field->name) == (size_t)(rest - name) &&
		    !memcmp(field->name, name, (size_t)(rest - name)))
			return field;
	return NULL;
}

void tracepoint_print_hex(struct tracepoint *t, const char *text, const char *end)
{
	const char *format = memchr(text, '"', (size_t)(end - text)), *argument, *format_end;

	if (!format)
		return;
	format_end = argument = after_quotes(format++, end);
	while (argument < end) {
		char letter = next_conversion(&format, format_end);
		const char *begin = after_argument(argument, end), *stop;
		struct tracepoint_field *field;

		if (letter == '%')
			continue;
		if (!letter || begin >= end)
			return;
		stop = after_argument(begin + 1, end);
		field = strchr("xXp", letter) ? field_of(t, begin + 1, stop) : NULL;
		if (field)
			field->is_hex = true;
		argument = stop;
	}
}
