/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/annotate_json.h"

#include "base/text/json.h"

#include <stdio.h>

static void add_address(struct json *j, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	json_kstr(j, key, text);
}

static void add_optional(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	if (text)
		json_str(j, text);
	else
		json_null(j);
}

static void add_inlines(struct json *j, const struct annotate *a, const struct annotate_line *line)
{
	json_key(j, "inlined");
	json_array(j);
	for (uint32_t i = 0; i < line->inlines; i++) {
		const struct symbol_inline *in = &a->inlines.items[line->first_inline + i];

		json_object(j);
		json_kstr(j, "function", in->name);
		add_optional(j, "call_file", in->call_file);
		json_ki64(j, "call_line", in->call_line);
		json_end_object(j);
	}
	json_end_array(j);
}

static void add_line(struct json *j, const struct annotate *a, const struct annotate_line *line)
{
	struct buf bytes = {0};

	for (uint32_t i = 0; line->bytes && i < line->size; i++)
		buf_addf(&bytes, "%02x", line->bytes[i]);
	json_object(j);
	add_address(j, "address", line->address);
	json_kbool(j, "boundary", line->bytes != NULL);
	json_kstr(j, "bytes", buf_text(&bytes));
	json_kstr(j, "assembly", line->text);
	json_ku64(j, "samples", line->samples);
	json_kdouble(j, "share", a->samples ? (double)line->samples / (double)a->samples : 0);
	add_optional(j, "file", line->file);
	json_key(j, "line");
	if (line->line)
		json_i64(j, line->line);
	else
		json_null(j);
	add_optional(j, "source", line->source);
	add_inlines(j, a, line);
	json_end_object(j);
	buf_done(&bytes);
}

void annotate_json(const struct annotate *a, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_kstr(&j, "function", a->symbol->name);
	json_kstr(&j, "image", a->image);
	json_kstr(&j, "event", a->event);
	json_kstr(&j, "code", a->code_source);
	add_address(&j, "start", a->symbol->start);
	json_ku64(&j, "size", a->symbol->size);
	json_kbool(&j, "range", a->symbol->range);
	json_ku64(&j, "samples", a->samples);
	json_ku64(&j, "inside_instruction", a->inside);
	json_ku64(&j, "all_samples", a->base_samples);
	json_key(&j, "instructions");
	json_array(&j);
	vec_each (line, &a->lines) {
		add_line(&j, a, line);
	}
	json_end_array(&j);
	json_end_object(&j);
	buf_putc(out, '\n');
}
