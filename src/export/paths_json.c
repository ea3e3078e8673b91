/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/paths_json.h"

#include "base/text/json.h"

#include <string.h>

#define EXPORT_SCHEMA "assay-export/1"

struct paths_json {
	const struct symbolized_profile *n;
	struct json j;
	struct spill *out;
};

static const char *text_of(const struct paths_json *p, uint32_t text)
{
	return intern_text(&p->n->texts, text);
}

static void put_index(struct json *j, const char *key, uint32_t index)
{
	json_key(j, key);
	if (index == NAMED_NONE)
		json_null(j);
	else
		json_u64(j, index);
}

/* Items are on lines of their own, and the buffer does not grow with the profile. */
static void end_item(struct paths_json *p)
{
	json_end_object(&p->j);
	buf_putc(&p->out->buf, '\n');
	spill_some(p->out);
}

static void put_heading(struct paths_json *p)
{
	const struct symbolized_profile *n = p->n;
	struct json *j = &p->j;

	json_kstr(j, "schema", EXPORT_SCHEMA);
	json_kstr_or_null(j, "command", text_of(p, n->command));
	json_ki64(j, "time_ns", n->time_ns);
	json_ki64(j, "duration_ns", n->duration_ns);
	json_ki64(j, "period", n->period);
	json_key(j, "comments");
	json_array(j);
	vec_each (comment, &n->comments)
		json_str(j, text_of(p, *comment));
	json_end_array(j);
	json_key(j, "values");
	json_array(j);
	for (unsigned i = 0; i < n->value_count; i++) {
		json_object(j);
		json_kstr(j, "name", n->values[i].name);
		json_kstr(j, "unit", n->values[i].unit);
		json_kbool(j, "main", i == n->main_value);
		end_item(p);
	}
	json_end_array(j);
}

static void put_images(struct paths_json *p)
{
	json_key(&p->j, "images");
	json_array(&p->j);
	vec_each (image, &p->n->images) {
		char build_id[2 * BUILD_ID_MAX + 1];

		build_id_text(&image->build_id, build_id);
		json_object(&p->j);
		json_kstr(&p->j, "name", text_of(p, image->name));
		json_kstr_or_null(&p->j, "build_id",
		                  *build_id ? build_id : text_of(p, image->build_text));
		end_item(p);
	}
	json_end_array(&p->j);
}

static void put_functions(struct paths_json *p)
{
	json_key(&p->j, "functions");
	json_array(&p->j);
	vec_each (f, &p->n->functions) {
		json_object(&p->j);
		json_kstr(&p->j, "name", text_of(p, f->name));
		json_kstr_or_null(&p->j, "file", text_of(p, f->file));
		json_ku64(&p->j, "line", f->line);
		put_index(&p->j, "image", f->image);
		end_item(p);
	}
	json_end_array(&p->j);
}

/* The functions at a place, innermost first: all except the last are inlined. */
static void put_places(struct paths_json *p)
{
	json_key(&p->j, "places");
	json_array(&p->j);
	vec_each (place, &p->n->places) {
		json_object(&p->j);
		put_index(&p->j, "image", place->image);
		json_ku64(&p->j, "address", place->address);
		json_key(&p->j, "functions");
		json_array(&p->j);
		for (uint32_t i = 0; i < place->count; i++) {
			const struct named_line *line = &p->n->lines.items[place->first + i];

			json_object(&p->j);
			json_ku64(&p->j, "function", line->function);
			json_ku64(&p->j, "line", line->line);
			json_end_object(&p->j);
		}
		json_end_array(&p->j);
		end_item(p);
	}
	json_end_array(&p->j);
}

/* Path 0 is the empty one. */
static void put_paths(struct paths_json *p)
{
	json_key(&p->j, "paths");
	json_array(&p->j);
	for (size_t i = 0; i < p->n->paths.count; i++) {
		const struct named_path *path = &p->n->paths.items[i];

		json_object(&p->j);
		put_index(&p->j, "parent", i == NAMED_ROOT ? NAMED_NONE : path->parent);
		put_index(&p->j, "place", path->place);
		end_item(p);
	}
	json_end_array(&p->j);
}

static void put_samples(struct paths_json *p)
{
	json_key(&p->j, "samples");
	json_array(&p->j);
	vec_each (row, &p->n->rows) {
		const struct named_owner *o = &p->n->owners.items[row->owner];

		json_object(&p->j);
		json_kstr_or_null(&p->j, "process", text_of(p, o->process));
		json_ki64(&p->j, "pid", o->pid);
		json_kstr_or_null(&p->j, "thread", text_of(p, o->thread));
		json_ki64(&p->j, "tid", o->tid);
		json_ku64(&p->j, "path", row->path);
		json_key(&p->j, "values");
		json_array(&p->j);
		for (unsigned i = 0; i < p->n->value_count; i++)
			json_i64(&p->j, row->values[i]);
		json_end_array(&p->j);
		end_item(p);
	}
	json_end_array(&p->j);
}

void paths_json_write(const struct symbolized_profile *n, struct spill *out)
{
	struct paths_json p = {.n = n, .out = out};

	json_init(&p.j, &out->buf);
	p.j.compact = true;
	json_object(&p.j);
	put_heading(&p);
	put_images(&p);
	put_functions(&p);
	put_places(&p);
	put_paths(&p);
	put_samples(&p);
	json_end_object(&p.j);
}
