/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_document.h"

#include "output/html/page_rows.h"

static bool is_line(const struct fact *fact)
{
	return fact->kind == FACT_LINE || fact->kind == FACT_VERBATIM;
}

static void write_facts(struct page_blob *b, const struct section *s)
{
	struct json *j = &b->json;

	json_key(j, "facts");
	json_array(j);
	vec_each (fact, &s->facts) {
		if (!is_line(fact))
			continue;
		json_object(j);
		page_blob_plain(b, "label", fact->key ? fact->key : "");
		page_blob_plain(b, "text", fact->value.s);
		json_kbool(j, "verbatim", fact->kind == FACT_VERBATIM);
		json_end_object(j);
	}
	json_end_array(j);
}

static void write_notes(struct page_blob *b, const struct section *s)
{
	json_key(&b->json, "notes");
	json_array(&b->json);
	vec_each (note, &s->notes)
		page_blob_plain(b, NULL, *note);
	json_end_array(&b->json);
}

static void write_parts(struct page_blob *b, const struct section *s)
{
	struct document part;
	bool more = true;

	json_key(&b->json, "parts");
	json_array(&b->json);
	for (size_t i = 0; more; i++) {
		document_init(&part);
		more = s->next(s->ctx, i, &part);
		if (more)
			page_document_write(b, NULL, &part);
		document_done(&part);
	}
	json_end_array(&b->json);
}

static bool is_empty(const struct section *s)
{
	if (s->kind == SECTION_NOTES)
		return !s->notes.count;
	if (s->kind != SECTION_FACTS)
		return false;
	vec_each (fact, &s->facts)
		if (is_line(fact))
			return false;
	return true;
}

static void write_section(struct page_blob *b, const struct section *s)
{
	static const char *const kinds[] = {
	        [SECTION_HEADING] = "heading", [SECTION_FACTS] = "facts", [SECTION_TABLE] = "table",
	        [SECTION_TREE] = "tree",       [SECTION_NOTES] = "notes", [SECTION_TEXT] = "text",
	        [SECTION_PARTS] = "parts"};

	json_object(&b->json);
	json_kstr(&b->json, "kind", kinds[s->kind]);
	page_blob_plain(b, "title", s->title);
	json_key(&b->json, "key");
	if (s->key)
		json_str(&b->json, s->key);
	else
		json_null(&b->json);
	if (s->kind == SECTION_FACTS)
		write_facts(b, s);
	else if (s->kind == SECTION_TABLE)
		page_table_write(b, s->rows, PAGE_ROWS);
	else if (s->kind == SECTION_TREE)
		page_tree_write(b, s, PAGE_ROWS);
	else if (s->kind == SECTION_NOTES)
		write_notes(b, s);
	else if (s->kind == SECTION_TEXT)
		page_blob_plain(b, "text", s->notes.items[0]);
	else if (s->kind == SECTION_PARTS)
		write_parts(b, s);
	json_end_object(&b->json);
}

void page_document_write(struct page_blob *b, const char *key, const struct document *d)
{
	if (key)
		json_key(&b->json, key);
	json_object(&b->json);
	json_key(&b->json, "sections");
	json_array(&b->json);
	vec_each (s, &d->sections)
		if (s->media & MEDIA_READERS && !is_empty(s))
			write_section(b, s);
	json_end_array(&b->json);
	json_end_object(&b->json);
}
