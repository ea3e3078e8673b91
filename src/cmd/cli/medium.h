/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * medium: prints a document to standard output, as the options of a command say: text, JSON, or
 * another medium; or writes it as a page to a file (--html). A new medium needs its option and its
 * lines in medium.c; report.c (--tui) and top.c refuse it for a screen. Uses: cmd/cli, output,
 * view.
 *
 * A command makes the document for medium_reader(), and calls medium_show(). A command that works
 * long calls medium_check() before, since medium_show() would report the error after the work.
 */
#ifndef ASSAY_CMD_CLI_MEDIUM_H
#define ASSAY_CMD_CLI_MEDIUM_H

#include "base/error.h"
#include "cmd/cli/style.h"
#include "output/html/page.h"
#include "view/document/document.h"

/* For a struct style_options: --markdown, --html, --color. Each command has its own --json, since
 * the help describes the keys. */
extern const struct option medium_option_table[];

/* Whether a page is written, or its data. */
bool medium_is_page(const struct style_options *style);
/* -EINVAL: the options exclude each other; else the page cannot be written to its file. `json`: the
 * command's option. */
int medium_check(const struct style_options *style, bool json, struct error *err);
/* A page has all columns and the summary. */
struct document_reader medium_reader(const struct style_options *style, bool json, bool wide);
/* Prints the document of the page, or writes the page. The exit status; errors are printed in the
 * name of `command`. */
int medium_show(const struct page *page, const struct document_reader *reader,
                const struct style_options *style, const char *command);

/*
 * Runs a command with these words, argv[0] is its name, and appends the data of its page to `data`
 * instead of printing it. The command has medium_option_table. Its exit status; errors are printed.
 */
int medium_page_of(const struct command *command, int argc, char **argv, struct buf *data);

/* Prints the document only. */
void medium_print(const struct document *d, const struct document_reader *reader,
                  const struct style_options *style);

/* Appends the same to `out`, with lines of any length, and prints nothing. */
void medium_text(const struct document *d, const struct document_reader *reader,
                 const struct style_options *style, struct buf *out);

#endif
