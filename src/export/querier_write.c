/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/querier_write.h"

#include "export/protobuf_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct buf *message(struct querier_writer *w)
{
	return w->depth ? &w->inner[w->depth] : w->out;
}

void querier_write_init(struct querier_writer *w, bool json, struct buf *out)
{
	*w = (struct querier_writer){.is_json = json, .out = out};
	json_init(&w->json, out);
	w->json.compact = true;
	if (json)
		json_object(&w->json);
}

void querier_write_done(struct querier_writer *w)
{
	if (w->is_json)
		json_end_object(&w->json);
	for (unsigned i = 0; i < QUERIER_DEPTH_MAX; i++)
		buf_done(&w->inner[i]);
}

static void key(struct querier_writer *w, const char *name)
{
	if (name)
		json_key(&w->json, name);
}

void querier_begin(struct querier_writer *w, unsigned field, const char *name)
{
	if (w->is_json) {
		key(w, name);
		json_object(&w->json);
		return;
	}
	w->fields[++w->depth] = field;
}

void querier_end(struct querier_writer *w)
{
	struct buf *whole;

	if (w->is_json) {
		json_end_object(&w->json);
		return;
	}
	whole = message(w);
	w->depth--;
	protobuf_message(message(w), w->fields[w->depth + 1], whole);
}

void querier_list(struct querier_writer *w, const char *name)
{
	if (!w->is_json)
		return;
	key(w, name);
	json_array(&w->json);
}

void querier_list_end(struct querier_writer *w)
{
	if (w->is_json)
		json_end_array(&w->json);
}

void querier_text(struct querier_writer *w, unsigned field, const char *name, const char *text)
{
	if (!w->is_json) {
		protobuf_text(message(w), field, text);
		return;
	}
	key(w, name);
	json_str(&w->json, text);
}

static void json_number(struct querier_writer *w, int64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, v);
	json_str(&w->json, text);
}

void querier_number(struct querier_writer *w, unsigned field, const char *name, int64_t v)
{
	if (!w->is_json) {
		protobuf_number(message(w), field, (uint64_t)v);
		return;
	}
	key(w, name);
	json_number(w, v);
}

void querier_real(struct querier_writer *w, unsigned field, const char *name, double v)
{
	uint64_t bits;

	if (!w->is_json) {
		memcpy(&bits, &v, sizeof(bits));
		protobuf_fixed64(message(w), field, bits);
		return;
	}
	key(w, name);
	json_double(&w->json, v);
}

void querier_numbers(struct querier_writer *w, unsigned field, const char *name, const int64_t *v,
                     size_t count)
{
	struct buf packed = {0};

	if (w->is_json) {
		querier_list(w, name);
		for (size_t i = 0; i < count; i++)
			json_number(w, v[i]);
		querier_list_end(w);
		return;
	}
	for (size_t i = 0; i < count; i++)
		protobuf_varint(&packed, (uint64_t)v[i]);
	protobuf_bytes(message(w), field, buf_text(&packed), packed.size);
	buf_done(&packed);
}
