/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of D, and the parameters of functions. */
#include "symbol/demangle/d_name.h"

#include <string.h>

#define COPIED_A_STEP 64 /* copying so many bytes of text counts as one step */

bool d_name_is_convention(char c)
{
	return c == 'F' || c == 'U' || c == 'W' || c == 'R' || c == 'Y';
}

static void skip_attributes(struct d_name_reader *r)
{
	while (r->end - r->at >= 2 && r->at[0] == 'N' && r->at[1] >= 'a' && r->at[1] <= 'm' &&
	       r->at[1] != 'g' && r->at[1] != 'h' && r->at[1] != 'k')
		r->at += 2;
}

void d_name_skip_modifiers(struct d_name_reader *r)
{
	while (d_name_peek(r) == 'O' || d_name_peek(r) == 'x' || d_name_peek(r) == 'y' ||
	       (r->end - r->at >= 2 && r->at[0] == 'N' && r->at[1] == 'g'))
		r->at += d_name_peek(r) == 'N' ? 2 : 1;
}

static bool read_parameter(struct d_name_reader *r)
{
	static const char letters[] = "IJKL";
	static const char *const words[] = {"in ", "out ", "ref ", "lazy "};
	const char *known;

	while (d_name_skip(r, 'M') || (r->end - r->at >= 2 && r->at[0] == 'N' && r->at[1] == 'k'))
		r->at += d_name_peek(r) == 'N' ? 2 : 0;
	while ((known = d_name_peek(r) ? strchr(letters, d_name_peek(r)) : NULL)) {
		buf_puts(r->out, words[known - letters]);
		r->at++;
	}
	return d_name_read_type(r);
}

bool d_name_read_parameters(struct d_name_reader *r)
{
	if (!d_name_is_convention(d_name_peek(r)))
		return false;
	r->at++;
	skip_attributes(r);
	buf_putc(r->out, '(');
	for (bool first = true;; first = false) {
		char c = d_name_peek(r);

		if (c == 'X' || c == 'Y' || c == 'Z') {
			r->at++;
			buf_puts(r->out, c == 'Z' ? ")" : c == 'X' ? "...)" : ", ...)");
			return true;
		}
		if (!first)
			buf_puts(r->out, ", ");
		if (!d_name_enter(r) || !d_name_leave(r, read_parameter(r)))
			return false;
	}
}

static const char *basic_type(char c)
{
	static const struct {
		char letter;
		const char *name;
	} types[] = {{'v', "void"},    {'g', "byte"},    {'h', "ubyte"},       {'s', "short"},
	             {'t', "ushort"},  {'i', "int"},     {'k', "uint"},        {'l', "long"},
	             {'m', "ulong"},   {'f', "float"},   {'d', "double"},      {'e', "real"},
	             {'o', "ifloat"},  {'p', "idouble"}, {'j', "ireal"},       {'q', "cfloat"},
	             {'r', "cdouble"}, {'c', "creal"},   {'b', "bool"},        {'a', "char"},
	             {'u', "wchar"},   {'w', "dchar"},   {'n', "typeof(null)"}};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].letter == c)
			return types[i].name;
	return NULL;
}

static bool read_wrapped(struct d_name_reader *r, const char *before, const char *after)
{
	bool good;

	buf_puts(r->out, before);
	good = d_name_read_type(r);
	buf_puts(r->out, after);
	return good;
}

/* int function(char): the return type comes last, and is printed first. */
static bool read_function(struct d_name_reader *r, const char *word)
{
	size_t start = r->out->size, middle;
	struct buf parameters = {0};
	bool good;

	d_name_skip_modifiers(r);
	buf_puts(r->out, word);
	if (!d_name_read_parameters(r))
		return false;
	middle = r->out->size;
	buf_add(&parameters, r->out->data + start, middle - start);
	d_name_cut(r, start);
	r->steps += (unsigned)(parameters.size / COPIED_A_STEP);
	good = d_name_read_type(r);
	buf_add(r->out, parameters.data, parameters.size);
	buf_done(&parameters);
	return good;
}

static bool read_static_array(struct d_name_reader *r)
{
	const char *digits = r->at;
	size_t number, length;

	if (!d_name_read_number(r, &number))
		return false;
	length = (size_t)(r->at - digits);
	if (!d_name_read_type(r))
		return false;
	buf_putc(r->out, '[');
	buf_add(r->out, digits, length);
	buf_putc(r->out, ']');
	return true;
}

/* value[key]; the key comes first. */
static bool read_map(struct d_name_reader *r)
{
	size_t start = r->out->size;
	struct buf key = {0};
	bool good = d_name_read_type(r);

	if (good)
		buf_add(&key, r->out->data + start, r->out->size - start);
	r->steps += (unsigned)(key.size / COPIED_A_STEP);
	d_name_cut(r, start);
	good = good && d_name_read_type(r);
	buf_putc(r->out, '[');
	buf_add(r->out, buf_text(&key), key.size);
	buf_putc(r->out, ']');
	buf_done(&key);
	return good;
}

static bool read_tuple(struct d_name_reader *r)
{
	return d_name_read_items(r, "tuple(", read_parameter);
}

static bool read_two_letters(struct d_name_reader *r, char first)
{
	char c = d_name_peek(r);

	if (c)
		r->at++;
	if (first == 'z' && (c == 'i' || c == 'k')) {
		buf_puts(r->out, c == 'i' ? "cent" : "ucent");
		return true;
	}
	if (first == 'N' && c == 'n') {
		buf_puts(r->out, "noreturn");
		return true;
	}
	if (first == 'N' && (c == 'g' || c == 'h'))
		return read_wrapped(r, c == 'g' ? "inout(" : "__vector(", ")");
	return false;
}

static bool read_pointer(struct d_name_reader *r)
{
	if (d_name_is_convention(d_name_peek(r)))
		return read_function(r, " function");
	return read_wrapped(r, "", "*");
}

/* Parses the rest of a type after its first letter `c`. */
static bool read_type_of(struct d_name_reader *r, char c)
{
	const char *basic = basic_type(c);

	if (basic) {
		buf_puts(r->out, basic);
		return true;
	}
	switch (c) {
	case 'O':
		return read_wrapped(r, "shared(", ")");
	case 'x':
		return read_wrapped(r, "const(", ")");
	case 'y':
		return read_wrapped(r, "immutable(", ")");
	case 'A':
		return read_wrapped(r, "", "[]");
	case 'G':
		return read_static_array(r);
	case 'H':
		return read_map(r);
	case 'P':
		return read_pointer(r);
	case 'D':
		return read_function(r, " delegate");
	case 'C':
	case 'S':
	case 'E':
	case 'T':
	case 'I':
		return d_name_read_qualified(r, false);
	case 'B':
		return read_tuple(r);
	default:
		return (c == 'z' || c == 'N') && read_two_letters(r, c);
	}
}

bool d_name_read_type(struct d_name_reader *r)
{
	const char *q = r->at, *there;
	bool good;

	if (!d_name_enter(r))
		return false;
	if (d_name_peek(r) == 'Q') {
		there = d_name_read_back(r);
		good = d_name_read_at(r, there, q, d_name_read_type);
	} else if (d_name_is_convention(d_name_peek(r))) {
		good = read_function(r, "");
	} else {
		good = r->at < r->end && (r->at++, read_type_of(r, *q));
	}
	return d_name_leave(r, good);
}
