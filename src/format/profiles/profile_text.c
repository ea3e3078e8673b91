/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/profiles/profile_text.h"
#include "base/limit.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

void profile_text_init(struct profile_text *t, const char *name, const void *bytes, size_t size)
{
	*t = (struct profile_text){.name = name, .at = bytes, .end = (const char *)bytes + size};
	if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3))
		t->at += 3;
}

bool profile_text_line(struct profile_text *t, const char **line, size_t *size)
{
	const char *feed;

	if (t->at >= t->end)
		return false;
	feed = memchr(t->at, '\n', (size_t)(t->end - t->at));
	*line = t->at;
	*size = (size_t)((feed ? feed : t->end) - t->at);
	t->at = feed ? feed + 1 : t->end;
	t->number++;
	if (*size && (*line)[*size - 1] == '\r')
		--*size;
	return true;
}

int profile_text_bad(const struct profile_text *t, struct error *err, const char *fmt, ...)
{
	struct buf what = {0};
	va_list ap;
	int ret;

	va_start(ap, fmt);
	buf_vaddf(&what, fmt, ap);
	va_end(ap);
	ret = error_set(err, EBADMSG, "%s is damaged at line %zu: %s", t->name, t->number,
	                buf_text(&what));
	buf_done(&what);
	return ret;
}

bool profile_text_number(const char *text, size_t size, int64_t *value)
{
	int64_t v = 0;
	size_t i = 0;

	for (; i < size && isdigit((unsigned char)text[i]); i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, text[i] - '0', &v))
			return false;
	*value = v;
	return size && i == size;
}

static size_t digits_at(const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && isdigit((unsigned char)text[i]))
		i++;
	return i;
}

enum profile_number profile_number_kind(const char *text, size_t size)
{
	bool minus = size && *text == '-';
	size_t whole, i = size && (minus || *text == '+');

	whole = digits_at(text + i, size - i);
	i += whole;
	if (i < size && text[i] == '.') {
		size_t fraction = digits_at(text + i + 1, size - i - 1);

		whole += fraction;
		i += 1 + fraction;
	}
	if (!whole)
		return PROFILE_NO_NUMBER;
	if (i == size)
		return minus ? PROFILE_NEGATIVE : PROFILE_DECIMAL;
	if (text[i] != 'e' && text[i] != 'E')
		return PROFILE_NO_NUMBER;
	i++;
	i += i < size && (text[i] == '-' || text[i] == '+');
	whole = digits_at(text + i, size - i);
	if (!whole || i + whole < size)
		return PROFILE_NO_NUMBER;
	return minus ? PROFILE_NEGATIVE : PROFILE_EXPONENT;
}

unsigned profile_decimals(const char *text, size_t size)
{
	const char *point = memchr(text, '.', size);

	while (point && size && text[size - 1] == '0')
		size--;
	return point ? (unsigned)(text + size - point - 1) : 0;
}

long double profile_number_about(const char *text, size_t size)
{
	long double v = 0, unit = 1;
	bool fraction = false;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '.')
			fraction = true;
		if (!isdigit((unsigned char)text[i]))
			continue;
		v = v * 10 + (text[i] - '0');
		unit *= fraction ? 10 : 1;
	}
	return v / unit;
}

bool profile_text_decimal(const char *text, size_t size, unsigned decimals, int64_t *value)
{
	const char *point = memchr(text, '.', size);
	size_t i = size && *text == '+', after = 0;
	int64_t v = 0;
	char next = '0';

	for (; i < size && after <= decimals; i++) {
		if (text + i == point)
			continue;
		after += point && text + i > point;
		next = text[i];
		if (after <= decimals && (__builtin_mul_overflow(v, 10, &v) ||
		                          __builtin_add_overflow(v, text[i] - '0', &v)))
			return false;
	}
	for (; after < decimals; after++)
		if (__builtin_mul_overflow(v, 10, &v))
			return false;
	if (after > decimals && next >= '5' && __builtin_add_overflow(v, 1, &v))
		return false;
	*value = v;
	return true;
}

uint32_t profile_names_text(struct profile_names *names, struct symbolized_profile *n,
                            const char *text, size_t size)
{
	buf_clear(&names->text);
	buf_add(&names->text, text, size);
	return named_text(n, buf_text(&names->text));
}

uint32_t profile_names_place(struct profile_names *names, struct symbolized_profile *n,
                             const struct named_function *f)
{
	struct named_line line = {.function = named_function_id(n, f), .line = f->line};

	if (!*vec_at(&names->places, line.function))
		names->places.items[line.function] = named_place_add(n, f->image, 0, &line, 1) + 1;
	return names->places.items[line.function] - 1;
}

void profile_names_done(struct profile_names *names)
{
	vec_done(&names->places);
	buf_done(&names->text);
}

int profile_choose_value(struct symbolized_profile *n, unsigned main, const char *name,
                         struct error *err)
{
	struct buf words = {0};
	int ret;

	n->main_value = main;
	for (unsigned i = 0; n->wanted && i < n->value_count; i++) {
		buf_addf(&words, "%s%s", i ? ", " : "", n->values[i].name);
		if (!strcmp(n->values[i].name, n->wanted)) {
			n->main_value = i;
			buf_done(&words);
			return 0;
		}
	}
	if (!n->wanted)
		return 0;
	ret = error_set(err, ENOENT, "%s has no values named %s: they are %s", name, n->wanted,
	                buf_text(&words));
	buf_done(&words);
	return ret;
}

int profile_check_size(const struct symbolized_profile *n, const char *name, struct error *err)
{
	if (n->paths.count <= LIMIT_PROFILE_PATHS && n->rows.count <= LIMIT_PROFILE_PATHS)
		return n->functions.count <= LIMIT_PROFILE_FUNCTIONS
		               ? 0
		               : error_set(err, EFBIG,
		                           "%s has more than %zu different functions: it is not "
		                           "read",
		                           name, LIMIT_PROFILE_FUNCTIONS);
	return error_set(err, EFBIG, "%s has more than %zu different call paths: it is not read",
	                 name, LIMIT_PROFILE_PATHS);
}
