/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/medium.h"

#include "base/memory/xalloc.h"
#include "cmd/cli/option.h"
#include "cmd/cli/output_file.h"
#include "cmd/cli/pager.h"
#include "cmd/cli/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Intervals and bars together leave no room for names on narrower terminals. */
#define ROOMY 120

const struct option medium_option_table[] = {
        {OPTION_FLAG, 0, "markdown", NULL, "as Markdown, for issue trackers",
         .offset = offsetof(struct style_options, media.markdown)},
        {OPTION_STRING, 0, "html", "FILE", "as one HTML page in FILE, for a browser",
         .details = "The page needs no other file and no network. It has all columns, and of "
                    "recordings with call paths the paths and the time of each sample. '-' is "
                    "standard output. An older FILE becomes FILE.old.",
         .offset = offsetof(struct style_options, media.html)},
        {OPTION_FLAG, 0, "bars", NULL, "a bar of stars for each row of each sorted table",
         .details = "On a terminal tables of shares have bars without this option. Other tables "
                    "get bars of the column that they are sorted by: a whole bar is its sum or, "
                    "of a column without a sum, its largest value. Bars get shorter on a narrow "
                    "terminal.",
         .offset = offsetof(struct style_options, bars)},
        {.kind = OPTION_INCLUDE, .include = style_option_table},
        {.kind = OPTION_END},
};

static void write_text(void *ctx, const struct buf *out)
{
	print_text(out);
}

void medium_text(const struct document *d, const struct document_reader *reader,
                 const struct style_options *style, struct buf *out)
{
	struct document_text_options to = {.wide = true};

	if (reader->program) {
		document_json_print(d, reader->nested, NULL, out);
	} else if (style->media.markdown) {
		document_markdown_print(d, NULL, out);
	} else {
		style_choose(style, &to.style);
		to.style.width = 0;
		document_text_print(d, &to, NULL, out);
	}
}

void medium_print(const struct document *d, const struct document_reader *reader,
                  const struct style_options *style)
{
	const struct output_stream stream = {.write = write_text};
	struct document_text_options to = {.wide = reader->wide};
	struct buf out = {0};

	if (reader->program) {
		document_json_print(d, reader->nested, &stream, &out);
	} else if (style->media.markdown) {
		document_markdown_print(d, &stream, &out);
	} else {
		style_choose(style, &to.style);
		if (to.wide && to.style.width && to.style.width < ROOMY)
			to.style.bars = false;
		to.style.bars |= style->bars;
		to.style.chart = style->bars;
		if (style->pager)
			pager_begin();
		document_text_print(d, &to, &stream, &out);
	}
	print_text(&out);
	buf_done(&out);
	pager_end();
}

bool medium_is_page(const struct style_options *style)
{
	return style->media.html || style->page_data;
}

int medium_check(const struct style_options *style, bool json, struct error *err)
{
	const char *file = style->media.html;

	if (!file)
		return 0;
	if (json || style->media.markdown)
		return error_set(err, EINVAL,
		                 "--html writes a page, and %s prints another form: "
		                 "give one of them",
		                 json ? "--json" : "--markdown");
	if (strcmp(file, "-") != 0)
		return output_file_check(file, FILE_UNKNOWN, err);
	return isatty(STDOUT_FILENO) ? error_set(err, EINVAL,
	                                         "--html -: standard output is a terminal: name a "
	                                         "file")
	                             : 0;
}

struct document_reader medium_reader(const struct style_options *style, bool json, bool wide)
{
	bool page = medium_is_page(style);

	return (struct document_reader){.program = json, .wide = wide || page, .summary = page};
}

static int write_page(const struct page *page, const char *file, struct error *err)
{
	struct spill out;
	int ret = 0, end;

	if (strcmp(file, "-") != 0)
		ret = spill_open(&out, file, err);
	else
		spill_to(&out, STDOUT_FILENO, "standard output");
	if (ret)
		return ret;
	ret = page_write(page, &out, err);
	end = spill_close(&out, !ret, ret ? NULL : err);
	return ret ? ret : end;
}

int medium_show(const struct page *page, const struct document_reader *reader,
                const struct style_options *style, const char *command)
{
	struct error err = {0};
	int ret = medium_check(style, reader->program, &err);

	if (ret)
		return command_fail(ret == -EINVAL ? 2 : 1, "%s: %s", command, err.text);
	if (!medium_is_page(style)) {
		medium_print(page->document, reader, style);
		return 0;
	}
	ret = style->page_data ? page_data(page, style->page_data, &err)
	                       : write_page(page, style->media.html, &err);
	return ret ? command_fail(1, "%s: %s", command, err.text) : 0;
}

/* The struct style_options in the options of a command; NULL: it prints no documents. */
static struct style_options *style_of(const struct command *c, void *options)
{
	const struct option *o = c->options;

	while (o->kind != OPTION_END &&
	       (o->kind != OPTION_INCLUDE || o->include != medium_option_table))
		o++;
	return o->kind == OPTION_END ? NULL : (struct style_options *)((char *)options + o->offset);
}

int medium_page_of(const struct command *command, int argc, char **argv, struct buf *data)
{
	void *options = xcalloc(1, command->options_size);
	struct style_options *style = style_of(command, options);
	struct option_result words = {0};
	struct error err = {0};
	int status;

	if (command->defaults)
		command->defaults(options);
	if (!style || option_parse(command, options, argc, argv, &words, &err)) {
		status = command_fail(2, "%s: %s", command->name, style ? err.text : "no page");
	} else {
		style->page_data = data;
		status = command->run(options, words.argc, words.argv);
	}
	option_result_done(&words);
	free(options);
	return status;
}
