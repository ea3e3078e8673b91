/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/profiles/profile_text.h"
#include "base/limit.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

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

	if (!size || !isdigit((unsigned char)*text))
		return false;
	for (; i < size && isdigit((unsigned char)text[i]); i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, text[i] - '0', &v))
			return false;
	if (i + 1 < size && text[i] == '.') {
		bool up = text[i + 1] >= '5' && text[i + 1] <= '9';

		for (i++; i < size && isdigit((unsigned char)text[i]); i++)
			;
		if (up && v < INT64_MAX)
			v++;
	}
	*value = v;
	return i == size;
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
