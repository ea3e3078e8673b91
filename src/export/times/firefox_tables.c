/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/firefox_tables.h"

#include "base/text/base_name.h"
#include "export/times/firefox_markers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY 1 /* ResourceType */

struct firefox_tables {
	const struct symbolized_profile *n;
	struct json *j;
	struct spill *out;
};

static const char *text_of(const struct firefox_tables *t, uint32_t text)
{
	return intern_text(&t->n->texts, text);
}

/* Begins a column of a table; values are added with put_value() or json_*(). */
static void begin_column(struct firefox_tables *t, const char *name)
{
	json_key(t->j, name);
	json_array(t->j);
}

static void end_column(struct firefox_tables *t)
{
	json_end_array(t->j);
	spill_some(t->out);
}

static void put_constant(struct firefox_tables *t, const char *name, size_t count,
                         const char *value)
{
	begin_column(t, name);
	for (size_t i = 0; i < count; i++) {
		json_raw(t->j, value);
		spill_some(t->out);
	}
	end_column(t);
}

static void put_number_or_null(struct firefox_tables *t, uint32_t number)
{
	if (number)
		json_u64(t->j, number);
	else
		json_null(t->j);
}

/* A build-id as a breakpad id: the first 16 bytes as a GUID, and the age 0. */
static void put_breakpad_id(struct firefox_tables *t, const struct build_id *id)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	char text[34];

	for (size_t i = 0; i < sizeof(order); i++)
		snprintf(text + 2 * i, 3, "%02X", order[i] < id->size ? id->bytes[order[i]] : 0);
	text[32] = '0';
	text[33] = '\0';
	json_kstr(t->j, "breakpadId", id->size ? text : "");
}

static void put_libraries(struct firefox_tables *t)
{
	begin_column(t, "libs");
	vec_each (image, &t->n->images) {
		const char *path = text_of(t, image->name), *base = base_name(path);
		char build_id[2 * BUILD_ID_MAX + 1];

		build_id_text(&image->build_id, build_id);
		json_object(t->j);
		json_kstr(t->j, "arch", "");
		json_kstr(t->j, "name", base);
		json_kstr(t->j, "path", path);
		json_kstr(t->j, "debugName", base);
		json_kstr(t->j, "debugPath", path);
		put_breakpad_id(t, &image->build_id);
		json_kstr_or_null(t->j, "codeId", build_id);
		json_end_object(t->j);
	}
	end_column(t);
}

/* Numbers the lines of all places on all paths: callers come before callees. */
static void put_stacks(struct firefox_tables *t, uint32_t *stack_of)
{
	const struct symbolized_profile *n = t->n;
	VEC(uint32_t) frames = {0};
	VEC(uint32_t) offsets = {0};

	stack_of[NAMED_ROOT] = NAMED_NONE;
	for (size_t p = 1; p < n->paths.count; p++) {
		const struct named_place *place = &n->places.items[n->paths.items[p].place];
		uint32_t at = stack_of[n->paths.items[p].parent];

		for (uint32_t i = place->count; i-- > 0;) {
			uint32_t next = (uint32_t)frames.count;

			vec_push(&offsets, at == NAMED_NONE ? 0 : next - at);
			vec_push(&frames, place->first + i);
			at = next;
		}
		stack_of[p] = at;
	}
	json_key(t->j, "stackTable");
	json_object(t->j);
	begin_column(t, "frame");
	vec_each (frame, &frames)
		json_u64(t->j, *frame);
	end_column(t);
	begin_column(t, "prefixOffset");
	vec_each (offset, &offsets)
		json_u64(t->j, *offset);
	end_column(t);
	json_ku64(t->j, "length", frames.count);
	json_end_object(t->j);
	vec_done(&frames);
	vec_done(&offsets);
}

static enum firefox_category category_of(const struct firefox_tables *t, uint32_t image)
{
	const char *name;
	size_t size;

	if (image == NAMED_NONE)
		return FIREFOX_OTHER;
	name = text_of(t, t->n->images.items[image].name);
	size = strlen(name);
	if (!strncmp(name, "[kernel", 7) || (size > 3 && !strcmp(name + size - 3, ".ko")))
		return FIREFOX_KERNEL;
	return FIREFOX_USER;
}

/* The columns that come from the place of a frame: `place_of`, by line. */
static void put_frame_places(struct firefox_tables *t, const uint32_t *place_of)
{
	const struct named_place *places = t->n->places.items;
	size_t count = t->n->lines.count;

	begin_column(t, "address");
	for (size_t i = 0; i < count; i++) {
		const struct named_place *place = &places[place_of[i]];

		/* readers keep addresses in 32 bits */
		json_i64(t->j, place->image == NAMED_NONE || place->address > INT32_MAX
		                       ? -1
		                       : (int64_t)place->address);
	}
	end_column(t);
	begin_column(t, "inlineDepth");
	for (size_t i = 0; i < count; i++)
		json_u64(t->j, places[place_of[i]].first + places[place_of[i]].count - 1 - i);
	end_column(t);
	begin_column(t, "category");
	for (size_t i = 0; i < count; i++)
		json_u64(t->j, category_of(t, places[place_of[i]].image));
	end_column(t);
}

/* A frame is a line of a place. */
static void put_frames(struct firefox_tables *t)
{
	const struct symbolized_profile *n = t->n;
	size_t count = n->lines.count;
	uint32_t *place_of = xcalloc(count + 1, sizeof(*place_of));

	for (uint32_t p = 0; p < n->places.count; p++)
		for (uint32_t i = 0; i < n->places.items[p].count; i++)
			place_of[n->places.items[p].first + i] = p;
	json_key(t->j, "frameTable");
	json_object(t->j);
	put_frame_places(t, place_of);
	free(place_of);
	put_constant(t, "subcategory", count, "0");
	begin_column(t, "func");
	vec_each (line, &n->lines)
		json_u64(t->j, line->function);
	end_column(t);
	put_constant(t, "nativeSymbol", count, "null");
	put_constant(t, "innerWindowID", count, "0");
	begin_column(t, "line");
	vec_each (line, &n->lines)
		put_number_or_null(t, line->line);
	end_column(t);
	put_constant(t, "column", count, "null");
	put_constant(t, "originalLocation", count, "null");
	json_ku64(t->j, "length", count);
	json_end_object(t->j);
}

static void put_functions(struct firefox_tables *t, uint32_t *source_of)
{
	const struct symbolized_profile *n = t->n;
	size_t count = n->functions.count;

	json_key(t->j, "funcTable");
	json_object(t->j);
	begin_column(t, "name");
	vec_each (f, &n->functions)
		json_u64(t->j, f->name);
	end_column(t);
	put_constant(t, "isJS", count, "false");
	put_constant(t, "relevantForJS", count, "false");
	begin_column(t, "resource");
	vec_each (f, &n->functions)
		json_i64(t->j, f->image == NAMED_NONE ? -1 : (int64_t)f->image);
	end_column(t);
	begin_column(t, "source");
	vec_each (f, &n->functions) {
		if (f->file)
			json_u64(t->j, source_of[f->file]);
		else
			json_null(t->j);
	}
	end_column(t);
	begin_column(t, "lineNumber");
	vec_each (f, &n->functions)
		put_number_or_null(t, f->line);
	end_column(t);
	put_constant(t, "columnNumber", count, "null");
	put_constant(t, "originalLocation", count, "null");
	json_ku64(t->j, "length", count);
	json_end_object(t->j);
}

static void put_resources(struct firefox_tables *t)
{
	size_t count = t->n->images.count;

	json_key(t->j, "resourceTable");
	json_object(t->j);
	begin_column(t, "lib");
	for (size_t i = 0; i < count; i++)
		json_u64(t->j, i);
	end_column(t);
	begin_column(t, "name");
	vec_each (image, &t->n->images)
		json_u64(t->j, image->name);
	end_column(t);
	put_constant(t, "host", count, "null");
	begin_column(t, "type");
	for (size_t i = 0; i < count; i++)
		json_u64(t->j, LIBRARY);
	end_column(t);
	json_ku64(t->j, "length", count);
	json_end_object(t->j);
}

static void put_empty(struct firefox_tables *t, const char *name, const char *const *columns)
{
	json_key(t->j, name);
	json_object(t->j);
	for (; *columns; columns++)
		put_constant(t, *columns, 0, "");
	json_ku64(t->j, "length", 0);
	json_end_object(t->j);
}

/* Numbers the files of functions, and writes their table. */
static void put_sources(struct firefox_tables *t, uint32_t *source_of)
{
	VEC(uint32_t) files = {0};

	vec_each (f, &t->n->functions)
		if (f->file && source_of[f->file] == NAMED_NONE) {
			source_of[f->file] = (uint32_t)files.count;
			vec_push(&files, f->file);
		}
	json_key(t->j, "sources");
	json_object(t->j);
	put_constant(t, "id", files.count, "null");
	begin_column(t, "filename");
	vec_each (file, &files)
		json_u64(t->j, *file);
	end_column(t);
	put_constant(t, "startLine", files.count, "1");
	put_constant(t, "startColumn", files.count, "1");
	put_constant(t, "sourceMapURL", files.count, "null");
	put_constant(t, "content", files.count, "null");
	json_ku64(t->j, "length", files.count);
	json_end_object(t->j);
	vec_done(&files);
}

void firefox_tables_write(const struct symbolized_profile *n, struct json *j, struct spill *out,
                          uint32_t *stack_of)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	static const char *const names[] = FIREFOX_MARKER_NAMES;
	static const char *const locations[] = {"source", "line", "column", NULL};
	struct firefox_tables t = {n, j, out};
	uint32_t *source_of = xmalloc(n->texts.texts.count * sizeof(*source_of));

	memset(source_of, 0xff, n->texts.texts.count * sizeof(*source_of));
	put_libraries(&t);
	json_key(j, "shared");
	json_object(j);
	put_stacks(&t, stack_of);
	put_frames(&t);
	put_sources(&t, source_of);
	put_functions(&t, source_of);
	put_resources(&t);
	put_empty(&t, "nativeSymbols", symbols);
	put_empty(&t, "sourceLocationTable", locations);
	begin_column(&t, "stringArray");
	for (size_t i = 0; i < n->texts.texts.count; i++)
		json_str(j, n->texts.texts.items[i]);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		json_str(j, names[i]);
	end_column(&t);
	json_end_object(j);
	free(source_of);
}
