/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Foreign text on a terminal: control sequences are escaped, and harmless text is unchanged.
 */
#include "check.h"

#include "base/text/json.h"
#include "base/text/medium_text.h"
#include "base/text/plain_text.h"
#include "output/text/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text_case {
	const char *text, *field, *lines; /* lines NULL: as the field */
};

static const struct text_case cases[] = {
        {"main(int, char **)", "main(int, char **)", NULL},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f",
         NULL},
        {"a\033[2Jb", "a\\x1b[2Jb", NULL},
        {"\033]0;title\007", "\\x1b]0;title\\x07", NULL},
        {"back\b\x7f", "back\\x08\\x7f", NULL},
        /* C1: the control sequence introducer, the operating system command, the last one. */
        {"\xc2\x9b"
         "2J\xc2\x9d"
         "0;t\xc2\x9f\xc2\xa0",
         "\\x9b2J\\x9d0;t\\x9f\xc2\xa0", NULL},
        /* bytes that are not UTF-8: a lone C1, overlong, a surrogate, beyond U+10FFFF */
        {"\x9b"
         "2J",
         "\\x9b2J", NULL},
        {"\xc0\x9b \xe0\x82\x9b", "\\xc0\\x9b \\xe0\\x82\\x9b", NULL},
        {"\xed\xa0\x80 \xf4\x90\x80\x80", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80", NULL},
        /* cut within a character */
        {"pric\xe2\x82", "pric\\xe2\\x82", NULL},
        {"\xf0\x9f\x90", "\\xf0\\x9f\\x90", NULL},
        /* within a field a line feed is escaped */
        {"a\nb\tc\rd", "a\\nb\\tc\\rd", "a\nb\tc\\rd"},
        /* assay's own colours, and similar sequences */
        {"\033[1mb\033[0m", "\\x1b[1mb\\x1b[0m", "\033[1mb\033[0m"},
        {"\033[31mr\033[2m", "\\x1b[31mr\\x1b[2m", "\033[31mr\033[2m"},
        {"\033[8m\033[1A\033[38m\033[3m", "\\x1b[8m\\x1b[1A\\x1b[38m\\x1b[3m", NULL},
        /* directions of text, zero widths and tags; U+200D is needed by scripts */
        {"a\u202eb\u2066\u200f\u061c", "a\\u202eb\\u2066\\u200f\\u061c", NULL},
        {"\u200b\ufeff\u2028\U000e0041", "\\u200b\\ufeff\\u2028\\U000e0041", NULL},
        {"\u200d\u05d0\u202f", "\u200d\u05d0\u202f", NULL},
        {"\033", "\\x1b", NULL},
        {"\033[1", "\\x1b[1", NULL},
        {"\033[3", "\\x1b[3", NULL},
        {"\033[31", "\\x1b[31", NULL},
};

/* The text is at the end of its memory, so that sanitizers detect a read beyond it. */
static void check(const char *text, size_t bytes, const char *want,
                  void (*add)(struct buf *, const char *, size_t))
{
	char *own = malloc(bytes ? bytes : 1);
	struct buf out = {0};

	if (!own)
		abort();
	memcpy(own, text, bytes);
	add(&out, own, bytes);
	CHECK_STR(buf_text(&out), want);
	free(own);
	buf_done(&out);
}

static void fields_and_lines_are_escaped_where_a_terminal_would_act(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct text_case *c = &cases[i];

		check(c->text, strlen(c->text), c->field, plain_text_add);
		check(c->text, strlen(c->text), c->lines ? c->lines : c->field, plain_text_lines);
	}
}

/* C0, DEL and C1; a line feed, a tab and a carriage return have escapes of their own. */
static void each_control_is_escaped(void)
{
	for (unsigned code = 1; code < 0xa0; code++) {
		char text[4] = {(char)code}, want[8];

		if (strchr("\n\t\r", (int)code) || (code >= 0x20 && code < 0x7f))
			continue;
		if (code >= 0x80) {
			text[0] = (char)(0xc0 | code >> 6);
			text[1] = (char)(0x80 | (code & 0x3f));
		}
		snprintf(want, sizeof(want), "\\x%02x", code);
		check(text, strlen(text), want, plain_text_add);
		check(text, strlen(text), want, plain_text_lines);
	}
}

static void text_ends_where_its_bytes_end(void)
{
	check("a\xe2\x82\xac", 3, "a\\xe2\\x82", plain_text_add);
	check("a\0b", 3, "a\\x00b", plain_text_add);
	check("", 0, "", plain_text_lines);
}

/* Escaping is idempotent. */
static void escaping_twice_is_escaping_once(void)
{
	struct buf once = {0}, twice = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buf_clear(&once);
		buf_clear(&twice);
		plain_text_add(&once, cases[i].text, strlen(cases[i].text));
		plain_text_add(&twice, buf_text(&once), once.size);
		CHECK_STR(buf_text(&twice), buf_text(&once));
	}
	buf_done(&once);
	buf_done(&twice);
}

static void cells_filled_lines_and_json_are_plain(void)
{
	const struct text_style style = {.width = 60};
	struct buf out = {0};
	struct json j;

	text_clean(&out, "\xc2\x9b"
	                 "2J\xe2\x82");
	CHECK_STR(buf_text(&out), "\\x9b2J\\xe2\\x82");
	buf_clear(&out);
	text_fill(&out, &style, "- ", 2,
	          "a file \xc2\x9b"
	          "2J of \xe2\x82\x7f");
	CHECK_STR(buf_text(&out), "- a file \\x9b2J of \\xe2\\x82\\x7f\n");
	buf_clear(&out);
	json_init(&j, &out);
	json_str(&j, "\033\xc2\x9b\xe2\x82");
	CHECK_STR(buf_text(&out), "\"\\u001b\\u009b\xef\xbf\xbd\xef\xbf\xbd\"");
	buf_done(&out);
}

struct medium_case {
	enum text_medium medium;
	const char *want;
};

static void each_medium_has_its_escapes(void)
{
	static const char text[] = "a\"\\|\n\033\u202e\U000e0041\xff";
	static const struct medium_case media[] = {
	        {MEDIUM_FIELD, "a\"\\|\\n\\x1b\\u202e\\U000e0041\\xff"},
	        {MEDIUM_LINES, "a\"\\|\n\\x1b\\u202e\\U000e0041\\xff"},
	        {MEDIUM_JSON, "a\\\"\\\\|\\u000a\\u001b\\u202e\\udb40\\udc41\ufffd"},
	        {MEDIUM_CSV, "a\"\"\\|\n\\x1b\\u202e\\U000e0041\\xff"},
	        {MEDIUM_MARKDOWN, "a\"\\\\\\|\\\\n\\\\x1b\\\\u202e\\\\U000e0041\\\\xff"},
	        {MEDIUM_LABEL, "a\\\"\\\\|\\\\n\\\\x1b\\\\u202e\\\\U000e0041\\\\xff"},
	};
	struct buf out = {0};

	for (size_t i = 0; i < sizeof(media) / sizeof(*media); i++) {
		buf_clear(&out);
		medium_text_add(&out, media[i].medium, text, sizeof(text) - 1);
		CHECK_STR(buf_text(&out), media[i].want);
	}
	buf_done(&out);
}

static void a_field_of_csv_is_no_formula(void)
{
	static const char *const fields[][2] = {
	        {"", "\"\""},          {"name", "name"}, {"=1", "'=1"},
	        {"-bash", "'-bash"},   {"'x", "''x"},    {"a,\"b\"", "\"a,\"\"b\"\"\""},
	        {"\t=1", "\"'\t=1\""}, {"1\r", "1\\r"},
	};
	struct buf out = {0};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		buf_clear(&out);
		medium_csv_field(&out, fields[i][0], strlen(fields[i][0]), false);
		CHECK_STR(buf_text(&out), fields[i][1]);
	}
	buf_done(&out);
}

int main(void)
{
	RUN(fields_and_lines_are_escaped_where_a_terminal_would_act);
	RUN(each_control_is_escaped);
	RUN(text_ends_where_its_bytes_end);
	RUN(escaping_twice_is_escaping_once);
	RUN(each_medium_has_its_escapes);
	RUN(a_field_of_csv_is_no_formula);
	RUN(cells_filled_lines_and_json_are_plain);
	return check_end();
}
