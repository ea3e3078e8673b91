/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of OCaml: "caml", the path of the module, and the function with a number that
 * distinguishes functions of the same name; the number stays. The path is separated by "__" up to
 * OCaml 5.0, by "." or "$" later. A character that assemblers reject is "$" and two hexadecimal
 * digits. C functions of OCaml's runtime are named caml_..., so a capital letter must follow.
 */
#include "symbol/demangle/demangle_internal.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '\'';
}

static int hex_digit(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* True for the end of a function's name: a number, or one of the names for a module's own code. */
static bool ends_well(const char *name, size_t size)
{
	static const char *const own[] = {"entry", "code_begin", "code_end"};
	size_t at = size;

	while (at && is_digit(name[at - 1]))
		at--;
	if (at < size)
		return at && name[at - 1] == '_';
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		size_t length = strlen(own[i]);

		if (size > length && !memcmp(name + size - length, own[i], length))
			return true;
	}
	return false;
}

/* The end of the separator at `at`; `at` itself if there is none. */
static size_t separator_end(const char *name, size_t size, size_t at)
{
	if (name[at] == '.' && at + 1 < size)
		return at + 1;
	return at + 2 < size && name[at] == '_' && name[at + 1] == '_' ? at + 2 : at;
}

bool demangle_ocaml(const char *name, size_t size, struct buf *out)
{
	size_t at = 4, next, parts = 1;

	if (size < 6 || memcmp(name, "caml", 4) != 0 || name[at] < 'A' || name[at] > 'Z' ||
	    !ends_well(name, size))
		return false;
	while (at < size) {
		next = separator_end(name, size, at);
		if (next > at) {
			buf_putc(out, '.');
			parts++;
			at = next;
		} else if (name[at] == '$' && at + 2 < size && hex_digit(name[at + 1]) >= 2 &&
		           hex_digit(name[at + 1]) <= 7 && hex_digit(name[at + 2]) >= 0) {
			buf_putc(out,
			         (char)(hex_digit(name[at + 1]) << 4 | hex_digit(name[at + 2])));
			at += 3;
		} else if (is_name(name[at])) {
			buf_putc(out, name[at++]);
		} else {
			return false;
		}
	}
	return parts > 1;
}
