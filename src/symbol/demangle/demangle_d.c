/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangles D names by the grammar of D's ABI ("Name Mangling"). libiberty's parser is not used: a
 * name can refer back to its own parts and be ambiguous, and that parser has no bound for
 * either. Here each step is counted, and a name that needs too many steps stays as it is. Return
 * types and attributes of functions are parsed and not printed.
 */
#include "symbol/demangle/d_name.h"

#include <string.h>

static bool read_identifier(struct d_name_reader *r);

static bool read_external(struct d_name_reader *r)
{
	size_t size;

	if (!d_name_read_number(r, &size) || size > (size_t)(r->end - r->at))
		return false;
	buf_add(r->out, r->at, size);
	r->at += size;
	return true;
}

static bool read_template_value(struct d_name_reader *r)
{
	char type = d_name_peek(r);
	size_t before = r->out->size;

	if (!d_name_read_type(r))
		return false;
	d_name_cut(r, before);
	return d_name_read_value(r, type);
}

static bool read_template_argument(struct d_name_reader *r)
{
	d_name_skip(r, 'H');
	if (d_name_skip(r, 'T'))
		return d_name_read_type(r);
	if (d_name_skip(r, 'V'))
		return read_template_value(r);
	if (d_name_skip(r, 'X'))
		return read_external(r);
	return d_name_skip(r, 'S') && d_name_read_symbol(r);
}

/* After "__T" or "__U": name!(arguments) */
static bool read_template(struct d_name_reader *r)
{
	return read_identifier(r) && d_name_read_items(r, "!(", read_template_argument);
}

static bool skip_template_mark(struct d_name_reader *r)
{
	if (r->end - r->at < 3 || (memcmp(r->at, "__T", 3) != 0 && memcmp(r->at, "__U", 3) != 0))
		return false;
	r->at += 3;
	return true;
}

static void add_name(struct d_name_reader *r, const char *name, size_t size)
{
	static const char *const special[][2] = {
	        {"__ctor", "this"}, {"__dtor", "~this"}, {"__postblit", "this(this)"}};

	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++) {
		if (size == strlen(special[i][0]) && !memcmp(name, special[i][0], size)) {
			buf_puts(r->out, special[i][1]);
			return;
		}
	}
	buf_add(r->out, name, size);
}

/* Parses a number and that many characters, which may be a template. */
static bool read_counted(struct d_name_reader *r)
{
	const char *end = r->end;
	size_t size;
	bool good;

	if (!d_name_read_number(r, &size) || !size || size > (size_t)(r->end - r->at))
		return false;
	r->end = r->at + size;
	if (skip_template_mark(r)) {
		good = read_template(r) && r->at == r->end;
	} else {
		add_name(r, r->at, size);
		r->at = r->end;
		good = true;
	}
	r->end = end;
	return good;
}

static bool read_identifier(struct d_name_reader *r)
{
	const char *q = r->at, *there;
	bool good;

	if (!d_name_enter(r))
		return false;
	if (d_name_peek(r) == 'Q') {
		there = d_name_read_back(r);
		good = there && d_name_is_digit(*there) &&
		       d_name_read_at(r, there, q, read_counted);
	} else if (skip_template_mark(r)) {
		good = read_template(r);
	} else {
		good = read_counted(r);
	}
	return d_name_leave(r, good);
}

/* Parses the parameters after a function's name, if there are any. */
static void try_parameters(struct d_name_reader *r, bool top)
{
	const char *before = r->at;
	size_t size = r->out->size;

	if (d_name_skip(r, 'M'))
		d_name_skip_modifiers(r);
	/* A type must follow. Otherwise the letters belong to the outer name. */
	if (!d_name_read_parameters(r) || r->at == r->end) {
		r->at = before;
		d_name_cut(r, size);
	} else if (top && r->bare) {
		d_name_cut(r, size);
	}
}

static bool begins_name(const struct d_name_reader *r)
{
	return d_name_is_digit(d_name_peek(r)) || d_name_peek(r) == '_' ||
	       (d_name_peek(r) == 'Q' && r->end - r->at > 1);
}

/* True if a back reference is to a name, not to a type. */
static bool is_name_reference(struct d_name_reader *r)
{
	const char *before = r->at, *there = d_name_read_back(r);

	r->at = before;
	return there && d_name_is_digit(*there);
}

bool d_name_read_qualified(struct d_name_reader *r, bool top)
{
	bool first = true;

	if (!d_name_enter(r))
		return false;
	while (begins_name(r) && (d_name_peek(r) != 'Q' || is_name_reference(r))) {
		if (d_name_skip(r, '0'))
			continue; /* without a name */
		if (!first)
			buf_putc(r->out, '.');
		if (!read_identifier(r))
			return d_name_leave(r, false);
		first = false;
		if (d_name_peek(r) == 'M' || d_name_is_convention(d_name_peek(r)))
			try_parameters(r, top);
	}
	return d_name_leave(r, !first);
}

/* After "_D": the name, and its type, which is not printed. */
static bool read_mangled(struct d_name_reader *r, bool top)
{
	size_t printed;

	if (!d_name_read_qualified(r, top))
		return false;
	printed = r->out->size;
	if (!d_name_skip(r, 'Z') && !d_name_read_type(r))
		return false;
	d_name_cut(r, printed);
	return true;
}

bool d_name_read_symbol(struct d_name_reader *r)
{
	if (r->end - r->at < 3 || r->at[0] != '_' || r->at[1] != 'D')
		return d_name_read_qualified(r, false);
	r->at += 2;
	return d_name_enter(r) && d_name_leave(r, read_mangled(r, false));
}

bool demangle_d(const char *name, size_t size, bool bare, struct buf *out)
{
	struct d_name_reader r = {
	        .start = name, .at = name + 2, .end = name + size, .out = out, .bare = bare};

	if (size == 6 && !memcmp(name, "_Dmain", 6)) {
		buf_puts(out, "D main");
		return true;
	}
	if (size < 4 || memcmp(name, "_D", 2) != 0 || !d_name_is_digit(name[2]) || name[2] == '0')
		return false;
	return read_mangled(&r, true) && r.at == r.end;
}
