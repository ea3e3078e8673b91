/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/tracepoint_format.h"

#include "format/perf/perf_data_layout.h"
#include "format/perf/tracepoint_print.h"

#include <ctype.h>
#include <stdlib.h>

/* A part of the description: [p, end). */
struct format_span {
	const char *p, *end;
};

static bool span_is(struct format_span s, const char *text)
{
	size_t size = strlen(text);

	return (size_t)(s.end - s.p) == size && !memcmp(s.p, text, size);
}

static bool span_has(struct format_span s, const char *text)
{
	return memmem(s.p, (size_t)(s.end - s.p), text, strlen(text)) != NULL;
}

/* Removes and returns the text before the next `mark`; the rest if there is none. */
static struct format_span take_until(struct format_span *rest, char mark)
{
	const char *at = memchr(rest->p, mark, (size_t)(rest->end - rest->p));
	struct format_span part = {rest->p, at ? at : rest->end};

	rest->p = at ? at + 1 : rest->end;
	return part;
}

static struct format_span trimmed(struct format_span s)
{
	while (s.p < s.end && isspace((unsigned char)*s.p))
		s.p++;
	while (s.p < s.end && isspace((unsigned char)s.end[-1]))
		s.end--;
	return s;
}

/* The number after `key` ("offset:8"); false: the part is another one or has no number. */
static bool take_number(struct format_span part, const char *key, uint64_t *value)
{
	size_t size = strlen(key);
	struct format_span s = trimmed(part);
	uint64_t n = 0;

	if ((size_t)(s.end - s.p) <= size || memcmp(s.p, key, size) != 0)
		return false;
	for (s.p += size; s.p < s.end; s.p++) {
		if (!isdigit((unsigned char)*s.p) || n > UINT32_MAX)
			return false;
		n = n * 10 + (uint64_t)(*s.p - '0');
	}
	*value = n;
	return true;
}

/* Divides "char comm[16]" into type and name, which has no blank, star or bracket. */
static bool divide_declaration(struct format_span *declaration, struct format_span *name)
{
	struct format_span d = trimmed(*declaration);
	const char *bracket = memrchr(d.p, '[', (size_t)(d.end - d.p));
	const char *end =
	        bracket && !isspace((unsigned char)d.end[-1]) && d.end[-1] == ']' ? bracket : d.end;
	const char *begin;

	for (begin = end; begin > d.p && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_');)
		begin--;
	*name = (struct format_span){begin, end};
	declaration->p = d.p;
	declaration->end = begin;
	return begin < end;
}

/* Type and name tell how the bytes are read; the brackets of dynamic arrays are in the type. */
static void set_kind(struct tracepoint_field *f, struct format_span type, bool brackets)
{
	struct format_span element = trimmed(type);

	f->place = span_has(type, "__data_loc")  ? TRACEPOINT_DYNAMIC
	           : span_has(type, "__rel_loc") ? TRACEPOINT_RELATIVE
	                                         : TRACEPOINT_FIXED;
	if (f->place != TRACEPOINT_FIXED) {
		take_until(&element, ' ');
		element = trimmed(take_until(&element, '['));
	} else if (!brackets) {
		f->kind = f->size <= sizeof(uint64_t) ? TRACEPOINT_NUMBER : TRACEPOINT_BYTES;
		return;
	}
	f->kind = span_is(element, "char") || span_is(element, "const char") ? TRACEPOINT_TEXT
	                                                                     : TRACEPOINT_BYTES;
}

/* "field:int pid;\toffset:24;\tsize:4;\tsigned:1;" */
static void add_field(struct tracepoint *t, struct format_span line)
{
	struct format_span declaration = take_until(&line, ';'), name;
	uint64_t offset, size, is_signed = 0;
	struct tracepoint_field f = {0};
	bool brackets;

	declaration.p += strlen("field:");
	if (!take_number(take_until(&line, ';'), "offset:", &offset) ||
	    !take_number(take_until(&line, ';'), "size:", &size) || offset > UINT16_MAX ||
	    size > UINT16_MAX || t->fields.count >= TRACEPOINT_FIELDS_MAX)
		return;
	take_number(take_until(&line, ';'), "signed:", &is_signed);
	brackets = span_has(declaration, "[");
	if (!divide_declaration(&declaration, &name))
		return;
	f.offset = (uint32_t)offset;
	f.size = (uint32_t)size;
	f.is_signed = is_signed != 0;
	f.name = xstrndup(name.p, (size_t)(name.end - name.p));
	f.common = !strncmp(f.name, "common_", strlen("common_"));
	set_kind(&f, declaration, brackets);
	vec_push(&t->fields, f);
}

bool tracepoint_format_parse(struct tracepoint *t)
{
	struct format_span rest = {t->format, t->format + strlen(t->format)};
	bool has_id = false;

	while (rest.p < rest.end) {
		struct format_span line = trimmed(take_until(&rest, '\n'));

		if ((size_t)(line.end - line.p) > 6 && !memcmp(line.p, "field:", 6)) {
			add_field(t, line);
		} else if (!t->name && (size_t)(line.end - line.p) > 6 &&
		           !memcmp(line.p, "name: ", 6)) {
			t->name = xstrndup(line.p + 6, (size_t)(line.end - line.p - 6));
		} else if ((size_t)(line.end - line.p) > 11 && !memcmp(line.p, "print fmt: ", 11)) {
			/* The last part; it may have line feeds. */
			tracepoint_print_hex(t, line.p + 11, rest.end);
			break;
		} else if (!has_id) {
			has_id = take_number(line, "ID: ", &t->id);
		}
	}
	return t->name && has_id;
}

static struct tracepoint_value number_value(const struct tracepoint_field *f, const uint8_t *p)
{
	struct tracepoint_value v = {.kind = f->is_signed ? TRACEPOINT_SIGNED
	                                                  : TRACEPOINT_UNSIGNED};
	unsigned unused = 64 - 8 * f->size;

	/* Little endian, as all machines that assay supports. */
	memcpy(&v.u, p, f->size);
	if (f->is_signed && unused)
		v.i = (int64_t)(v.u << unused) >> unused;
	return v;
}

struct tracepoint_value tracepoint_field_value(const struct tracepoint_field *f, const uint8_t *raw,
                                               uint32_t size)
{
	struct tracepoint_value none = {.kind = TRACEPOINT_NONE}, v = {.kind = TRACEPOINT_SPAN};
	uint64_t at = f->offset, length = f->size;
	uint32_t word;

	if (!length || at + length > size)
		return none;
	if (f->place != TRACEPOINT_FIXED) {
		if (length < sizeof(word))
			return none;
		word = load_u32(raw + at);
		at = (word & 0xffff) + (f->place == TRACEPOINT_RELATIVE ? at + sizeof(word) : 0);
		length = word >> 16;
		if (at + length > size)
			return none;
	}
	if (f->kind == TRACEPOINT_NUMBER)
		return number_value(f, raw + at);
	v.bytes = raw + at;
	v.size = (uint32_t)(f->kind == TRACEPOINT_TEXT ? strnlen((const char *)raw + at, length)
	                                               : length);
	return v;
}

const struct tracepoint *tracepoint_find(const struct recording *r, uint64_t id)
{
	vec_each (t, &r->tracepoints)
		if (t->id == id)
			return t;
	return NULL;
}

void tracepoint_json(const struct tracepoint *t, const uint8_t *raw, uint32_t size, struct json *j)
{
	struct buf hex = {0};

	json_object(j);
	vec_each (f, &t->fields) {
		struct tracepoint_value v = tracepoint_field_value(f, raw, size);

		if (f->common || v.kind == TRACEPOINT_NONE)
			continue;
		json_key(j, f->name);
		if (v.kind == TRACEPOINT_SIGNED) {
			json_i64(j, v.i);
		} else if (v.kind == TRACEPOINT_UNSIGNED) {
			json_u64(j, v.u);
		} else if (f->kind == TRACEPOINT_TEXT) {
			json_text(j, (const char *)v.bytes, v.size);
		} else {
			buf_clear(&hex);
			for (uint32_t i = 0; i < v.size; i++)
				buf_addf(&hex, "%02x", v.bytes[i]);
			json_str(j, buf_text(&hex));
		}
	}
	json_end_object(j);
	buf_done(&hex);
}
