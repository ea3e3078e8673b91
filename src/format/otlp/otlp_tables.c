/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/otlp/otlp_tables.h"

#include "base/limit.h"
#include "base/memory/buf.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const table_names[] = {
        [OTLP_MAPPINGS] = "mapping", [OTLP_LOCATIONS] = "location", [OTLP_FUNCTIONS] = "function",
        [OTLP_LINKS] = "link",       [OTLP_STRINGS] = "string",     [OTLP_ATTRIBUTES] = "attribute",
        [OTLP_STACKS] = "stack",
};

int otlp_bad(const struct otlp_tables *t, const uint8_t *at, struct error *err, const char *fmt,
             ...)
{
	struct buf what = {0};
	va_list ap;
	int ret;

	va_start(ap, fmt);
	buf_vaddf(&what, fmt, ap);
	va_end(ap);
	ret = error_set(err, EBADMSG, "%s is damaged at byte %zu: %s", t->name,
	                (size_t)(at - t->bytes), buf_text(&what));
	buf_done(&what);
	return ret;
}

int otlp_bad_field(const struct otlp_tables *t, const struct pprof_field *f, struct error *err)
{
	return otlp_bad(t, f->at, err, "a field does not end in its message");
}

int otlp_tables_read(struct otlp_tables *t, struct pprof_cursor dictionary, struct error *err)
{
	struct pprof_field f;
	int got;

	while ((got = pprof_next(&dictionary, &f)) == 1)
		if (f.number <= OTLP_STACKS && f.wire == WIRE_BYTES)
			vec_push(&t->tables[f.number],
			         (struct otlp_entry){.at = f.bytes, .size = f.value});
	return got ? otlp_bad_field(t, &f, err) : 0;
}

void otlp_tables_done(struct otlp_tables *t)
{
	for (unsigned i = 0; i <= OTLP_STACKS; i++)
		vec_done(&t->tables[i]);
}

static int find(struct otlp_tables *t, unsigned table, uint64_t index, const uint8_t *at,
                struct otlp_entry **entry, struct error *err)
{
	if (index >= t->tables[table].count)
		return otlp_bad(t, at, err,
		                "there is no entry %" PRIu64 " in the %s table, which has %zu",
		                index, table_names[table], t->tables[table].count);
	*entry = &t->tables[table].items[index];
	return 0;
}

static struct pprof_cursor inside(const struct otlp_entry *entry)
{
	return (struct pprof_cursor){entry->at, entry->at + entry->size};
}

int otlp_text(struct otlp_tables *t, uint64_t string, const uint8_t *at, uint32_t *text,
              struct error *err)
{
	struct otlp_entry *entry = NULL;
	struct buf copy = {0};
	int ret;

	*text = 0;
	if (!string)
		return 0;
	ret = find(t, OTLP_STRINGS, string, at, &entry, err);
	if (ret)
		return ret;
	if (!entry->known) {
		buf_add(&copy, entry->at, entry->size);
		entry->known = named_text(t->n, buf_text(&copy)) + 1;
		buf_done(&copy);
	}
	*text = entry->known - 1;
	return 0;
}

/* Reads the numbers of a message up to field `max`; others are skipped. */
static int read_numbers(struct otlp_tables *t, struct pprof_cursor c, uint64_t *values,
                        unsigned max, struct error *err)
{
	struct pprof_field f;
	int got;

	while ((got = pprof_next(&c, &f)) == 1)
		if (f.number <= max && f.wire == WIRE_NUMBER)
			values[f.number] = f.value;
	return got ? otlp_bad_field(t, &f, err) : 0;
}

/* The file's name; the build-id is an attribute, which assay does not need to name functions. */
static int image_of(struct otlp_tables *t, uint64_t mapping, const uint8_t *at, uint32_t *image,
                    struct error *err)
{
	uint64_t v[OTLP_MAPPING_FILE + 1] = {0};
	struct named_image *made;
	struct otlp_entry *entry = NULL;
	uint32_t name;
	int ret;

	*image = NAMED_NONE;
	if (!mapping)
		return 0;
	ret = find(t, OTLP_MAPPINGS, mapping, at, &entry, err);
	if (!ret && !entry->known) {
		ret = read_numbers(t, inside(entry), v, OTLP_MAPPING_FILE, err);
		if (!ret)
			ret = otlp_text(t, v[OTLP_MAPPING_FILE], entry->at, &name, err);
		if (ret)
			return ret;
		made = vec_add(&t->n->images);
		made->name = name;
		made->low = 1;
		entry->known = (uint32_t)t->n->images.count;
	}
	if (!ret)
		*image = entry->known - 1;
	return ret;
}

/* Addresses in a mapping become offsets in its file. */
static int offset_of(struct otlp_tables *t, uint64_t mapping, uint64_t *address, struct error *err)
{
	uint64_t v[OTLP_MAPPING_FILE + 1] = {0};
	int ret;

	if (!mapping)
		return 0;
	ret = read_numbers(t, inside(&t->tables[OTLP_MAPPINGS].items[mapping]), v,
	                   OTLP_MAPPING_FILE, err);
	if (!ret && *address >= v[OTLP_MAPPING_START] && *address < v[OTLP_MAPPING_LIMIT])
		*address = *address - v[OTLP_MAPPING_START] + v[OTLP_MAPPING_OFFSET];
	return ret;
}

static int function_of(struct otlp_tables *t, uint64_t function, const uint8_t *at, uint32_t image,
                       struct named_line *line, struct error *err)
{
	uint64_t v[OTLP_FUNCTION_LINE + 1] = {0};
	struct named_function f = {.image = image};
	struct otlp_entry *entry = NULL;
	int ret = find(t, OTLP_FUNCTIONS, function, at, &entry, err);

	if (!ret)
		ret = read_numbers(t, inside(entry), v, OTLP_FUNCTION_LINE, err);
	if (!ret)
		ret = otlp_text(t,
		                v[OTLP_FUNCTION_NAME] ? v[OTLP_FUNCTION_NAME]
		                                      : v[OTLP_FUNCTION_SYSTEM_NAME],
		                at, &f.name, err);
	if (!ret)
		ret = otlp_text(t, v[OTLP_FUNCTION_FILE], at, &f.file, err);
	f.line = v[OTLP_FUNCTION_LINE] <= UINT32_MAX ? (uint32_t)v[OTLP_FUNCTION_LINE] : 0;
	if (!ret)
		line->function = named_function_id(t->n, &f);
	return ret;
}

/* A location without functions is shown as its address. */
static void name_address(struct otlp_tables *t, uint32_t image, uint64_t address,
                         struct named_line *line)
{
	struct named_function f = {.image = image};
	struct buf text = {0};

	buf_addf(&text, "0x%" PRIx64, address);
	f.name = named_text(t->n, buf_text(&text));
	buf_done(&text);
	*line = (struct named_line){.function = named_function_id(t->n, &f)};
	t->n->nameless++;
}

typedef VEC(struct named_line) named_lines;

static int read_lines(struct otlp_tables *t, const struct otlp_entry *entry, uint32_t image,
                      named_lines *lines, struct error *err)
{
	struct pprof_cursor c = inside(entry);
	struct pprof_field f;
	int got, ret = 0;

	while (!ret && (got = pprof_next(&c, &f)) == 1) {
		uint64_t v[OTLP_LINE_NUMBER + 1] = {0};
		struct named_line line = {0};

		if (f.number != OTLP_LOCATION_LINES || f.wire != WIRE_BYTES)
			continue;
		ret = read_numbers(t, pprof_inside(&f), v, OTLP_LINE_NUMBER, err);
		line.line = v[OTLP_LINE_NUMBER] <= UINT32_MAX ? (uint32_t)v[OTLP_LINE_NUMBER] : 0;
		if (!ret && v[OTLP_LINE_FUNCTION]) {
			ret = function_of(t, v[OTLP_LINE_FUNCTION], f.at, image, &line, err);
			vec_push(lines, line);
		}
	}
	return ret;
}

static int place_of(struct otlp_tables *t, uint64_t location, const uint8_t *at, uint32_t *place,
                    struct error *err)
{
	uint64_t v[OTLP_LOCATION_ADDRESS + 1] = {0};
	struct otlp_entry *entry = NULL;
	named_lines lines = {0};
	uint32_t image;
	int ret = find(t, OTLP_LOCATIONS, location, at, &entry, err);

	if (ret || entry->known) {
		*place = ret ? 0 : entry->known - 1;
		return ret;
	}
	ret = read_numbers(t, inside(entry), v, OTLP_LOCATION_ADDRESS, err);
	if (!ret)
		ret = image_of(t, v[OTLP_LOCATION_MAPPING], entry->at, &image, err);
	if (!ret)
		ret = offset_of(t, v[OTLP_LOCATION_MAPPING], &v[OTLP_LOCATION_ADDRESS], err);
	if (!ret)
		ret = read_lines(t, entry, image, &lines, err);
	if (!ret) {
		if (!lines.count)
			name_address(t, image, v[OTLP_LOCATION_ADDRESS], vec_add(&lines));
		*place = named_place_add(t->n, image, v[OTLP_LOCATION_ADDRESS], lines.items,
		                         lines.count);
		entry->known = *place + 1;
	}
	vec_done(&lines);
	return ret;
}

typedef VEC(uint64_t) index_list;

static int read_indices(struct otlp_tables *t, struct pprof_cursor c, unsigned field,
                        index_list *list, struct error *err)
{
	struct pprof_field f;
	uint64_t v;
	int got;

	while ((got = pprof_next(&c, &f)) == 1) {
		if (f.number != field)
			continue;
		if (f.wire == WIRE_NUMBER)
			vec_push(list, f.value);
		for (struct pprof_cursor in = pprof_inside(&f); f.bytes && in.at < in.end;) {
			if (!pprof_varint(&in, &v))
				return otlp_bad(t, f.at, err, "a number does not end");
			vec_push(list, v);
		}
	}
	return got ? otlp_bad_field(t, &f, err) : 0;
}

static int make_path(struct otlp_tables *t, const struct otlp_entry *entry, uint32_t *path,
                     struct error *err)
{
	index_list locations = {0};
	uint32_t place;
	int ret = read_indices(t, inside(entry), OTLP_STACK_LOCATIONS, &locations, err);

	*path = NAMED_ROOT;
	t->frames += locations.count;
	if (!ret && (t->frames > LIMIT_PROFILE_FRAMES || t->n->paths.count > LIMIT_PROFILE_PATHS))
		ret = error_set(err, EFBIG,
		                "%s has more than %zu frames of call paths: it is not read",
		                t->name, LIMIT_PROFILE_FRAMES);
	for (size_t i = locations.count; !ret && i-- > 0;) { /* the innermost frame is first */
		ret = place_of(t, locations.items[i], entry->at, &place, err);
		if (!ret)
			*path = named_path_step(t->n, *path, place);
	}
	vec_done(&locations);
	return ret;
}

int otlp_path(struct otlp_tables *t, uint64_t stack, const uint8_t *at, uint32_t *path,
              struct error *err)
{
	struct otlp_entry *entry = NULL;
	int ret;

	*path = NAMED_ROOT;
	if (!stack) /* no stack, also without a table */
		return 0;
	ret = find(t, OTLP_STACKS, stack, at, &entry, err);
	if (ret)
		return ret;
	if (entry->known) {
		*path = entry->known - 1;
		return 0;
	}
	ret = make_path(t, entry, path, err);
	if (!ret)
		entry->known = *path + 1;
	return ret;
}

static enum otlp_meaning meaning_of(const void *key, size_t size)
{
	static const struct {
		const char *key;
		enum otlp_meaning meaning;
	} known[] = {
	        {OTLP_PROCESS_NAME, OTLP_PROCESS}, {"process.command", OTLP_PROCESS},
	        {OTLP_PROCESS_PID, OTLP_PID},      {OTLP_THREAD_NAME, OTLP_THREAD},
	        {OTLP_THREAD_ID, OTLP_TID},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (size == strlen(known[i].key) && !memcmp(key, known[i].key, size))
			return known[i].meaning;
	return OTLP_NONE;
}

static int read_value(struct otlp_tables *t, struct pprof_cursor c, enum otlp_meaning meaning,
                      struct named_owner *owner, struct error *err)
{
	bool name = meaning == OTLP_PROCESS || meaning == OTLP_THREAD;
	struct buf copy = {0};
	struct pprof_field f;
	int64_t number = 0;
	uint32_t text = 0;
	int got, ret = 0;

	while (!ret && (got = pprof_next(&c, &f)) == 1) {
		if (name && f.number == OTLP_VALUE_STRING && f.bytes) {
			buf_clear(&copy);
			buf_add(&copy, f.bytes, f.value);
			text = named_text(t->n, buf_text(&copy));
		} else if (name && f.number == OTLP_VALUE_STRING_INDEX && f.wire == WIRE_NUMBER) {
			ret = otlp_text(t, f.value, f.at, &text, err);
		} else if (f.number == OTLP_VALUE_INT && f.wire == WIRE_NUMBER) {
			number = (int64_t)f.value;
		}
	}
	buf_done(&copy);
	if (number < INT32_MIN || number > INT32_MAX)
		number = 0;
	if (name)
		*(meaning == OTLP_PROCESS ? &owner->process : &owner->thread) = text;
	else
		*(meaning == OTLP_PID ? &owner->pid : &owner->tid) = (int32_t)number;
	return ret;
}

int otlp_key_value(struct otlp_tables *t, struct pprof_cursor message, struct named_owner *owner,
                   struct error *err)
{
	enum otlp_meaning meaning = OTLP_NONE;
	struct pprof_cursor value = {0};
	struct otlp_entry *key = NULL;
	struct pprof_field f;
	int got, ret = 0;

	while (!ret && (got = pprof_next(&message, &f)) == 1) {
		if (f.number == OTLP_ATTRIBUTE_VALUE && f.bytes)
			value = pprof_inside(&f);
		if (f.number != OTLP_ATTRIBUTE_KEY)
			continue;
		if (f.bytes) { /* of a resource: the text itself */
			meaning = meaning_of(f.bytes, f.value);
		} else if (f.wire == WIRE_NUMBER) {
			ret = find(t, OTLP_STRINGS, f.value, f.at, &key, err);
			if (!ret)
				meaning = meaning_of(key->at, key->size);
		}
	}
	if (!ret && got)
		ret = otlp_bad_field(t, &f, err);
	return ret || !meaning || !value.at ? ret : read_value(t, value, meaning, owner, err);
}

int otlp_attribute(struct otlp_tables *t, uint64_t attribute, const uint8_t *at,
                   struct named_owner *owner, struct error *err)
{
	struct otlp_entry *entry = NULL;
	int ret = find(t, OTLP_ATTRIBUTES, attribute, at, &entry, err);

	return ret ? ret : otlp_key_value(t, inside(entry), owner, err);
}
