/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/function_names.h"

#include "base/memory/vec.h"
#include "base/text/plain_text.h"
#include "base/text/spelling.h"
#include "symbol/demangle/demangle.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#define LISTED_MAX 12
#define NAME_BYTES 76

enum match { MATCH_NONE, MATCH_PATTERN, MATCH_BARE, MATCH_EQUAL };

static enum match match_of(const char *name, const char *wanted)
{
	if (!strcmp(name, wanted))
		return MATCH_EQUAL;
	if (demangle_matches(name, wanted))
		return MATCH_BARE;
	return fnmatch(wanted, name, 0) ? MATCH_NONE : MATCH_PATTERN;
}

int function_names_choose(const char *const *names, size_t count, const char *wanted,
                          uint8_t *chosen, struct error *err)
{
	enum match best = MATCH_NONE;

	for (size_t i = 0; i < count; i++) {
		chosen[i] = (uint8_t)match_of(names[i], wanted);
		if (chosen[i] > best)
			best = chosen[i];
	}
	for (size_t i = 0; i < count; i++)
		chosen[i] = best && chosen[i] == best;
	return best ? 0 : function_names_none(names, count, wanted, err);
}

/* Copies the beginning of a name that is too long for a list of names. */
static void add_cut(struct buf *out, const char *name)
{
	size_t size = strlen(name), end = NAME_BYTES;

	if (size <= NAME_BYTES + 3) {
		plain_text_add(out, name, size);
		return;
	}
	while (end && ((unsigned char)name[end] & 0xc0) == 0x80)
		end--;
	plain_text_add(out, name, end);
	buf_puts(out, "...");
}

void function_names_list(const char *const *names, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count && i < LISTED_MAX; i++) {
		buf_puts(out, i ? ", " : " ");
		if (count > 1)
			add_cut(out, names[i]);
		else
			plain_text_add(out, names[i], strlen(names[i]));
	}
	if (count > LISTED_MAX)
		buf_addf(out, " and %zu more", count - LISTED_MAX);
}

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether `word` is a whole word of the name, such as the method of a template. */
static bool has_word(const char *name, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = name; (at = strcasestr(at, word)); at++)
		if ((at == name || !is_word_byte(at[-1])) && !is_word_byte(at[length]))
			return true;
	return false;
}

typedef VEC(const char *) name_list;

/* Names that contain `wanted`, as a word if `word`. */
static name_list names_with(const char *const *names, size_t count, const char *wanted, bool word)
{
	name_list found = {0};

	for (size_t i = 0; *wanted && i < count; i++)
		if (word ? has_word(names[i], wanted) : strcasestr(names[i], wanted) != NULL)
			vec_push(&found, names[i]);
	return found;
}

int function_names_none(const char *const *names, size_t count, const char *wanted,
                        struct error *err)
{
	name_list near = names_with(names, count, wanted, true);
	const char *nearest = spelling_nearest(wanted, names, count);
	struct buf text = {0};
	int ret;

	if (!near.count)
		near = names_with(names, count, wanted, false);
	if (near.count) {
		buf_puts(&text, "; near it are");
		function_names_list(near.items, near.count, &text);
	} else if (nearest) {
		buf_puts(&text, "; did you mean ");
		plain_text_add(&text, nearest, strlen(nearest));
		buf_putc(&text, '?');
	}
	ret = error_set(err, ENOENT, "no function that was called has the name %s%s", wanted,
	                buf_text(&text));
	vec_done(&near);
	buf_done(&text);
	return ret;
}
