/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print: the one place from which commands write to standard output and standard error.
 *
 * Names of processes, files, functions and machines come from users who may be hostile to the
 * reader of a report, so all of it goes through base/text/plain_text.h here. `script/check-layers`
 * rejects other ways to print. Output that is longer than memory goes through a spill
 * (base/file/spill.h), which applies the same rules where it writes to a terminal.
 *
 * No function fails: command_end() reports output that could not be written. One thread. Uses:
 * base.
 */
#ifndef ASSAY_CMD_CLI_PRINT_H
#define ASSAY_CMD_CLI_PRINT_H

#include "base/memory/buf.h"

#include <stdarg.h>

/* Prints "assay: " and one line to standard error, after the output so far. */
void print_message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void print_message_va(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Messages are appended to `to` as lines, without "assay: ", until the call with NULL. */
void print_collect(struct buf *to);

/* Prints a line on standard error that the next one replaces, and removes it; for terminals. */
void print_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void print_progress_end(void);

/* Prints a prompt for input on the same line, after the output so far. */
void print_prompt(const char *prompt);

/* Prints text to standard output: complete lines whose fields are already plain. */
void print_text(const struct buf *text);
/* Prints one line that is a single field. */
void print_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints data for programs unchanged, or like print_text() if standard output is a terminal. */
void print_data(const struct buf *data);

#endif
