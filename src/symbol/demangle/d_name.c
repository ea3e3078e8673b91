/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/demangle/d_name.h"

#include "base/limit.h"

#include <stdint.h>

#define STEPS_MAX 20000
#define DEPTH_MAX 200

bool d_name_enter(struct d_name_reader *r)
{
	if (++r->steps > STEPS_MAX || r->depth >= DEPTH_MAX || r->out->size > LIMIT_DEMANGLED_BYTES)
		return false;
	r->depth++;
	return true;
}

bool d_name_leave(struct d_name_reader *r, bool good)
{
	r->depth--;
	return good;
}

void d_name_cut(struct d_name_reader *r, size_t size)
{
	if (r->out->size > size) {
		r->out->size = size;
		r->out->data[size] = '\0';
	}
}

bool d_name_read_number(struct d_name_reader *r, size_t *number)
{
	const char *start = r->at;

	for (*number = 0; d_name_is_digit(d_name_peek(r)); r->at++) {
		if (*number > (SIZE_MAX - 9) / 10)
			return false;
		*number = *number * 10 + (size_t)(*r->at - '0');
	}
	return r->at > start;
}

const char *d_name_read_back(struct d_name_reader *r)
{
	const char *q = r->at;
	size_t back = 0;

	if (!d_name_skip(r, 'Q'))
		return NULL;
	for (; d_name_peek(r) >= 'A' && d_name_peek(r) <= 'Z' && back < (size_t)(r->end - r->start);
	     r->at++)
		back = back * 26 + (size_t)(*r->at - 'A');
	if (d_name_peek(r) < 'a' || d_name_peek(r) > 'z')
		return NULL;
	back = back * 26 + (size_t)(*r->at++ - 'a');
	return back && back <= (size_t)(q - r->start) ? q - back : NULL;
}

bool d_name_read_at(struct d_name_reader *r, const char *there, const char *q,
                    bool (*rule)(struct d_name_reader *))
{
	const char *at = r->at, *end = r->end;
	bool good;

	if (!there)
		return false;
	r->at = there;
	r->end = q; /* the text ends before the reference, which prevents an endless loop */
	good = rule(r);
	r->at = at;
	r->end = end;
	return good;
}

bool d_name_read_items(struct d_name_reader *r, const char *open,
                       bool (*read_item)(struct d_name_reader *r))
{
	buf_puts(r->out, open);
	for (bool first = true; !d_name_skip(r, 'Z'); first = false) {
		if (!first)
			buf_puts(r->out, ", ");
		if (!d_name_enter(r) || !d_name_leave(r, read_item(r)))
			return false;
	}
	buf_putc(r->out, ')');
	return true;
}
