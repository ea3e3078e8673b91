/* SPDX-License-Identifier: GPL-2.0-or-later */
#define NCURSES_WIDECHAR 1
#include "tui/terminal.h"

#include "base/memory/xalloc.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define ESCAPE_MS 25 /* for the rest of an escape sequence, also over a slow ssh */

struct terminal {
	SCREEN *screen;
	bool colour;
	char *locale; /* LC_CTYPE before */
};

bool terminal_is_built(void)
{
	return true;
}

int terminal_check(struct error *err)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, ENOTTY,
		                 "the screen needs a terminal as standard input and output");
	if (!term || !*term || !strcmp(term, "dumb"))
		return error_set(err, EINVAL,
		                 "the terminal (TERM=%s) cannot move its cursor, so there is no "
		                 "screen",
		                 term ? term : "");
	return 0;
}

static void set_colours(void)
{
	start_color();
	use_default_colors();
	init_pair(1, COLOR_GREEN, -1);
	init_pair(2, COLOR_RED, -1);
	init_pair(3, COLOR_CYAN, -1);
}

static int start(struct terminal *t, struct error *err)
{
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen)
		return error_set(err, EINVAL,
		                 "the terminal is not known (TERM=%s): its description is missing",
		                 getenv("TERM"));
	set_term(t->screen);
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	curs_set(0);
	t->colour = t->colour && has_colors();
	if (t->colour)
		set_colours();
	return 0;
}

int terminal_open(struct terminal **out, bool colour, struct error *err)
{
	int status = terminal_check(err);
	struct terminal *t;

	*out = NULL;
	if (status)
		return status;
	t = xcalloc(1, sizeof(*t));
	t->colour = colour;
	t->locale = xstrdup(setlocale(LC_CTYPE, NULL));
	setlocale(LC_CTYPE, "");
	status = start(t, err);
	if (status) {
		terminal_close(t);
		return status;
	}
	*out = t;
	return 0;
}

void terminal_close(struct terminal *t)
{
	if (!t)
		return;
	if (t->screen) {
		mousemask(0, NULL);
		endwin();
		delscreen(t->screen);
	}
	setlocale(LC_CTYPE, t->locale);
	free(t->locale);
	free(t);
}

void terminal_size(const struct terminal *t, unsigned *width, unsigned *height)
{
	*width = (unsigned)COLS;
	*height = (unsigned)LINES;
}

int terminal_fd(const struct terminal *t)
{
	return STDIN_FILENO;
}

static uint32_t special_key(wint_t key)
{
	static const struct {
		wint_t curses;
		uint32_t key;
	} keys[] = {
	        {KEY_UP, KEY_CODE_UP},         {KEY_DOWN, KEY_CODE_DOWN},
	        {KEY_LEFT, KEY_CODE_LEFT},     {KEY_RIGHT, KEY_CODE_RIGHT},
	        {KEY_PPAGE, KEY_CODE_PAGE_UP}, {KEY_NPAGE, KEY_CODE_PAGE_DOWN},
	        {KEY_HOME, KEY_CODE_HOME},     {KEY_END, KEY_CODE_END},
	        {KEY_ENTER, KEY_CODE_ENTER},   {KEY_BACKSPACE, KEY_CODE_BACKSPACE},
	        {KEY_BTAB, KEY_CODE_BACK_TAB}, {KEY_RESIZE, KEY_CODE_RESIZE},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].curses == key)
			return keys[i].key;
	return 0;
}

static uint32_t plain_key(wint_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		return KEY_CODE_ENTER;
	case '\t':
		return KEY_CODE_TAB;
	case '\033':
		return KEY_CODE_ESCAPE;
	case '\b':
	case 0x7f:
		return KEY_CODE_BACKSPACE;
	default:
		return key;
	}
}

static bool mouse_key(struct key_event *key)
{
	MEVENT m;

	if (getmouse(&m) != OK)
		return false;
	key->key = m.bstate & BUTTON4_PRESSED   ? KEY_CODE_WHEEL_UP
	           : m.bstate & BUTTON5_PRESSED ? KEY_CODE_WHEEL_DOWN
	                                        : KEY_CODE_CLICK;
	key->column = (unsigned)m.x;
	key->line = (unsigned)m.y;
	return true;
}

/* A terminal that is gone is readable and has no key. */
static bool is_gone(void)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&fd, 1, 0) == 1 && (fd.revents & (POLLHUP | POLLERR | POLLNVAL));
}

bool terminal_key(struct terminal *t, struct key_event *key)
{
	wint_t code;
	int kind = get_wch(&code);

	*key = (struct key_event){0};
	if (kind == ERR) {
		key->key = KEY_CODE_HANGUP;
		return is_gone();
	}
	if (kind == KEY_CODE_YES && code == KEY_MOUSE)
		return mouse_key(key) || terminal_key(t, key);
	key->key = kind == KEY_CODE_YES ? special_key(code) : plain_key(code);
	return true;
}

static attr_t attributes(const struct terminal *t, enum canvas_style style, short *pair)
{
	static const struct {
		attr_t attributes;
		short pair;
	} styles[CANVAS_STYLES] = {
	        [CANVAS_DIM] = {A_DIM, 0},
	        [CANVAS_BOLD] = {A_BOLD, 0},
	        [CANVAS_WARM] = {0, 1},
	        [CANVAS_HOT] = {0, 2},
	        [CANVAS_HEADER] = {A_UNDERLINE, 0},
	        [CANVAS_TAB] = {A_BOLD | A_REVERSE, 0},
	        [CANVAS_SELECTED] = {A_REVERSE, 0},
	};

	*pair = t->colour ? styles[style].pair : 0;
	return styles[style].attributes;
}

/* The text as wide characters; what the locale cannot show becomes '?'. */
static void put(const char *text, size_t bytes)
{
	mbstate_t state = {0};
	const char *end = text + bytes;

	while (text < end) {
		wchar_t wide[2] = {L'?', 0};
		size_t length = mbrtowc(&wide[0], text, (size_t)(end - text), &state);

		if (length == (size_t)-1 || length == (size_t)-2 || !length) {
			memset(&state, 0, sizeof(state));
			wide[0] = L'?';
			length = 1;
			while (text + length < end && ((unsigned char)text[length] & 0xc0) == 0x80)
				length++;
		}
		addnwstr(wide, 1);
		text += length;
	}
}

static void show_line(const struct terminal *t, const struct canvas *c, unsigned y)
{
	const struct canvas_line *line = &c->lines[y];
	bool whole = line->over == CANVAS_SELECTED || line->over == CANVAS_HEADER;
	short pair;
	attr_t a = attributes(t, line->over, &pair);

	if (whole)
		mvchgat((int)y, 0, -1, a, pair, NULL);
	vec_each (span, &line->spans) {
		a = attributes(t, line->over == CANVAS_SELECTED ? line->over : span->style, &pair);
		if (line->over == CANVAS_HEADER)
			a |= A_UNDERLINE;
		attr_set(a, pair, NULL);
		move((int)y, (int)span->column);
		put(c->texts.data + span->at, span->bytes);
	}
	attr_set(A_NORMAL, 0, NULL);
	/* Blanks between the texts have the style of the line. */
	if (line->over == CANVAS_SELECTED)
		mvchgat((int)y, 0, -1, attributes(t, line->over, &pair), pair, NULL);
}

void terminal_show(struct terminal *t, const struct canvas *c)
{
	erase();
	for (unsigned y = 0; y < c->height && y < (unsigned)LINES; y++)
		show_line(t, c, y);
	if (c->cursor_line >= 0) {
		move(c->cursor_line, c->cursor_column);
		curs_set(1);
	} else {
		curs_set(0);
	}
	refresh();
}
