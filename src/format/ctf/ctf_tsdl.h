/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf_tsdl: a parser for the metadata of CTF 1.8 (TSDL), for the subset that traces of event tags
 * use: tokens, types of fixed size and strings, blocks. Internal to format/ctf_*.c.
 *
 * ctf_tsdl_read() converts a text to a struct ctf_metadata with types, stream classes and events as
 * written; ctf_layout.c computes places. Text beyond the subset is refused with file and line.
 * Functions return 0 or -errno. One thread. Uses: base.
 */
#ifndef ASSAY_FORMAT_CTF_CTF_TSDL_H
#define ASSAY_FORMAT_CTF_CTF_TSDL_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "base/memory/vec.h"
#include "tags/tag_stream.h"

#include <stdbool.h>
#include <stdint.h>

#define CTF_NONE UINT32_MAX /* no type, no text */
#define CTF_READ_KIND                                                                              \
	"assay reads traces of plain events (an integer id and an integer timestamp each, "        \
	"nothing else), as event tags have them: babeltrace2 prints others"

/*
 * The kinds of events that assay notes in comments are also stored as loglevels, because copies
 * made by other programs have no comments. A function has no loglevel. (The numbers are LTTng's
 * ERR, WARNING, NOTICE, INFO and DEBUG, whose meaning is not used.)
 */
#define CTF_LEVEL_INTERRUPT 3u /* ^ */
#define CTF_LEVEL_IDLE 4u      /* ~ */
#define CTF_LEVEL_SWITCH 5u    /* ! */
#define CTF_LEVEL_INLINE 6u    /* = */
#define CTF_LEVEL_OTHER 14u    /* ? and s */

/* Tokens */

enum ctf_token_kind {
	CTF_END,
	CTF_WORD,
	CTF_NUMBER,
	CTF_STRING, /* text: decoded */
	CTF_SIGN,   /* `number`: the character; ':' of ":=" is 'A' */
};

struct ctf_token {
	enum ctf_token_kind kind;
	const char *text; /* of strings: valid until the next token */
	size_t length;
	uint64_t number;
	bool negative;
	size_t line;
	/* The text X of the last comment "assay X" before the token; NULL: none. */
	const char *note;
	size_t note_length;
};

/* A comment "assay names ID", followed by the lines of a names file. */
struct ctf_names_note {
	const char *text; /* in the metadata: from ID on */
	size_t length, line;
};

struct ctf_lexer {
	const char *at, *end;
	const char *path;
	size_t line;
	struct buf string;
	VEC(struct ctf_names_note) names;
};

/* Returns 0; at the end of the text the token's kind is CTF_END. */
int ctf_lexer_next(struct ctf_lexer *l, struct ctf_token *token, struct error *err);
bool ctf_token_is(const struct ctf_token *t, const char *word);
bool ctf_token_sign(const struct ctf_token *t, char sign);

/* The parsed metadata */

enum ctf_type_kind { CTF_INTEGER, CTF_ARRAY, CTF_STRUCT, CTF_TEXT /* up to a byte of 0 */ };

struct ctf_field {
	uint32_t name; /* in texts */
	uint32_t type;
};

struct ctf_type {
	enum ctf_type_kind kind;
	uint32_t bits, align; /* integers (floating-point numbers and enumerations too) */
	bool negative, big;
	bool native;      /* the trace's byte order, which may be declared later */
	uint32_t clock;   /* place in `texts` of the clock to which it is mapped */
	uint32_t element; /* arrays */
	uint64_t count;   /* arrays: elements; structs: fields */
	uint32_t first;   /* structs: in fields */
	size_t line;
};

struct ctf_event {
	uint64_t id, stream;
	bool has_id, has_stream;
	uint32_t name;             /* in texts */
	char note;                 /* the kind in assay's comment: ! = ? s (assay's own), 0: none */
	uint8_t level;             /* loglevel, with the same meaning; 0: none */
	uint32_t context, payload; /* types */
	size_t line;
};

struct ctf_class {
	uint64_t id;
	bool has_id, device;
	uint32_t packet_context, event_header, event_context; /* types */
	size_t line;
};

struct ctf_clock {
	uint32_t name;
	uint64_t hz, offset;
	int64_t offset_s;
	bool has_offset;
	size_t line;
};

struct ctf_metadata {
	const char *path; /* of the metadata, for errors; owned by the caller */
	struct buf texts; /* NUL-terminated, one after the other */
	VEC(struct ctf_type) types;
	VEC(struct ctf_field) fields;
	VEC(struct ctf_class) classes;
	VEC(struct ctf_event) events;
	VEC(struct ctf_clock) clocks;
	VEC(struct ctf_names_note) names; /* in the text of the caller */
	uint32_t packet_header;           /* type */
	bool has_trace, big;
	uint32_t command, host; /* env: texts */
	bool switches;          /* env */
	uint64_t switches_lost;
	struct tag_trigger_cost trigger;
	bool ours; /* true if env says that assay wrote the trace */
};

int ctf_tsdl_read(struct ctf_metadata *m, const char *text, size_t length, const char *path,
                  struct error *err);
void ctf_metadata_done(struct ctf_metadata *m);

static inline const char *ctf_text(const struct ctf_metadata *m, uint32_t id)
{
	return m->texts.data + id;
}

/* The parser, for its two files. */

struct ctf_alias {
	uint32_t name, type;
};

struct ctf_parser {
	struct ctf_lexer lexer;
	struct ctf_token token; /* the next token */
	struct ctf_metadata *m;
	VEC(struct ctf_alias) aliases; /* the innermost scope is last */
	unsigned depth;
	int rc; /* the first error; after it the parser acts as at the end of the text */
	struct error *err;
};

/* Stores the first error; always returns false. */
bool ctf_fail(struct ctf_parser *p, size_t line, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void ctf_advance(struct ctf_parser *p);
bool ctf_expect(struct ctf_parser *p, char sign);
/* Consumes the token if it is `sign`. */
bool ctf_accept(struct ctf_parser *p, char sign);
bool ctf_accept_word(struct ctf_parser *p, const char *word);
uint32_t ctf_keep(struct ctf_parser *p, const char *text, size_t length);

/* Parses a required type; CTF_NONE after an error. */
uint32_t ctf_parse_type(struct ctf_parser *p);
/* Parses a typealias, a typedef, or a type that is only declared, up to its semicolon. */
bool ctf_at_declaration(const struct ctf_parser *p);
void ctf_parse_declaration(struct ctf_parser *p);

#endif
