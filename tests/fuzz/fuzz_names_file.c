/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a names file: names that are read can be found by their tags, are sorted by tag, and
 * are the same after they were written and read again.
 */
#include "base/memory/buf.h"
#include "format/ctf/names_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char *marked(const char *name)
{
	return name[0] == '_' ? strdup("same for all") : NULL;
}

static void write_again(const struct tag_names *names, struct buf *text)
{
	for (size_t i = 0; i < tag_names_count(names); i++) {
		const struct tag_name *n = tag_names_at(names, i);
		bool exit;

		if (tag_names_find(names, n->tag, &exit) != n || exit || !n->shown)
			abort();
		if (n->kind != TAG_INLINE &&
		    (tag_names_find(names, n->tag + 1, &exit) != n || !exit))
			abort();
		if (i && tag_names_at(names, i - 1)->tag >= n->tag)
			abort();
		char mark[2] = {tag_kind_mark(n->kind)};

		buf_addf(text, "%s/%u%s\n", n->name, n->tag, mark);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct tag_names *names = tag_names_new(), *again = tag_names_new();
	struct buf text = {0}, other = {0};
	struct error err = {0};

	if (names_file_parse(names, (const char *)bytes, size, "names", &err) && !err.text[0])
		abort(); /* an error must have a sentence */
	tag_names_show(names, marked);
	write_again(names, &text);
	if (names_file_parse(again, buf_text(&text), text.size, "again", &err))
		abort();
	tag_names_show(again, NULL);
	write_again(again, &other);
	if (strcmp(buf_text(&text), buf_text(&other)) != 0)
		abort();
	buf_done(&text);
	buf_done(&other);
	tag_names_free(names);
	tag_names_free(again);
	return 0;
}
