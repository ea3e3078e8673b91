/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents as one JSON object. */
#include "output/document_output.h"

#include "output/json/tree_json.h"

struct json_printing {
	const struct output_stream *stream;
	bool nested;
	struct json j;
	struct buf scratch;
};

static void key_of(struct json *j, const char *key)
{
	if (key)
		json_key(j, key);
}

static void print_value(struct json *j, const struct fact *fact)
{
	key_of(j, fact->key);
	if (fact->boolean)
		json_bool(j, fact->value.i);
	else
		unit_json_add(&unit_number, fact->value, j);
}

static void print_facts(struct json_printing *p, const struct section *s)
{
	VEC(bool) arrays = {0};
	struct json *j = &p->j;

	vec_each (fact, &s->facts) {
		switch (fact->kind) {
		case FACT_LINE:
		case FACT_VERBATIM:
			break;
		case FACT_VALUE:
			print_value(j, fact);
			break;
		case FACT_OBJECT:
		case FACT_ARRAY:
			key_of(j, fact->key);
			vec_push(&arrays, fact->kind == FACT_ARRAY);
			if (fact->kind == FACT_ARRAY)
				json_array(j);
			else
				json_object(j);
			break;
		case FACT_END:
			if (*vec_last(&arrays))
				json_end_array(j);
			else
				json_end_object(j);
			arrays.count--;
			break;
		}
	}
	vec_done(&arrays);
}

static void print_cells(struct json_printing *p, const struct row_source *s, uint32_t row)
{
	vec_each (c, &s->columns) {
		if (!column_is_for(c, MEDIA_PROGRAMS))
			continue;
		if (c->json) {
			c->json(s, c, row, &p->j);
			continue;
		}
		json_key(&p->j, c->key);
		unit_json_add(c->unit, row_cell(s, c, row, &p->scratch), &p->j);
	}
}

static void print_table(struct json_printing *p, const struct section *s)
{
	const struct row_source *source = s->rows->source;

	json_array(&p->j);
	for (size_t i = 0; i < s->rows->shown; i++) {
		uint32_t row = s->rows->order.items[i];

		if (row_kind_of(source, row) >= ROW_PART)
			continue;
		json_object(&p->j);
		print_cells(p, source, row);
		json_end_object(&p->j);
		output_stream_flush(p->stream, p->j.out);
	}
	json_end_array(&p->j);
}

static void node_keys(void *ctx, const struct view_tree *t, uint32_t node)
{
	struct json_printing *p = ctx;

	print_cells(p, t->source, node);
	if (t->nodes.items[node].inlined)
		json_kbool(&p->j, "inlined", true);
	output_stream_flush(p->stream, p->j.out);
}

static void print_sections(struct json_printing *p, const struct document *d);

static void print_part(void *of, const struct document *part)
{
	struct json_printing *p = of;

	json_object(&p->j);
	print_sections(p, part);
	json_end_object(&p->j);
	output_stream_flush(p->stream, p->j.out);
}

static void print_parts(struct json_printing *p, const struct section *s)
{
	json_array(&p->j);
	section_each_part(s, print_part, p);
	json_end_array(&p->j);
}

static void print_section(struct json_printing *p, const struct section *s)
{
	if (s->kind == SECTION_FACTS) {
		print_facts(p, s);
		return;
	}
	if (!s->key)
		return;
	json_key(&p->j, s->key);
	if (s->kind == SECTION_TABLE) {
		print_table(p, s);
	} else if (s->kind == SECTION_TREE) {
		tree_json(&p->j, s, node_keys, p, p->nested);
	} else if (s->kind == SECTION_PARTS) {
		print_parts(p, s);
	} else {
		json_array(&p->j);
		vec_each (note, &s->notes)
			json_str(&p->j, *note);
		json_end_array(&p->j);
	}
}

static void print_sections(struct json_printing *p, const struct document *d)
{
	vec_each (s, &d->sections)
		if (s->media & MEDIA_PROGRAMS)
			print_section(p, s);
}

static void print_object(struct json_printing *p, const struct document *d)
{
	json_object(&p->j);
	json_kstr(&p->j, "assay", ASSAY_VERSION);
	print_sections(p, d);
	json_end_object(&p->j);
	buf_done(&p->scratch);
}

void document_json_print(const struct document *d, bool nested, const struct output_stream *stream,
                         struct buf *out)
{
	struct json_printing p = {.stream = stream, .nested = nested};

	json_init(&p.j, out);
	print_object(&p, d);
}

void document_json_line(const struct document *d, struct buf *out)
{
	struct json_printing p = {0};

	json_init(&p.j, out);
	p.j.compact = true;
	print_object(&p, d);
}
