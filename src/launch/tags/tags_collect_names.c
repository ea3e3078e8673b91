/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/ctf/names_file.h"
#include "launch/tags/tags_collect_internal.h"

#include <string.h>

#define NOTES_MOST 16 /* maximum number of notes of one kind; all are counted */

/* A line that assigns a second name to a tag is skipped, with a note. */
static void add_lines(struct tags_collect *c, struct tag_names *names, const char *text,
                      size_t size, const char *path)
{
	struct error err = {0};

	if (!names_file_parse(names, text, size, path, &err))
		return;
	for (size_t at = 0, length; at < size; at += length + 1) {
		const char *newline = memchr(text + at, '\n', size - at);

		length = newline ? (size_t)(newline - text) - at : size - at;
		if (!names_file_parse(names, text + at, length, path, &err))
			continue;
		if (c->result.conflicts++ < NOTES_MOST)
			collect_note(c, xstrdup(err.text));
	}
}

static bool fits(const struct collect_class *class, const char *name, const char *text, size_t size)
{
	return class->text.size == size && !strcmp(class->name, name) &&
	       (!size || !memcmp(class->text.data, text, size));
}

/* Processes of one program usually have the same names, and share a class. */
static uint32_t class_of(struct tags_collect *c, struct collect_file *f, const char *text,
                         size_t size)
{
	const struct assay_tags_header *h = tag_rings_header(f->rings);
	struct collect_class *class;
	char name[sizeof(h->name) + 1] = "";

	memcpy(name, h->name, sizeof(h->name));
	for (uint32_t i = 0; i < c->classes.count; i++)
		if (fits(&c->classes.items[i], name, text, size))
			return i;
	class = vec_add(&c->classes);
	class->name = xstrdup(name);
	buf_add(&class->text, text, size);
	class->names = tag_names_new();
	class->number = ctf_writer_names(c->writer, class->names);
	add_lines(c, class->names, text, size, f->path);
	return (uint32_t)(c->classes.count - 1);
}

void collect_names(struct tags_collect *c, struct collect_file *f)
{
	size_t size;
	const char *text;

	if (f->has_class && tag_rings_header(f->rings)->text_bytes == f->text_taken)
		return;
	text = tag_rings_text(f->rings, &size);
	if (!f->has_class) {
		f->class = class_of(c, f, text, size);
		f->has_class = true;
	} else if (size > f->text_taken) {
		/* A library was loaded. */
		add_lines(c, c->classes.items[f->class].names, text + f->text_taken,
		          size - f->text_taken, f->path);
	}
	f->text_taken = size;
}

void collect_names_done(struct tags_collect *c)
{
	vec_each (class, &c->classes) {
		tag_names_free(class->names);
		buf_done(&class->text);
		free(class->name);
	}
	vec_done(&c->classes);
}
