/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pprof/pprof_tables.h"

#include "base/memory/buf.h"
#include "base/text/base_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int pprof_bad(const struct pprof_tables *t, const uint8_t *at, struct error *err, const char *fmt,
              ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return error_set(err, EBADMSG,
	                 "%s is damaged, or is not a pprof profile: at byte %zu of %zu%s: %s. "
	                 "Copy or record it again",
	                 t->name, (size_t)(at - t->bytes), t->size,
	                 t->packed ? " that it unpacks to" : "", what);
}

static bool ids_equal(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct pprof_ids *)ctx)->ids.items[id] == *(const uint64_t *)key;
}

static uint32_t ids_find(const struct pprof_ids *ids, uint64_t id)
{
	if (id && id <= ids->ids.count && ids->ids.items[id - 1] == id)
		return (uint32_t)id - 1;
	return id_table_find(&ids->table, hash_u64(id), ids_equal, ids, &id);
}

/* Adds the id of an item of the file; 0 is not a valid id. */
static int ids_add(const struct pprof_tables *t, struct pprof_ids *ids, uint64_t id,
                   const struct pprof_field *f, const char *what, struct error *err)
{
	if (!id)
		return pprof_bad(t, f->at, err, "a %s has no id", what);
	if (ids_find(ids, id) != ID_NONE)
		return pprof_bad(t, f->at, err, "%s %" PRIu64 " is repeated", what, id);
	id_table_add(&ids->table, hash_u64(id), (uint32_t)ids->ids.count);
	vec_push(&ids->ids, id);
	return 0;
}

/* Reads the numbers of a message into `values`, by field; other fields are skipped. */
static int read_numbers(const struct pprof_tables *t, const struct pprof_field *message,
                        uint64_t *values, size_t count, struct error *err)
{
	struct pprof_cursor c = pprof_inside(message);
	struct pprof_field f;
	int got;

	while ((got = pprof_next(&c, &f)) == 1)
		if (f.number < count && f.wire == WIRE_NUMBER)
			values[f.number] = f.value;
	return got ? pprof_bad(t, f.at, err, "a field does not end within its message") : 0;
}

static int read_type(const struct pprof_tables *t, const struct pprof_field *f,
                     struct pprof_type *type, struct error *err)
{
	uint64_t v[TYPE_UNIT + 1] = {0};
	int ret = read_numbers(t, f, v, TYPE_UNIT + 1, err);

	*type = (struct pprof_type){v[TYPE_NAME], v[TYPE_UNIT]};
	return ret;
}

static int add_mapping(struct pprof_tables *t, const struct pprof_field *f, struct error *err)
{
	uint64_t v[MAPPING_BUILD_ID + 1] = {0};
	int ret = read_numbers(t, f, v, MAPPING_BUILD_ID + 1, err);
	struct pprof_mapping m = {v[MAPPING_START], v[MAPPING_LIMIT],    v[MAPPING_OFFSET],
	                          v[MAPPING_FILE],  v[MAPPING_BUILD_ID], 0};

	vec_push(&t->mappings, m);
	return ret ? ret : ids_add(t, &t->mapping_ids, v[MAPPING_ID], f, "mapping", err);
}

static int add_location(struct pprof_tables *t, const struct pprof_field *f, struct error *err)
{
	uint64_t v[LOCATION_ADDRESS + 1] = {0};
	int ret = read_numbers(t, f, v, LOCATION_ADDRESS + 1, err);
	struct pprof_location l = {v[LOCATION_MAPPING], v[LOCATION_ADDRESS],
	                           (uint32_t)(f->bytes - t->bytes), (uint32_t)f->value, 0};

	vec_push(&t->locations, l);
	return ret ? ret : ids_add(t, &t->location_ids, v[LOCATION_ID], f, "location", err);
}

static int add_function(struct pprof_tables *t, const struct pprof_field *f, struct error *err)
{
	uint64_t v[FUNCTION_LINE + 1] = {0};
	int ret = read_numbers(t, f, v, FUNCTION_LINE + 1, err);
	struct pprof_function fn = {v[FUNCTION_NAME], v[FUNCTION_SYSTEM_NAME], v[FUNCTION_FILE],
	                            v[FUNCTION_LINE]};

	vec_push(&t->functions, fn);
	return ret ? ret : ids_add(t, &t->function_ids, v[FUNCTION_ID], f, "function", err);
}

static int add_comments(struct pprof_tables *t, const struct pprof_field *f, struct error *err)
{
	struct pprof_cursor c;
	uint64_t string;

	if (f->wire == WIRE_NUMBER) {
		vec_push(&t->comments, f->value);
		return 0;
	}
	for (c = pprof_inside(f); c.at < c.end;) {
		if (!pprof_varint(&c, &string))
			return pprof_bad(t, f->at, err, "a number does not end");
		vec_push(&t->comments, string);
	}
	return 0;
}

static int take_field(struct pprof_tables *t, const struct pprof_field *f, struct error *err)
{
	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
		vec_push(&t->types, (struct pprof_type){0});
		return read_type(t, f, vec_last(&t->types), err);
	case PROFILE_SAMPLE:
		t->samples++;
		return 0;
	case PROFILE_MAPPING:
		return add_mapping(t, f, err);
	case PROFILE_LOCATION:
		return add_location(t, f, err);
	case PROFILE_FUNCTION:
		return add_function(t, f, err);
	case PROFILE_STRINGS:
		vec_push(&t->strings, (struct pprof_string){.at = (uint32_t)(f->at - t->bytes)});
		return 0;
	case PROFILE_PERIOD_TYPE:
		return read_type(t, f, &t->period_type, err);
	case PROFILE_COMMENT:
		return add_comments(t, f, err);
	case PROFILE_TIME:
		t->time_ns = (int64_t)f->value;
		return 0;
	case PROFILE_DURATION:
		t->duration_ns = (int64_t)f->value;
		return 0;
	case PROFILE_PERIOD:
		t->period = (int64_t)f->value;
		return 0;
	case PROFILE_DEFAULT:
		t->default_type = f->value;
		return 0;
	case PROFILE_DROP:
		t->drop = f->value;
		return 0;
	case PROFILE_KEEP:
		t->keep = f->value;
		return 0;
	default: /* a field that is not needed is skipped */
		return 0;
	}
}

int pprof_tables_read(struct pprof_tables *t, struct error *err)
{
	struct pprof_cursor c = {t->bytes, t->bytes + t->size};
	struct pprof_field f = {.at = t->bytes};
	int got, ret = 0;

	while (!ret && (got = pprof_next(&c, &f))) {
		if (got < 0)
			return pprof_bad(t, f.at, err,
			                 "no field begins here that ends in the file");
		if (!pprof_fits(&f))
			return pprof_bad(t, f.at, err,
			                 "field %" PRIu64 " of a profile is of another kind",
			                 f.number);
		ret = take_field(t, &f, err);
	}
	if (!ret && !t->types.count)
		ret = pprof_bad(t, t->bytes + t->size, err,
		                "it ends without a type of samples: an empty file, or one "
		                "of another format");
	return ret;
}

void pprof_tables_done(struct pprof_tables *t)
{
	struct pprof_ids *ids[] = {&t->mapping_ids, &t->function_ids, &t->location_ids};

	for (size_t i = 0; i < 3; i++) {
		vec_done(&ids[i]->ids);
		id_table_done(&ids[i]->table);
	}
	vec_done(&t->strings);
	vec_done(&t->types);
	vec_done(&t->mappings);
	vec_done(&t->functions);
	vec_done(&t->locations);
	vec_done(&t->comments);
}

int pprof_text(struct pprof_tables *t, uint64_t string, const uint8_t *at, uint32_t *text,
               struct error *err)
{
	struct pprof_string *s;
	struct pprof_cursor c;
	struct pprof_field f = {0};
	struct buf b = {0};

	*text = 0;
	if (!string)
		return 0;
	if (string >= t->strings.count)
		return pprof_bad(t, at, err, "string %" PRIu64 " of %zu is not in the file", string,
		                 t->strings.count);
	s = &t->strings.items[string];
	if (!s->known) {
		c = (struct pprof_cursor){t->bytes + s->at, t->bytes + t->size};
		pprof_next(&c, &f);
		buf_add(&b, f.bytes, f.value);
		for (size_t i = 0; i < b.size; i++)
			if (!b.data[i])
				b.data[i] = '?';
		s->text = named_text(t->n, buf_text(&b));
		s->known = true;
		buf_done(&b);
	}
	*text = s->text;
	return 0;
}

static bool read_hex(const char *text, struct build_id *id)
{
	size_t length = strlen(text);
	unsigned byte;

	if (length % 2 || length > 2 * BUILD_ID_MAX ||
	    strspn(text, "0123456789abcdefABCDEF") != length)
		return false;
	for (size_t i = 0; i < length / 2 && sscanf(text + 2 * i, "%2x", &byte) == 1; i++)
		id->bytes[i] = (uint8_t)byte;
	id->size = (uint8_t)(length / 2);
	return true;
}

static int image_of(struct pprof_tables *t, struct pprof_mapping *m, const uint8_t *at,
                    uint32_t *image, struct error *err)
{
	struct named_image made = {.low = 1};
	uint32_t build_id;
	int ret;

	if (!m->image) {
		ret = pprof_text(t, m->file, at, &made.name, err);
		if (!ret)
			ret = pprof_text(t, m->build_id, at, &build_id, err);
		if (ret)
			return ret;
		if (!read_hex(intern_text(&t->n->texts, build_id), &made.build_id))
			made.build_text = build_id;
		vec_push(&t->n->images, made);
		m->image = (uint32_t)t->n->images.count;
	}
	*image = m->image - 1;
	return 0;
}

static int add_line(struct pprof_tables *t, const struct pprof_field *f, uint32_t image,
                    struct named_line *line, struct error *err)
{
	struct named_function function = {.image = image};
	uint64_t v[LINE_NUMBER + 1] = {0};
	const struct pprof_function *of;
	int ret = read_numbers(t, f, v, LINE_NUMBER + 1, err);
	uint32_t id = ids_find(&t->function_ids, v[LINE_FUNCTION]);

	if (ret)
		return ret;
	if (id == ID_NONE)
		return pprof_bad(t, f->at, err, "function %" PRIu64 " is not in the file",
		                 v[LINE_FUNCTION]);
	of = &t->functions.items[id];
	ret = pprof_text(t, of->name ? of->name : of->system_name, f->at, &function.name, err);
	if (!ret)
		ret = pprof_text(t, of->file, f->at, &function.file, err);
	if (ret)
		return ret;
	if (!function.name)
		function.name = named_text(t->n, "[unknown]");
	function.line = of->line <= INT32_MAX ? (uint32_t)of->line : 0;
	line->function = named_function_id(t->n, &function);
	line->line = v[LINE_NUMBER] <= INT32_MAX ? (uint32_t)v[LINE_NUMBER] : 0;
	return 0;
}

/* Places without a function are distinguished by their address. */
static struct named_line nameless(struct pprof_tables *t, uint32_t image, uint64_t address)
{
	struct named_function function = {.image = image};
	const char *file = "";
	struct buf text = {0};

	if (image != NAMED_NONE)
		file = base_name(intern_text(&t->n->texts, t->n->images.items[image].name));
	buf_addf(&text, "%s+0x%" PRIx64, *file ? file : "[unknown]", address);
	function.name = named_text(t->n, buf_text(&text));
	buf_done(&text);
	return (struct named_line){.function = named_function_id(t->n, &function)};
}

static int make_place(struct pprof_tables *t, struct pprof_location *l, uint32_t image,
                      uint64_t address, struct error *err)
{
	struct pprof_cursor c = {t->bytes + l->at, t->bytes + l->at + l->size};
	VEC(struct named_line) lines = {0};
	struct pprof_field f;
	int ret = 0;

	while (!ret && pprof_next(&c, &f) == 1)
		if (f.number == LOCATION_LINE && f.wire == WIRE_BYTES)
			ret = add_line(t, &f, image, vec_add(&lines), err);
	if (!lines.count) {
		vec_push(&lines, nameless(t, image, address));
		t->n->nameless++;
	}
	if (!ret)
		l->place = 1 + named_place_add(t->n, image, address, lines.items, lines.count);
	vec_done(&lines);
	return ret;
}

int pprof_place(struct pprof_tables *t, uint64_t location, const uint8_t *at, uint32_t *place,
                struct error *err)
{
	uint32_t id = ids_find(&t->location_ids, location), mapping, image = NAMED_NONE;
	struct pprof_location *l;
	uint64_t address;
	int ret = 0;

	if (id == ID_NONE)
		return pprof_bad(t, at, err, "location %" PRIu64 " is not in the file", location);
	l = &t->locations.items[id];
	if (!l->place) {
		address = l->address;
		mapping = l->mapping ? ids_find(&t->mapping_ids, l->mapping) : ID_NONE;
		if (l->mapping && mapping == ID_NONE)
			return pprof_bad(t, t->bytes + l->at, err,
			                 "mapping %" PRIu64 " is not in the file", l->mapping);
		if (mapping != ID_NONE) {
			const struct pprof_mapping *m = &t->mappings.items[mapping];

			if (address >= m->start && address < m->limit)
				address += m->offset - m->start;
			ret = image_of(t, &t->mappings.items[mapping], at, &image, err);
		}
		if (!ret)
			ret = make_place(t, l, image, address, err);
		if (ret)
			return ret;
	}
	*place = l->place - 1;
	return 0;
}
