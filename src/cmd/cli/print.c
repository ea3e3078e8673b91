/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/print.h"

#include "base/piece.h"
#include "base/text/plain_text.h"
#include "cmd/cli/wrap.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ERASE_LINE "\r\033[K"
#define PIECE_BYTES PIECE_OF(65536)
#define PREFIX "assay: "
#define LEAST_WIDTH 40 /* on narrower terminals, wrapping makes messages longer */

/* Of print_collect(). */
static struct buf *collected;

/* Formats a text as one plain field. */
static void format(struct buf *out, const char *fmt, va_list ap)
{
	struct buf text = {0};

	buf_vaddf(&text, fmt, ap);
	plain_text_add(out, buf_text(&text), text.size);
	buf_done(&text);
}

/* One write call per text, so that lines of several processes on one terminal do not mix. */
static void put(struct buf *b, FILE *to)
{
	fwrite(buf_text(b), 1, b->size, to);
	buf_done(b);
}

/* Columns of the terminal that messages go to; 0: none, or not known. */
static size_t message_width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

void print_message_va(const char *fmt, va_list ap)
{
	struct buf line = {0}, text = {0};
	size_t width = message_width();

	if (collected) {
		format(collected, fmt, ap);
		buf_putc(collected, '\n');
		return;
	}
	fflush(stdout); /* keeps the order if stdout and stderr are the same file */
	buf_puts(&line, PREFIX);
	format(&text, fmt, ap);
	if (width >= LEAST_WIDTH)
		wrap_message(&line, buf_text(&text), sizeof(PREFIX) - 1, width);
	else
		buf_puts(&line, buf_text(&text));
	buf_putc(&line, '\n');
	buf_done(&text);
	put(&line, stderr);
}

void print_collect(struct buf *to)
{
	collected = to;
}

void print_message(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message_va(fmt, ap);
	va_end(ap);
}

void print_progress(const char *fmt, ...)
{
	struct buf line = {0};
	va_list ap;

	buf_puts(&line, ERASE_LINE);
	va_start(ap, fmt);
	format(&line, fmt, ap);
	va_end(ap);
	put(&line, stderr);
	fflush(stderr);
}

void print_progress_end(void)
{
	fputs(ERASE_LINE, stderr);
}

/* Prints a few lines at a time, since a report may be large. */
void print_text(const struct buf *text)
{
	const char *at = buf_text(text), *end = at + text->size;

	while (at < end) {
		size_t left = (size_t)(end - at);
		const char *line = left > PIECE_BYTES ? memrchr(at, '\n', PIECE_BYTES) : NULL;
		size_t size = line ? (size_t)(line + 1 - at) : left;
		struct buf plain = {0};

		plain_text_lines(&plain, at, size);
		put(&plain, stdout);
		at += size;
	}
}

void print_line(const char *fmt, ...)
{
	struct buf line = {0};
	va_list ap;

	va_start(ap, fmt);
	format(&line, fmt, ap);
	va_end(ap);
	buf_putc(&line, '\n');
	put(&line, stdout);
}

void print_prompt(const char *prompt)
{
	fputs(prompt, stdout);
	fflush(stdout);
}

void print_data(const struct buf *data)
{
	if (isatty(STDOUT_FILENO))
		print_text(data);
	else
		fwrite(buf_text(data), 1, data->size, stdout);
}
