/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/profiles/folded_read.h"

#include "base/limit.h"
#include "format/profiles/profile_text.h"

#include <errno.h>
#include <string.h>

/* Splits "STACK NUMBER"; false: the line is not of this form. */
static bool split(const char *line, size_t size, size_t *stack, int64_t *value)
{
	const char *blank = memrchr(line, ' ', size);

	if (!blank || blank == line || memchr(line, '\0', size))
		return false;
	*stack = (size_t)(blank - line);
	return profile_text_number(blank + 1, size - *stack - 1, value);
}

static bool is_skipped(const char *line, size_t size)
{
	return !size || *line == '#';
}

bool folded_recognise(const void *bytes, size_t size, bool whole)
{
	struct profile_text t = {.at = bytes, .end = (const char *)bytes + size};
	bool several = false;
	const char *line;
	size_t count, stack;
	int64_t value;

	while (profile_text_line(&t, &line, &count)) {
		if (!whole && t.at == t.end) /* may be cut */
			break;
		if (is_skipped(line, count))
			continue;
		if (!split(line, count, &stack, &value))
			return false;
		several |= memchr(line, ';', stack) != NULL;
	}
	return several;
}

static uint32_t read_path(struct symbolized_profile *n, struct profile_names *names,
                          const char *stack, size_t size)
{
	const char *end = stack + size;
	uint32_t path = NAMED_ROOT;

	while (stack < end) {
		const char *mark = memchr(stack, ';', (size_t)(end - stack));
		struct named_function f = {.image = NAMED_NONE};

		mark = mark ? mark : end;
		if (mark > stack) {
			f.name = profile_names_text(names, n, stack, (size_t)(mark - stack));
			path = named_path_step(n, path, profile_names_place(names, n, &f));
		}
		stack = mark + 1;
	}
	return path;
}

static int read_lines(struct symbolized_profile *n, struct profile_text *t,
                      struct profile_names *names, struct error *err)
{
	const struct named_owner none = {0};
	uint32_t owner = named_owner_id(n, &none);
	const char *line;
	size_t size, stack;
	int64_t value;
	int ret = 0;

	while (!ret && profile_text_line(t, &line, &size)) {
		struct named_row *row;

		if (is_skipped(line, size))
			continue;
		if (!split(line, size, &stack, &value))
			return profile_text_bad(t, err,
			                        "a line of folded stacks ends in a blank and a "
			                        "whole number");
		if (size > LIMIT_PROFILE_LINE_BYTES)
			return error_set(err, EFBIG,
			                 "%s has more than %zu MB in line %zu: no stack does",
			                 t->name, LIMIT_PROFILE_LINE_BYTES >> 20, t->number);
		row = named_row_of(n, read_path(n, names, line, stack), owner);
		row->values[0] = named_add(row->values[0], value);
		ret = profile_check_size(n, t->name, err);
	}
	return ret;
}

int folded_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                       size_t size, struct error *err)
{
	struct profile_text t = {.name = name, .at = bytes, .end = (const char *)bytes + size};
	struct profile_names names = {0};
	int ret;

	n->values[0] = (struct named_value){"samples", "count"};
	n->value_count = 1;
	ret = profile_choose_value(n, 0, name, err);
	if (!ret)
		ret = read_lines(n, &t, &names, err);
	profile_names_done(&names);
	return ret;
}
