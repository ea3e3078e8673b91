/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/document/document.h"

#include "base/memory/xalloc.h"

void document_init(struct document *d)
{
	*d = (struct document){0};
}

static void section_done(struct section *s)
{
	vec_each (fact, &s->facts) {
		free(fact->key);
		if (fact->value.kind == CELL_TEXT)
			free((char *)(uintptr_t)fact->value.s);
	}
	vec_each (note, &s->notes)
		free(*note);
	vec_done(&s->facts);
	vec_done(&s->notes);
	row_set_free(s->rows);
	if (!s->borrowed)
		view_tree_free(s->tree);
	free(s->title);
}

void document_done(struct document *d)
{
	vec_each (s, &d->sections)
		section_done(s);
	vec_each (owned, &d->owned)
		owned->free(owned->what);
	vec_done(&d->sections);
	vec_done(&d->owned);
}

void document_own(struct document *d, void (*free)(void *), void *what)
{
	vec_push(&d->owned, (struct document_owned){free, what});
}

static struct section *add_section(struct document *d, enum section_kind kind, enum media media,
                                   const char *title, const char *key)
{
	struct section *s = vec_add(&d->sections);

	s->kind = kind;
	s->media = media;
	s->title = title ? xstrdup(title) : NULL;
	s->key = key;
	return s;
}

void document_heading(struct document *d, const char *fmt, ...)
{
	struct section *s = add_section(d, SECTION_HEADING, MEDIA_READERS, NULL, NULL);
	va_list ap;

	va_start(ap, fmt);
	s->title = xvasprintf(fmt, ap);
	va_end(ap);
}

static void add_fact(struct document *d, enum fact_kind kind, const char *key, struct cell value,
                     bool boolean)
{
	struct fact fact = {.kind = kind, .value = value, .boolean = boolean};
	struct section *last = d->sections.count ? vec_last(&d->sections) : NULL;

	fact.key = key ? xstrdup(key) : NULL;
	if (value.kind == CELL_TEXT)
		fact.value.s = xstrdup(value.s);
	if (!last || last->kind != SECTION_FACTS)
		last = add_section(d, SECTION_FACTS, MEDIA_ALL, NULL, NULL);
	vec_push(&last->facts, fact);
}

void document_line(struct document *d, const char *label, const char *text)
{
	if (text && *text)
		add_fact(d, FACT_LINE, label, cell_text(text), false);
}

void document_verbatim(struct document *d, const char *label, const char *line)
{
	if (!label)
		add_section(d, SECTION_FACTS, MEDIA_READERS, "", NULL);
	add_fact(d, FACT_VERBATIM, label, cell_text(line), false);
}

void document_int(struct document *d, const char *key, int64_t value)
{
	add_fact(d, FACT_VALUE, key, cell_int(value), false);
}

void document_real(struct document *d, const char *key, double value)
{
	add_fact(d, FACT_VALUE, key, cell_real(value), false);
}

void document_bool(struct document *d, const char *key, bool value)
{
	add_fact(d, FACT_VALUE, key, cell_int(value), true);
}

void document_string(struct document *d, const char *key, const char *value)
{
	add_fact(d, FACT_VALUE, key, value ? cell_text(value) : cell_none(), false);
}

void document_string_or_null(struct document *d, const char *key, const char *value)
{
	document_string(d, key, value && *value ? value : NULL);
}

void document_null(struct document *d, const char *key)
{
	add_fact(d, FACT_VALUE, key, cell_none(), false);
}

void document_known(struct document *d, const char *key, int64_t value, bool known)
{
	add_fact(d, FACT_VALUE, key, known ? cell_int(value) : cell_none(), false);
}

void document_object(struct document *d, const char *key)
{
	add_fact(d, FACT_OBJECT, key, cell_none(), false);
}

void document_array(struct document *d, const char *key)
{
	add_fact(d, FACT_ARRAY, key, cell_none(), false);
}

void document_end(struct document *d)
{
	add_fact(d, FACT_END, NULL, cell_none(), false);
}

struct section *document_table(struct document *d, enum media media, const char *title,
                               const char *key, struct row_set *rows)
{
	struct section *s = add_section(d, SECTION_TABLE, media, title, key);

	s->rows = rows;
	return s;
}

struct section *document_tree(struct document *d, enum media media, const char *title,
                              const char *key, struct view_tree *tree, double limit, size_t lines)
{
	struct section *s = add_section(d, SECTION_TREE, media, title, key);

	s->tree = tree;
	s->limit = limit;
	s->lines = lines;
	return s;
}

struct section *document_notes(struct document *d, enum media media, const char *title,
                               const char *key)
{
	return add_section(d, SECTION_NOTES, media, title, key);
}

void section_note(struct section *s, const char *text)
{
	vec_push(&s->notes, xstrdup(text));
}

void document_text(struct document *d, const char *label, const char *text)
{
	section_note(add_section(d, SECTION_TEXT, MEDIA_READERS, label, NULL), text);
}

void document_parts(struct document *d, enum media media, const char *key, document_next *next,
                    void *ctx)
{
	struct section *s = add_section(d, SECTION_PARTS, media, NULL, key);

	s->next = next;
	s->ctx = ctx;
}

void section_each_part(const struct section *s,
                       void (*print)(void *of, const struct document *part), void *of)
{
	struct document part;
	bool more = true;

	for (size_t i = 0; more; i++) {
		document_init(&part);
		more = s->next(s->ctx, i, &part);
		if (more)
			print(of, &part);
		document_done(&part);
	}
}
