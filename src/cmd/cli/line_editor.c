/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/line_editor.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "cmd/cli/line_history.h"
#include "cmd/cli/print.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ASSAY_EDIT
#include <histedit.h>
#include <locale.h>
#include <wchar.h>
#endif

#define HISTORY_LINES 1000 /* lines that the editor offers */

struct line_editor {
	const volatile sig_atomic_t *flag;
	const char *prompt;
	struct line_history *kept;
	struct buf line;
	char *last; /* the previous line: an equal next line is not added */
#ifdef ASSAY_EDIT
	EditLine *editor;
	History *history;
	mbstate_t state;
#endif
};

#ifdef ASSAY_EDIT
static char *prompt_of(EditLine *editor)
{
	struct line_editor *e;

	el_get(editor, EL_CLIENTDATA, &e);
	return (char *)(uintptr_t)e->prompt;
}

/*
 * Reads one character. libedit's own function continues after a signal; here a signal ends the
 * line. Bytes that are not text are skipped.
 */
static int read_character(EditLine *editor, wchar_t *out)
{
	struct line_editor *e;

	el_get(editor, EL_CLIENTDATA, &e);
	for (;;) {
		char byte;
		ssize_t got = *e->flag ? -1 : read(STDIN_FILENO, &byte, 1);
		size_t used;

		if (got < 0 && errno == EINTR && !*e->flag)
			continue;
		if (got <= 0)
			return (int)got;
		/* A Ctrl-D that was typed while the terminal was still in line mode. */
		if (!byte) {
			const LineInfo *line = el_line(editor);

			if (line->lastchar == line->buffer)
				return 0;
			continue;
		}
		used = mbrtowc(out, &byte, 1, &e->state);
		if (used == (size_t)-1)
			memset(&e->state, 0, sizeof(e->state));
		else if (used != (size_t)-2)
			return 1;
	}
}

static void known(void *ctx, const char *line)
{
	struct line_editor *e = ctx;
	HistEvent event;

	history(e->history, &event, H_ENTER, line);
}

static void open_editor(struct line_editor *e, const char *name)
{
	HistEvent event;

	setlocale(LC_CTYPE, ""); /* the encoding of typed characters */
	e->history = history_init();
	history(e->history, &event, H_SETSIZE, HISTORY_LINES);
	e->editor = el_init(name, stdin, stdout, stderr);
	el_set(e->editor, EL_CLIENTDATA, e);
	el_set(e->editor, EL_PROMPT, prompt_of);
	el_set(e->editor, EL_EDITOR, "emacs");
	el_set(e->editor, EL_HIST, history, e->history);
	el_set(e->editor, EL_GETCFN, read_character);
}

static void close_editor(struct line_editor *e)
{
	el_end(e->editor);
	history_end(e->history);
}

static enum line_result read_line(struct line_editor *e)
{
	int length;
	const char *text;

	el_resize(e->editor);
	text = el_gets(e->editor, &length);
	if (!text || length <= 0)
		return *e->flag ? LINE_BROKEN : LINE_END;
	buf_add(&e->line, text, (size_t)length);
	return LINE_READ;
}
#else
static void known(void *ctx, const char *line)
{
}
static void open_editor(struct line_editor *e, const char *name)
{
}
static void close_editor(struct line_editor *e)
{
}

static enum line_result read_line(struct line_editor *e)
{
	char byte;
	ssize_t got;

	print_prompt(e->prompt);
	for (;;) {
		got = *e->flag ? -1 : read(STDIN_FILENO, &byte, 1);
		if (got < 0 && errno == EINTR && !*e->flag)
			continue;
		if (got <= 0)
			return *e->flag ? LINE_BROKEN : e->line.size ? LINE_READ : LINE_END;
		buf_putc(&e->line, byte);
		if (byte == '\n')
			return LINE_READ;
	}
}
#endif

struct line_editor *line_editor_open(const char *name, const volatile sig_atomic_t *flag)
{
	struct line_editor *e = xcalloc(1, sizeof(*e));

	e->flag = flag;
	open_editor(e, name);
	e->kept = line_history_open(name, known, e);
	return e;
}

void line_editor_close(struct line_editor *e)
{
	if (!e)
		return;
	line_history_close(e->kept);
	close_editor(e);
	buf_done(&e->line);
	free(e->last);
	free(e);
}

static void remember(struct line_editor *e, const char *line)
{
	if (!*line || (e->last && !strcmp(e->last, line)))
		return;
	free(e->last);
	e->last = xstrdup(line);
	known(e, line);
	line_history_add(e->kept, line);
}

enum line_result line_editor_read(struct line_editor *e, const char *prompt, const char **line)
{
	enum line_result result;

	buf_clear(&e->line);
	e->prompt = prompt;
	*line = "";
	result = read_line(e);
	if (result != LINE_READ)
		return result;
	while (e->line.size && strchr("\r\n", e->line.data[e->line.size - 1]))
		e->line.data[--e->line.size] = '\0';
	remember(e, buf_text(&e->line));
	*line = buf_text(&e->line);
	return LINE_READ;
}
