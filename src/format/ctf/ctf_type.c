/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of TSDL that have a fixed size: integers, floating-point numbers, enumerations, structs,
 * arrays of constant length; and strings. Other types are refused with their line. Uses: base.
 */
#include "format/ctf/ctf_tsdl.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX 32u

static uint32_t add_type(struct ctf_parser *p, const struct ctf_type *type)
{
	vec_push(&p->m->types, *type);
	return (uint32_t)p->m->types.count - 1;
}

/* Parses the number, word or string after a `=` into `value`. */
static bool attribute(struct ctf_parser *p, struct ctf_token *name, struct ctf_token *value)
{
	*name = p->token;
	if (name->kind != CTF_WORD)
		return ctf_fail(p, name->line, "a word is missing here");
	ctf_advance(p);
	if (!ctf_expect(p, '='))
		return false;
	*value = p->token;
	if (value->kind != CTF_NUMBER && value->kind != CTF_WORD && value->kind != CTF_STRING)
		return ctf_fail(p, value->line, "a value is missing here");
	return true;
}

static bool size_of(struct ctf_parser *p, const struct ctf_token *value, uint64_t most,
                    uint32_t *into)
{
	if (value->kind != CTF_NUMBER || value->negative || !value->number || value->number > most)
		return ctf_fail(p, value->line, "a size from 1 to %llu bits is missing here",
		                (unsigned long long)most);
	*into = (uint32_t)value->number;
	return true;
}

static bool align_of(struct ctf_parser *p, const struct ctf_token *value, uint32_t *into)
{
	if (!size_of(p, value, 4096, into))
		return false;
	if (*into & (*into - 1))
		return ctf_fail(p, value->line, "an alignment must be a power of two");
	return true;
}

static bool order_of(struct ctf_parser *p, const struct ctf_token *value, struct ctf_type *t)
{
	t->big = ctf_token_is(value, "be") || ctf_token_is(value, "network");
	t->native = ctf_token_is(value, "native");
	return t->big || t->native || ctf_token_is(value, "le") ||
	       ctf_fail(p, value->line, "a byte order must be le, be, network or native");
}

/* clock.NAME.value, or clock.NAME */
static bool clock_of(struct ctf_parser *p, uint32_t *into)
{
	if (!ctf_accept_word(p, "clock") || !ctf_expect(p, '.'))
		return ctf_fail(p, p->token.line, "an integer must be mapped to clock.NAME.value");
	if (p->token.kind != CTF_WORD)
		return ctf_fail(p, p->token.line, "a clock's name is missing here");
	*into = ctf_keep(p, p->token.text, p->token.length);
	ctf_advance(p);
	while (ctf_accept(p, '.'))
		ctf_advance(p);
	return true;
}

static bool integer_attribute(struct ctf_parser *p, struct ctf_type *t, uint32_t *digits)
{
	struct ctf_token name, value;
	bool number, good = true;

	if (!attribute(p, &name, &value))
		return false;
	number = value.kind == CTF_NUMBER;
	if (ctf_token_is(&name, "map"))
		return clock_of(p, &t->clock);
	if (ctf_token_is(&name, "size"))
		good = size_of(p, &value, 64, &t->bits);
	else if (ctf_token_is(&name, "exp_dig") || ctf_token_is(&name, "mant_dig"))
		good = size_of(p, &value, 64, digits);
	else if (ctf_token_is(&name, "align"))
		good = align_of(p, &value, &t->align);
	else if (ctf_token_is(&name, "signed"))
		t->negative = number ? value.number != 0
		                     : ctf_token_is(&value, "true") || ctf_token_is(&value, "TRUE");
	else if (ctf_token_is(&name, "byte_order"))
		good = order_of(p, &value, t);
	ctf_advance(p); /* base, encoding and unknown attributes do not change the layout */
	t->bits += *digits;
	*digits = 0;
	return good;
}

/* `integer { ... }` and `floating_point { ... }`, from the brace on. */
static uint32_t parse_number(struct ctf_parser *p)
{
	struct ctf_type t = {
	        .kind = CTF_INTEGER, .native = true, .clock = CTF_NONE, .line = p->token.line};
	uint32_t digits = 0;

	if (!ctf_expect(p, '{'))
		return CTF_NONE;
	while (!ctf_accept(p, '}'))
		if (!integer_attribute(p, &t, &digits) || !ctf_expect(p, ';'))
			return CTF_NONE;
	if (!t.bits || t.bits > 64) {
		ctf_fail(p, t.line, "a number without a size of 1 to 64 bits");
		return CTF_NONE;
	}
	t.align = t.align ? t.align : t.bits % 8 ? 1 : 8;
	return add_type(p, &t);
}

/* `string` and `string { ... }`, after the word; the encoding is ignored. */
static uint32_t parse_string(struct ctf_parser *p, size_t line)
{
	struct ctf_type t = {.kind = CTF_TEXT, .align = 8, .clock = CTF_NONE, .line = line};
	struct ctf_token name, value;

	if (!ctf_accept(p, '{'))
		return add_type(p, &t);
	while (!ctf_accept(p, '}')) {
		if (!attribute(p, &name, &value))
			return CTF_NONE;
		ctf_advance(p);
		if (!ctf_expect(p, ';'))
			return CTF_NONE;
	}
	return add_type(p, &t);
}

static uint32_t find_alias(const struct ctf_parser *p, const char *name)
{
	for (size_t i = p->aliases.count; i-- > 0;)
		if (!strcmp(ctf_text(p->m, p->aliases.items[i].name), name))
			return p->aliases.items[i].type;
	return CTF_NONE;
}

static void add_alias(struct ctf_parser *p, const char *name, uint32_t type)
{
	uint32_t text = ctf_keep(p, name, strlen(name));

	vec_push(&p->aliases, (struct ctf_alias){text, type});
}

/* A name of one or several words: "unsigned long". `last`: the last word does not belong to it. */
static void take_words(struct ctf_parser *p, struct buf *words, struct ctf_token *last)
{
	bool have = false;

	while (p->token.kind == CTF_WORD) {
		if (have)
			buf_addf(words, "%s%.*s", words->size ? " " : "", (int)last->length,
			         last->text);
		*last = p->token;
		have = true;
		ctf_advance(p);
	}
}

/* The type that the words name, if no declarator follows. */
static uint32_t parse_named(struct ctf_parser *p)
{
	struct buf words = {0};
	struct ctf_token last = {0};
	size_t line = p->token.line;
	uint32_t type;

	take_words(p, &words, &last);
	buf_addf(&words, "%s%.*s", words.size ? " " : "", (int)last.length,
	         last.text ? last.text : "");
	type = find_alias(p, buf_text(&words));
	if (type == CTF_NONE)
		ctf_fail(p, line, "the type \"%.100s\" was not declared", buf_text(&words));
	buf_done(&words);
	return type;
}

/* `enum [NAME] [: TYPE] { ... }`: has the layout of its integer. */
static uint32_t parse_enum(struct ctf_parser *p)
{
	struct buf name = {0};
	uint32_t type = CTF_NONE;
	size_t line = p->token.line;

	buf_puts(&name, "enum ");
	if (p->token.kind == CTF_WORD) {
		buf_add(&name, p->token.text, p->token.length);
		ctf_advance(p);
	}
	if (ctf_accept(p, ':'))
		type = ctf_parse_type(p);
	else if (ctf_token_sign(&p->token, '{'))
		type = find_alias(p, "int");
	else
		type = find_alias(p, name.data);
	if (type == CTF_NONE)
		ctf_fail(p, line, "an enumeration without a declared integer type");
	if (ctf_accept(p, '{')) {
		while (!p->rc && p->token.kind != CTF_END && !ctf_token_sign(&p->token, '}'))
			ctf_advance(p);
		ctf_expect(p, '}');
		if (name.size > 5 && !p->rc)
			add_alias(p, name.data, type);
	}
	buf_done(&name);
	return p->rc ? CTF_NONE : type;
}

/* [N]... after a name; the first is the outermost. */
static uint32_t parse_arrays(struct ctf_parser *p, uint32_t type, unsigned depth)
{
	struct ctf_type t = {.kind = CTF_ARRAY, .clock = CTF_NONE, .line = p->token.line};

	if (!ctf_accept(p, '['))
		return type;
	if (p->token.kind != CTF_NUMBER || p->token.negative || depth > DEPTH_MAX) {
		ctf_fail(p, t.line, "an array whose length is not a number; " CTF_READ_KIND);
		return CTF_NONE;
	}
	t.count = p->token.number;
	ctf_advance(p);
	if (!ctf_expect(p, ']'))
		return CTF_NONE;
	t.element = parse_arrays(p, type, depth + 1);
	return p->rc ? CTF_NONE : add_type(p, &t);
}

/* The type of a field, and the field's name. */
static uint32_t parse_field_type(struct ctf_parser *p, struct ctf_token *name)
{
	static const char *const begins[] = {"integer", "floating_point", "enum", "struct",
	                                     "variant", "string",         "const"};
	struct buf words = {0};
	size_t line = p->token.line;
	uint32_t type;

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		if (!ctf_token_is(&p->token, begins[i]))
			continue;
		type = ctf_parse_type(p);
		*name = p->token;
		if (type != CTF_NONE && name->kind != CTF_WORD)
			ctf_fail(p, name->line, "a field's name is missing here");
		ctf_advance(p);
		return type;
	}
	take_words(p, &words, name);
	type = find_alias(p, buf_text(&words));
	if (type == CTF_NONE)
		ctf_fail(p, line, "the type \"%.100s\" was not declared", buf_text(&words));
	buf_done(&words);
	return type;
}

typedef VEC(struct ctf_field) field_list;

static bool parse_field(struct ctf_parser *p, field_list *fields)
{
	struct ctf_token name = {0};
	struct ctf_field f;

	if (ctf_at_declaration(p)) {
		ctf_parse_declaration(p);
		return !p->rc;
	}
	f.type = parse_field_type(p, &name);
	if (f.type == CTF_NONE)
		return false;
	/* Some writers add a _ before names, so that a name is not a keyword. */
	if (name.length > 1 && *name.text == '_') {
		name.text++;
		name.length--;
	}
	f.name = ctf_keep(p, name.text, name.length);
	f.type = parse_arrays(p, f.type, 0);
	if (f.type == CTF_NONE || !ctf_expect(p, ';'))
		return false;
	vec_push(fields, f);
	return true;
}

static bool parse_align(struct ctf_parser *p, uint32_t *align)
{
	return !ctf_accept_word(p, "align") ||
	       (ctf_expect(p, '(') && align_of(p, &p->token, align) &&
	        (ctf_advance(p), ctf_expect(p, ')')));
}

static uint32_t parse_struct_body(struct ctf_parser *p)
{
	struct ctf_type t = {
	        .kind = CTF_STRUCT, .align = 1, .clock = CTF_NONE, .line = p->token.line};
	size_t scope = p->aliases.count;
	field_list fields = {0};

	ctf_expect(p, '{');
	while (!p->rc && !ctf_accept(p, '}'))
		parse_field(p, &fields);
	p->aliases.count = scope;
	parse_align(p, &t.align);
	t.first = (uint32_t)p->m->fields.count;
	t.count = fields.count;
	for (size_t i = 0; i < fields.count; i++)
		vec_push(&p->m->fields, fields.items[i]);
	vec_done(&fields);
	return p->rc ? CTF_NONE : add_type(p, &t);
}

/* `struct [NAME] [{ ... }] [align(N)]`, after the word. */
static uint32_t parse_struct(struct ctf_parser *p)
{
	struct buf name = {0};
	size_t line = p->token.line;
	uint32_t type;

	buf_puts(&name, "struct ");
	if (p->token.kind == CTF_WORD) {
		buf_add(&name, p->token.text, p->token.length);
		ctf_advance(p);
	}
	if (ctf_token_sign(&p->token, '{')) {
		type = parse_struct_body(p);
		if (type != CTF_NONE && name.size > 7)
			add_alias(p, name.data, type);
	} else {
		type = find_alias(p, name.data);
		if (type == CTF_NONE)
			ctf_fail(p, line, "\"%.100s\" was not declared", name.data);
	}
	buf_done(&name);
	return type;
}

static uint32_t parse_type_within(struct ctf_parser *p)
{
	size_t line = p->token.line;

	if (ctf_accept_word(p, "integer") || ctf_accept_word(p, "floating_point"))
		return parse_number(p);
	if (ctf_accept_word(p, "enum"))
		return parse_enum(p);
	if (ctf_accept_word(p, "struct"))
		return parse_struct(p);
	if (ctf_accept_word(p, "string"))
		return parse_string(p, line);
	if (ctf_token_is(&p->token, "variant"))
		ctf_fail(p, line, "a %.*s has no fixed size; " CTF_READ_KIND, (int)p->token.length,
		         p->token.text);
	else if (p->token.kind != CTF_WORD)
		ctf_fail(p, line, "a type is missing here");
	else
		return parse_named(p);
	return CTF_NONE;
}

uint32_t ctf_parse_type(struct ctf_parser *p)
{
	uint32_t type;

	ctf_accept_word(p, "const");
	if (++p->depth > DEPTH_MAX)
		ctf_fail(p, p->token.line, "types nested more than %u deep", DEPTH_MAX);
	type = p->rc ? CTF_NONE : parse_type_within(p);
	p->depth--;
	return p->rc ? CTF_NONE : type;
}

bool ctf_at_declaration(const struct ctf_parser *p)
{
	return ctf_token_is(&p->token, "typealias") || ctf_token_is(&p->token, "typedef");
}

/* typealias TYPE := NAME; */
static void parse_typealias(struct ctf_parser *p)
{
	uint32_t type = ctf_parse_type(p);
	struct buf words = {0};
	struct ctf_token last = {0};

	if (type == CTF_NONE || !ctf_expect(p, 'A'))
		return;
	take_words(p, &words, &last);
	if (last.text)
		buf_addf(&words, "%s%.*s", words.size ? " " : "", (int)last.length, last.text);
	if (!words.size)
		ctf_fail(p, p->token.line, "a type's new name is missing here");
	else
		add_alias(p, words.data, type);
	buf_done(&words);
}

/* typedef TYPE NAME[N]; */
static void parse_typedef(struct ctf_parser *p)
{
	struct ctf_token name = {0};
	uint32_t type = parse_field_type(p, &name);
	char *text;

	if (type == CTF_NONE)
		return;
	text = xstrndup(name.text, name.length);
	type = parse_arrays(p, type, 0);
	if (type != CTF_NONE)
		add_alias(p, text, type);
	free(text);
}

void ctf_parse_declaration(struct ctf_parser *p)
{
	if (ctf_accept_word(p, "typealias"))
		parse_typealias(p);
	else if (ctf_accept_word(p, "typedef"))
		parse_typedef(p);
	else
		ctf_parse_type(p);
	ctf_expect(p, ';');
}
