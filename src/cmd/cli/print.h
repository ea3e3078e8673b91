/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print: the one place from which commands write to standard output and standard error.
 *
 * Names of processes, files, functions and machines come from users who may be hostile to the
 * reader of a report, so all of it goes through base/text/plain_text.h here. `script/check-layers`
 * rejects other ways to print. Output that is longer than memory goes through a spill
 * (base/file/spill.h), which applies the same rules where it writes to a terminal.
 *
 * Nothing fails: command_end() reports output that could not be written. One thread. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_PRINT_H
#define ASSAY_CMD_CLI_PRINT_H

#include "base/memory/buf.h"

#include <stdarg.h>

/* "assay: " and one line to standard error, behind what standard output has so far. */
void print_message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void print_message_va(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* A line on standard error that the next one replaces, and its removal; for terminals. */
void print_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void print_progress_end(void);

/* Asks for input on the same line; standard output so far comes before it. */
void print_prompt(const char *prompt);

/* Text for readers, to standard output: whole lines, fields in them already plain. */
void print_text(const struct buf *text);
/* One line of it, which is a single field. */
void print_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What programs read, byte by byte; as print_text() where standard output is a terminal. */
void print_data(const struct buf *data);

#endif
