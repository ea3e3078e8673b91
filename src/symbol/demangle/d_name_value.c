/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of template arguments. */
#include "symbol/demangle/d_name.h"

static bool read_integer(struct d_name_reader *r, char type)
{
	const char *digits = r->at;
	size_t number;

	if (!d_name_read_number(r, &number))
		return false;
	if (type == 'b')
		buf_puts(r->out, number ? "true" : "false");
	else if ((type == 'a' || type == 'u' || type == 'w') && number >= ' ' && number < 127)
		buf_addf(r->out, "'%c'", (char)number);
	else
		buf_add(r->out, digits, (size_t)(r->at - digits));
	return true;
}

static int hex_digit(char c)
{
	return d_name_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_text(struct d_name_reader *r)
{
	size_t size;

	if (!d_name_read_number(r, &size) || !d_name_skip(r, '_') ||
	    size > (size_t)(r->end - r->at) / 2)
		return false;
	buf_putc(r->out, '"');
	for (; size; size--, r->at += 2) {
		int high = hex_digit(r->at[0]), low = hex_digit(r->at[1]);

		if (high < 0 || low < 0)
			return false;
		buf_putc(r->out, high >= 2 ? (char)(high << 4 | low) : '.');
	}
	buf_putc(r->out, '"');
	return true;
}

static bool read_real(struct d_name_reader *r)
{
	const char *start = r->at;

	while (d_name_is_digit(d_name_peek(r)) ||
	       (d_name_peek(r) >= 'A' && d_name_peek(r) <= 'F') || d_name_peek(r) == 'N' ||
	       d_name_peek(r) == 'I' || d_name_peek(r) == 'P')
		r->at++;
	buf_add(r->out, start, (size_t)(r->at - start));
	return r->at > start;
}

static bool read_list(struct d_name_reader *r, const char *open, const char *close)
{
	size_t count;

	if (!d_name_read_number(r, &count))
		return false;
	buf_puts(r->out, open);
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_puts(r->out, ", ");
		if (!d_name_read_value(r, '\0'))
			return false;
	}
	buf_puts(r->out, close);
	return true;
}

static bool read_value_of(struct d_name_reader *r, char type)
{
	if (d_name_is_digit(d_name_peek(r)))
		return read_integer(r, type);
	if (d_name_skip(r, 'i'))
		return read_integer(r, type);
	if (d_name_skip(r, 'N')) {
		buf_putc(r->out, '-');
		return read_integer(r, type);
	}
	if (d_name_skip(r, 'n')) {
		buf_puts(r->out, "null");
		return true;
	}
	if (d_name_skip(r, 'e'))
		return read_real(r);
	if (d_name_skip(r, 'c'))
		return read_real(r) && d_name_skip(r, 'c') && (buf_putc(r->out, '+'), read_real(r));
	if (d_name_skip(r, 'a') || d_name_skip(r, 'w') || d_name_skip(r, 'd'))
		return read_text(r);
	if (d_name_skip(r, 'A'))
		return read_list(r, "[", "]");
	if (d_name_skip(r, 'S'))
		return read_list(r, "(", ")");
	return d_name_skip(r, 'f') && d_name_read_symbol(r);
}

bool d_name_read_value(struct d_name_reader *r, char type)
{
	return d_name_enter(r) && d_name_leave(r, read_value_of(r, type));
}
