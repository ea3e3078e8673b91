/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of TSDL: trace, clock, env, stream, event. Uses: base.
 */
#include "format/ctf/ctf_tsdl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool ctf_fail(struct ctf_parser *p, size_t line, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (p->rc)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->rc = error_set(p->err, EINVAL, "%s:%zu: %s", p->lexer.path, line, text);
	p->token = (struct ctf_token){.line = line};
	return false;
}

void ctf_advance(struct ctf_parser *p)
{
	if (p->rc)
		return;
	p->rc = ctf_lexer_next(&p->lexer, &p->token, p->err);
	if (p->rc)
		p->token = (struct ctf_token){.line = p->lexer.line};
}

bool ctf_accept(struct ctf_parser *p, char sign)
{
	bool is = ctf_token_sign(&p->token, sign);

	if (is)
		ctf_advance(p);
	return is;
}

bool ctf_accept_word(struct ctf_parser *p, const char *word)
{
	bool is = ctf_token_is(&p->token, word);

	if (is)
		ctf_advance(p);
	return is;
}

bool ctf_expect(struct ctf_parser *p, char sign)
{
	const char *text = sign == 'A' ? ":=" : (char[]){sign, '\0'};

	if (p->rc || ctf_accept(p, sign))
		return !p->rc;
	if (p->token.kind == CTF_END)
		return ctf_fail(p, p->token.line, "the text ends where \"%s\" is missing", text);
	return ctf_fail(p, p->token.line, "\"%s\" is missing before \"%.*s\"", text,
	                p->token.kind == CTF_SIGN ? 1
	                : p->token.length < 40    ? (int)p->token.length
	                                          : 40,
	                p->token.text ? p->token.text : "");
}

uint32_t ctf_keep(struct ctf_parser *p, const char *text, size_t length)
{
	struct buf *b = &p->m->texts;
	size_t id = b->size;

	if (id + length + 1 >= CTF_NONE) {
		ctf_fail(p, p->token.line, "more than 4 GB of names");
		return 0;
	}
	buf_add(b, text, length);
	buf_putc(b, '\0');
	return (uint32_t)id;
}

/* Parses a path of words with dots: "packet.context", "tracer_name". False: none. */
static bool take_path(struct ctf_parser *p, char *into, size_t room)
{
	size_t size = 0;

	if (p->token.kind != CTF_WORD)
		return ctf_fail(p, p->token.line, "a word is missing here");
	do {
		size_t length = p->token.length;

		if (p->token.kind != CTF_WORD || size + length + 2 > room)
			return ctf_fail(p, p->token.line, "a word is missing here");
		if (size)
			into[size++] = '.';
		memcpy(into + size, p->token.text, length);
		size += length;
		ctf_advance(p);
	} while (ctf_accept(p, '.'));
	into[size] = '\0';
	return true;
}

static bool take_u64(struct ctf_parser *p, uint64_t *value)
{
	if (p->token.kind != CTF_NUMBER || p->token.negative)
		return ctf_fail(p, p->token.line, "a number of 0 or more is missing here");
	*value = p->token.number;
	ctf_advance(p);
	return true;
}

static bool take_i64(struct ctf_parser *p, int64_t *value)
{
	if (p->token.kind != CTF_NUMBER || p->token.number > INT64_MAX)
		return ctf_fail(p, p->token.line, "a number is missing here");
	*value = p->token.negative ? -(int64_t)p->token.number : (int64_t)p->token.number;
	ctf_advance(p);
	return true;
}

static bool take_text(struct ctf_parser *p, uint32_t *text)
{
	if (p->token.kind != CTF_STRING && p->token.kind != CTF_WORD)
		return ctf_fail(p, p->token.line, "a string is missing here");
	if (memchr(p->token.text, '\0', p->token.length))
		return ctf_fail(p, p->token.line, "a byte of 0 is in a string");
	*text = ctf_keep(p, p->token.text, p->token.length);
	ctf_advance(p);
	return true;
}

/* Skips a value of any type up to the semicolon. */
static void skip_value(struct ctf_parser *p)
{
	while (!p->rc && p->token.kind != CTF_END && !ctf_token_sign(&p->token, ';') &&
	       !ctf_token_sign(&p->token, '}') && !ctf_token_sign(&p->token, '{'))
		ctf_advance(p);
}

static bool note_is(const struct ctf_token *t, const char *note)
{
	return t->note && t->note_length == strlen(note) && !memcmp(t->note, note, t->note_length);
}

typedef void attribute_fn(struct ctf_parser *p, const char *path, void *of);

/* { PATH = VALUE; PATH := TYPE; declarations } ; -- `set` parses each value up to its end. */
static void parse_block(struct ctf_parser *p, attribute_fn *set, void *of)
{
	size_t scope = p->aliases.count;
	char path[64];

	ctf_expect(p, '{');
	while (!p->rc && !ctf_accept(p, '}')) {
		if (ctf_at_declaration(p) || ctf_token_is(&p->token, "struct") ||
		    ctf_token_is(&p->token, "enum")) {
			ctf_parse_declaration(p);
			continue;
		}
		if (!take_path(p, path, sizeof(path)))
			break;
		if (!ctf_accept(p, 'A') && !ctf_expect(p, '='))
			break;
		set(p, path, of);
		ctf_expect(p, ';');
	}
	p->aliases.count = scope;
	ctf_expect(p, ';');
}

static void set_trace(struct ctf_parser *p, const char *path, void *of)
{
	uint64_t number = 0;

	if (!strcmp(path, "packet.header")) {
		p->m->packet_header = ctf_parse_type(p);
	} else if (!strcmp(path, "major")) {
		if (take_u64(p, &number) && number != 1)
			ctf_fail(p, p->token.line,
			         "this is CTF %llu; assay reads CTF 1.8: babeltrace2 prints others",
			         (unsigned long long)number);
	} else if (!strcmp(path, "byte_order")) {
		p->m->big = ctf_token_is(&p->token, "be") || ctf_token_is(&p->token, "network");
		skip_value(p);
	} else {
		skip_value(p);
	}
}

static void parse_trace(struct ctf_parser *p)
{
	if (p->m->has_trace)
		ctf_fail(p, p->token.line, "a second trace block");
	p->m->has_trace = true;
	parse_block(p, set_trace, NULL);
}

static void set_clock(struct ctf_parser *p, const char *path, void *of)
{
	struct ctf_clock *c = of;

	if (!strcmp(path, "name")) {
		take_text(p, &c->name);
	} else if (!strcmp(path, "freq")) {
		if (take_u64(p, &c->hz) && !c->hz)
			ctf_fail(p, p->token.line, "a clock of 0 ticks per second");
	} else if (!strcmp(path, "offset_s")) {
		c->has_offset |= take_i64(p, &c->offset_s);
	} else if (!strcmp(path, "offset")) {
		c->has_offset |= take_u64(p, &c->offset);
	} else {
		skip_value(p);
	}
}

static void parse_clock(struct ctf_parser *p)
{
	struct ctf_clock c = {.name = CTF_NONE, .hz = 1000000000, .line = p->token.line};

	parse_block(p, set_clock, &c);
	if (c.name == CTF_NONE)
		ctf_fail(p, c.line, "a clock without a name");
	vec_push(&p->m->clocks, c);
}

static void set_env(struct ctf_parser *p, const char *path, void *of)
{
	if (!strcmp(path, "command") && p->token.kind == CTF_STRING)
		take_text(p, &p->m->command);
	else if (!strcmp(path, "hostname") && p->token.kind == CTF_STRING)
		take_text(p, &p->m->host);
	else if (!strcmp(path, "switches") && p->token.kind == CTF_NUMBER)
		p->m->switches = p->token.number != 0;
	else if (!strcmp(path, "switches_lost") && p->token.kind == CTF_NUMBER)
		p->m->switches_lost = p->token.number;
	else if (!strcmp(path, "trigger_least_ps") && p->token.kind == CTF_NUMBER)
		p->m->trigger.least_ps = p->token.number;
	else if (!strcmp(path, "trigger_most_ps") && p->token.kind == CTF_NUMBER)
		p->m->trigger.most_ps = p->token.number;
	else if (!strcmp(path, "tracer_name") && p->token.kind == CTF_STRING)
		p->m->ours = p->token.length == 5 && !memcmp(p->token.text, "assay", 5);
	skip_value(p);
}

static void set_stream(struct ctf_parser *p, const char *path, void *of)
{
	struct ctf_class *c = of;

	if (!strcmp(path, "id"))
		c->has_id = take_u64(p, &c->id);
	else if (!strcmp(path, "packet.context"))
		c->packet_context = ctf_parse_type(p);
	else if (!strcmp(path, "event.header"))
		c->event_header = ctf_parse_type(p);
	else if (!strcmp(path, "event.context"))
		c->event_context = ctf_parse_type(p);
	else
		skip_value(p);
}

static void parse_stream(struct ctf_parser *p)
{
	struct ctf_class c = {.packet_context = CTF_NONE,
	                      .event_header = CTF_NONE,
	                      .event_context = CTF_NONE,
	                      .line = p->token.line,
	                      .device = note_is(&p->token, "device")};

	parse_block(p, set_stream, &c);
	vec_push(&p->m->classes, c);
}

static void set_level(struct ctf_parser *p, struct ctf_event *e)
{
	if (!p->token.negative && p->token.number <= UINT8_MAX)
		e->level = (uint8_t)p->token.number;
	ctf_advance(p);
}

static void set_event(struct ctf_parser *p, const char *path, void *of)
{
	struct ctf_event *e = of;

	if (!strcmp(path, "name"))
		take_text(p, &e->name);
	else if (!strcmp(path, "id"))
		e->has_id = take_u64(p, &e->id);
	else if (!strcmp(path, "stream_id"))
		e->has_stream = take_u64(p, &e->stream);
	else if (!strcmp(path, "context"))
		e->context = ctf_parse_type(p);
	else if (!strcmp(path, "fields"))
		e->payload = ctf_parse_type(p);
	else if (!strcmp(path, "loglevel") && p->token.kind == CTF_NUMBER)
		set_level(p, e);
	else
		skip_value(p);
}

static void parse_event(struct ctf_parser *p)
{
	struct ctf_event e = {
	        .name = CTF_NONE, .context = CTF_NONE, .payload = CTF_NONE, .line = p->token.line};

	if (p->token.note && p->token.note_length == 1 && strchr("!=~^?s", *p->token.note))
		e.note = *p->token.note;
	parse_block(p, set_event, &e);
	vec_push(&p->m->events, e);
}

static void parse_top(struct ctf_parser *p)
{
	if (ctf_at_declaration(p) || ctf_token_is(&p->token, "struct") ||
	    ctf_token_is(&p->token, "enum"))
		ctf_parse_declaration(p);
	else if (ctf_accept_word(p, "event"))
		parse_event(p);
	else if (ctf_accept_word(p, "trace"))
		parse_trace(p);
	else if (ctf_accept_word(p, "stream"))
		parse_stream(p);
	else if (ctf_accept_word(p, "clock"))
		parse_clock(p);
	else if (ctf_accept_word(p, "env") || ctf_accept_word(p, "callsite"))
		parse_block(p, set_env, NULL);
	else if (!ctf_accept(p, ';'))
		ctf_fail(p, p->token.line,
		         "this is not CTF 1.8 metadata: trace, stream, event, clock, env or a "
		         "type is missing here");
}

int ctf_tsdl_read(struct ctf_metadata *m, const char *text, size_t length, const char *path,
                  struct error *err)
{
	struct ctf_parser p = {.lexer = {.at = text, .end = text + length, .path = path, .line = 1},
	                       .m = m,
	                       .err = err};

	*m = (struct ctf_metadata){
	        .path = path, .packet_header = CTF_NONE, .command = CTF_NONE, .host = CTF_NONE};
	ctf_advance(&p);
	while (!p.rc && p.token.kind != CTF_END)
		parse_top(&p);
	buf_done(&p.lexer.string);
	for (size_t i = 0; i < p.lexer.names.count; i++)
		vec_push(&m->names, p.lexer.names.items[i]);
	vec_done(&p.lexer.names);
	vec_done(&p.aliases);
	return p.rc;
}

void ctf_metadata_done(struct ctf_metadata *m)
{
	buf_done(&m->texts);
	vec_done(&m->types);
	vec_done(&m->fields);
	vec_done(&m->classes);
	vec_done(&m->events);
	vec_done(&m->clocks);
	vec_done(&m->names);
}
