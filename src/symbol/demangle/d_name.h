/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * d_name: a mangled D name that is being read, and the rules of the grammar that several files use.
 *
 * A rule reads from `at`, appends what it prints to `out`, and returns false if the text does not
 * follow the grammar or needs too many steps. Then the whole name is invalid. The caller sets
 * `start`, `at`, `end` and `out`, and owns `out`. Any thread. Uses: base.
 */
#ifndef ASSAY_SYMBOL_DEMANGLE_D_NAME_H
#define ASSAY_SYMBOL_DEMANGLE_D_NAME_H

#include "symbol/demangle/demangle_internal.h"

struct d_name_reader {
	const char *start, *at, *end;
	struct buf *out;
	unsigned steps, depth;
	bool bare; /* parameters of the outermost name are not printed */
};

/* '\0' at the end of the text. */
static inline char d_name_peek(const struct d_name_reader *r)
{
	return r->at < r->end ? *r->at : '\0';
}

static inline bool d_name_skip(struct d_name_reader *r, char c)
{
	if (d_name_peek(r) != c || !c)
		return false;
	r->at++;
	return true;
}

static inline bool d_name_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Every rule begins with d_name_enter(). If it returns true, d_name_leave() must follow. */
bool d_name_enter(struct d_name_reader *r);
/* Returns `good`. */
bool d_name_leave(struct d_name_reader *r, bool good);

/* Truncates the printed text to `size` bytes; it stays terminated. */
void d_name_cut(struct d_name_reader *r, size_t size);

bool d_name_read_number(struct d_name_reader *r, size_t *number);
/*
 * Reads a back reference: "Q" and a number in base 26 (the last digit is in lower case), a distance
 * in bytes. Returns the text that it refers to, or NULL.
 */
const char *d_name_read_back(struct d_name_reader *r);
/*
 * Parses the text at the earlier position `there` by `rule`, and continues after the reference,
 * which begins at `q`.
 */
bool d_name_read_at(struct d_name_reader *r, const char *there, const char *q,
                    bool (*rule)(struct d_name_reader *));
/* Parses items up to "Z", and prints them in parentheses; `open` is the opening text. */
bool d_name_read_items(struct d_name_reader *r, const char *open,
                       bool (*read_item)(struct d_name_reader *r));

/* demangle_d.c: names. `top`: the outermost name. */
bool d_name_read_qualified(struct d_name_reader *r, bool top);
/* A name, mangled or not. */
bool d_name_read_symbol(struct d_name_reader *r);

/* d_name_type.c: types and parameters. */
bool d_name_read_type(struct d_name_reader *r);
/* From the calling convention to the end of the parameters: "(int, char)". */
bool d_name_read_parameters(struct d_name_reader *r);
bool d_name_is_convention(char c);
void d_name_skip_modifiers(struct d_name_reader *r);

/* d_name_value.c: a template argument of the type that begins with this letter. */
bool d_name_read_value(struct d_name_reader *r, char type);

#endif
